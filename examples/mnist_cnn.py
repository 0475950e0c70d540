"""A convolutional net learns digits: PyTorch's program, with the files that torchvision reads.

python -m numbus examples/mnist_cnn.py                Numbus
python examples/mnist_cnn.py                          PyTorch, with the same weights and order
python -m numbus examples/mnist_cnn.py --size 60000 --data FOLDER

Without --data, the digits are drawn by training_data.py; real ones lie in FOLDER/MNIST/raw.
"""

import tempfile
import time

import common
import nets
import numpy as np
import torch
import torch.nn.functional as F
import training_data
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, padding=1)
        self.conv2 = nn.Conv2d(32, 64, 3, padding=1)
        self.hidden = nn.Linear(64 * 7 * 7, 128)
        self.out = nn.Linear(128, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.out(F.relu(self.hidden(torch.flatten(x, 1))))


def train(model, data, optimizer, epoch, device):
    """One epoch; the losses of its steps."""
    model.train()
    losses = []
    for x, y in DataLoader(data, batch_size=64, sampler=nets.order(len(data), epoch)):
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def predict(model, data, device):
    """The classes that the model gives to all pictures."""
    model.eval()
    found = []
    with torch.no_grad():
        for x, _ in DataLoader(data, batch_size=250):
            found += model(x.to(device)).argmax(1).tolist()
    return np.array(found)


def main():
    parser = nets.options(__doc__, 1920, "pictures to learn from", 2)
    parser.add_argument("--data", metavar="FOLDER", help="where the files are, or are written to")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as own:
        folder = args.data or own
        training_data.write_digits(folder, args.size, max(args.size // 6, 100))
        change = transforms.Compose(
            [transforms.ToTensor(), transforms.Normalize((0.1307,), (0.3081,))]
        )
        data = datasets.MNIST(folder, train=True, transform=change)
        tests = datasets.MNIST(folder, train=False, transform=change)
        model = nets.start(Net(), gain=2).to(args.device)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        losses = []
        begin = time.perf_counter()
        for epoch in range(args.epochs):
            losses += train(model, data, optimizer, epoch, args.device)
            print(f"epoch {epoch + 1}: loss of the last steps {np.mean(losses[-10:]):.4f}")
        seconds = time.perf_counter() - begin
        found = predict(model, tests, args.device)
        classes = tests.targets.numpy()
    right = found == classes
    print(f"{len(losses)} steps of 64 pictures: {seconds:.1f} s")
    print(f"right: {100 * right.mean():.2f} % of {len(right)} other digits")
    common.save(args, np.array(losses))
    nets.answers(tests.data.numpy()[:64], right[:64], args.picture)


if __name__ == "__main__":
    main()
