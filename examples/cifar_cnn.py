"""A convolutional net learns coloured shapes, from files in CIFAR-10's binary format.

python -m numbus examples/cifar_cnn.py                Numbus
python examples/cifar_cnn.py                          PyTorch, with the same weights and order

Without --data, the shapes are drawn by training_data.py; CIFAR-10's own pictures are taken from
FOLDER/cifar-10-batches-bin.
"""

import os
import tempfile
import time

import common
import nets
import numpy as np
import torch
import torch.nn.functional as F
import training_data
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Shapes(Dataset):
    """The pictures of some files: a byte for the class, then red, green and blue."""

    def __init__(self, folder, names):
        files = [os.path.join(folder, "cifar-10-batches-bin", name) for name in names]
        rows = np.concatenate([np.fromfile(f, np.uint8).reshape(-1, 3073) for f in files])
        self.classes = rows[:, 0].astype(np.int64)
        self.pictures = rows[:, 1:].reshape(-1, 3, 32, 32)
        self.x = torch.from_numpy((self.pictures.astype(np.float32) - 127) / 64)
        self.y = torch.from_numpy(self.classes)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, k):
        return self.x[k], self.y[k]


def net():
    return nn.Sequential(
        nn.Conv2d(3, 32, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(64, 64, 3), nn.ReLU(), nn.Flatten(),
        nn.Linear(1024, 64), nn.ReLU(), nn.Linear(64, 10),
    )  # fmt: skip


def main():
    parser = nets.options(__doc__, 1920, "pictures to learn from", 4)
    parser.add_argument("--data", metavar="FOLDER", help="where the files are, or are written to")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as own:
        folder = args.data or own
        training_data.write_shapes(folder, args.size, max(args.size // 6, 100))
        data = Shapes(folder, [f"data_batch_{k}.bin" for k in range(1, 6)])
        tests = Shapes(folder, ["test_batch.bin"])
    model = nets.start(net(), gain=2).to(args.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    losses = []
    begin = time.perf_counter()
    for epoch in range(args.epochs):
        for x, y in DataLoader(data, batch_size=64, sampler=nets.order(len(data), epoch)):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x.to(args.device)), y.to(args.device))
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch + 1}: loss of the last steps {np.mean(losses[-10:]):.4f}")
    seconds = time.perf_counter() - begin
    found = []
    with torch.no_grad():
        for x, _ in DataLoader(tests, batch_size=250):
            found += model(x.to(args.device)).argmax(1).tolist()
    right = np.array(found) == tests.classes
    print(f"{len(losses)} steps of 64 pictures: {seconds:.1f} s")
    print(f"right: {100 * right.mean():.2f} % of {len(right)} other pictures")
    common.save(args, np.array(losses))
    nets.answers(tests.pictures[:64].transpose(0, 2, 3, 1), right[:64], args.picture)


if __name__ == "__main__":
    main()
