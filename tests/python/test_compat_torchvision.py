"""torchvision's names under the runner: results against PyTorch's (tests/pytorch/record.py), and
programs as tutorials print them.
"""

import importlib.util
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from nn_check import close

pytest.importorskip("numbus")
pytest.importorskip("PIL")
from inputs import load

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.numbus]


def run(folder, text, *arguments, fails=False):
    script = Path(folder) / "script.py"
    script.write_text(textwrap.dedent(text), "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "numbus", str(script), *arguments], cwd=folder, capture_output=True,
        text=True, env=dict(os.environ, NUMBUS_DEVICE="cpu"), timeout=110,
    )  # fmt: skip
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    return done.stderr if fails else done.stdout


def test_results(tmp_path):
    text = (ROOT / "tests" / "pytorch" / "torchvision_calls.py").read_text()
    run(tmp_path, text, "found")
    found, recorded = np.load(tmp_path / "found.npz"), load("torchvision.npz")
    assert set(found.files) == set(recorded)
    for name, expected in recorded.items():
        got = found[name]
        if got.dtype == np.uint8 and name.split()[0] in ("resize", "rotate", "adjust"):
            assert got.shape == expected.shape, name  # Pillow's rounding, and PyTorch's own
            assert np.abs(got.astype(int) - expected).max() <= 1, name
        else:
            close(got, expected, 3e-6, name)


PNG_FILES = """
    import os
    import numpy as np
    import torch
    from PIL import Image
    from torch import nn
    from torch.utils.data import DataLoader, Dataset
    from torchvision import transforms
    from torchvision.io import read_image


    class Pictures(Dataset):
        def __init__(self, folder, transform=None):
            self.folder, self.names = folder, sorted(os.listdir(folder))
            self.transform = transform

        def __len__(self):
            return len(self.names)

        def __getitem__(self, k):
            image = read_image(os.path.join(self.folder, self.names[k]))
            if self.transform:
                image = self.transform(image)
            return image, int(self.names[k].split("_")[0])


    if __name__ == "__main__":
        os.makedirs("pictures", exist_ok=True)
        random = np.random.RandomState(0)
        for k in range(60):
            a = random.randint(0, 120, size=(20, 20, 3))
            a[:, :, k % 3] += 100
            Image.fromarray(a.astype(np.uint8)).save(f"pictures/{k % 3}_{k}.png")
        change = transforms.Compose([
            transforms.ConvertImageDtype(torch.float32),
            transforms.RandomHorizontalFlip(),
            transforms.RandomCrop(16),
            transforms.Resize((8, 8)),
            transforms.Normalize((0.5, 0.5, 0.5), (0.25, 0.25, 0.25)),
        ])
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        loader = DataLoader(
            Pictures("pictures", change), batch_size=12, shuffle=True, num_workers=2,
            pin_memory=torch.cuda.is_available(), drop_last=False,
        )
        model = nn.Sequential(nn.Flatten(), nn.Linear(192, 3)).to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        criterion = nn.CrossEntropyLoss()
        for epoch in range(4):
            right = total = 0
            for images, labels in loader:
                images = images.to(device, non_blocking=True)
                labels = labels.to(device, non_blocking=True)
                optimizer.zero_grad()
                outputs = model(images)
                loss = criterion(outputs, labels)
                loss.backward()
                optimizer.step()
                right += (outputs.argmax(1) == labels).sum().item()
                total += labels.size(0)
        print(total, right / total)
"""


def test_png_files_with_workers(tmp_path):
    total, right = run(tmp_path, PNG_FILES).split()
    assert total == "60" and float(right) > 0.9


MNIST = """
    import argparse
    import torch
    import torch.nn as nn
    import torch.nn.functional as F
    import torch.optim as optim
    from torchvision import datasets, transforms
    from torch.optim.lr_scheduler import StepLR


    class Net(nn.Module):
        def __init__(self):
            super(Net, self).__init__()
            self.conv1 = nn.Conv2d(1, 8, 3, 1)
            self.conv2 = nn.Conv2d(8, 16, 3, 1)
            self.dropout1 = nn.Dropout(0.25)
            self.fc1 = nn.Linear(16 * 12 * 12, 32)
            self.fc2 = nn.Linear(32, 10)

        def forward(self, x):
            x = F.relu(self.conv1(x))
            x = F.max_pool2d(F.relu(self.conv2(x)), 2)
            x = torch.flatten(self.dropout1(x), 1)
            return F.log_softmax(self.fc2(F.relu(self.fc1(x))), dim=1)


    def train(args, model, device, train_loader, optimizer, epoch):
        model.train()
        for batch_idx, (data, target) in enumerate(train_loader):
            data, target = data.to(device), target.to(device)
            optimizer.zero_grad()
            loss = F.nll_loss(model(data), target)
            loss.backward()
            optimizer.step()
            if batch_idx % args.log_interval == 0:
                print("Train Epoch: {} [{}/{} ({:.0f}%)]".format(
                    epoch, batch_idx * len(data), len(train_loader.dataset),
                    100. * batch_idx / len(train_loader)))


    def test(model, device, test_loader):
        model.eval()
        loss = correct = 0
        with torch.no_grad():
            for data, target in test_loader:
                data, target = data.to(device), target.to(device)
                output = model(data)
                loss += F.nll_loss(output, target, reduction="sum").item()
                pred = output.argmax(dim=1, keepdim=True)
                correct += pred.eq(target.view_as(pred)).sum().item()
        print("Accuracy", correct / len(test_loader.dataset), loss / len(test_loader.dataset))


    def main():
        parser = argparse.ArgumentParser()
        parser.add_argument("--epochs", type=int, default=2)
        parser.add_argument("--log-interval", type=int, default=8)
        args = parser.parse_args()
        torch.manual_seed(1)
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        transform = transforms.Compose([
            transforms.ToTensor(), transforms.Normalize((0.1307,), (0.3081,))
        ])
        dataset1 = datasets.MNIST("data", train=True, download=True, transform=transform)
        dataset2 = datasets.MNIST("data", train=False, transform=transform)
        train_loader = torch.utils.data.DataLoader(dataset1, batch_size=32, shuffle=True)
        test_loader = torch.utils.data.DataLoader(dataset2, batch_size=100)
        model = Net().to(device)
        optimizer = optim.Adadelta(model.parameters(), lr=1.0)
        scheduler = StepLR(optimizer, step_size=1, gamma=0.7)
        for epoch in range(1, args.epochs + 1):
            train(args, model, device, train_loader, optimizer, epoch)
            test(model, device, test_loader)
            scheduler.step()
        torch.save(model.state_dict(), "mnist_cnn.pt")


    if __name__ == "__main__":
        main()
"""


def test_a_training_script(tmp_path):
    where = ROOT / "examples" / "training_data.py"
    spec = importlib.util.spec_from_file_location("training_data", where)
    data = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(data)
    data.write_digits(str(tmp_path / "data"), 960, 200)
    lines = run(tmp_path, MNIST).splitlines()
    assert lines[0] == "Train Epoch: 1 [0/960 (0%)]"
    assert float(lines[-1].split()[1]) > 0.7, lines
    assert (tmp_path / "mnist_cnn.pt").exists()


REST = """
    import torch
    import torchvision
    import torchvision.transforms as T
    from torchvision import datasets

    data = datasets.FakeData(size=6, image_size=(3, 10, 12), num_classes=4, transform=T.Compose([
        T.RandomResizedCrop(8), T.ColorJitter(0.2, 0.2, 0.2), T.RandomRotation(10),
        T.RandomGrayscale(0.5), T.RandomVerticalFlip(), T.ToTensor(),
        T.RandomApply([T.RandomHorizontalFlip(1.0)], p=0.5),
    ]))
    x, y = data[2]
    assert x.shape == (3, 8, 8) and x.dtype == torch.float32 and 0 <= y < 4 and len(data) == 6
    plain = datasets.FakeData(size=6, image_size=(1, 10, 12))
    assert plain[3][0].size == (12, 10) and plain[3][0].tobytes() == plain[3][0].tobytes()
    for wrong, kind in (
        (lambda: T.RandomCrop(9)(torch.zeros(1, 8, 8)), ValueError),
        (lambda: T.Normalize((0.0,), (0.0,))(torch.zeros(1, 8, 8)), ValueError),
        (lambda: T.Normalize((0.0,), (1.0,))(plain[0][0]), TypeError),
        (lambda: T.ToTensor()("a"), TypeError),
        (lambda: T.functional.rotate(torch.zeros(1, 8, 8), 3), NotImplementedError),
        (lambda: T.Resize("a"), TypeError),
        (lambda: plain[6], IndexError),
        (lambda: T.ColorJitter(hue=0.1), NotImplementedError),
        (lambda: datasets.MNIST("nowhere", download=True), RuntimeError),
    ):
        try:
            wrong()
        except kind as error:
            assert str(error).startswith("["), error
        else:
            raise AssertionError(kind)
    pair = torch.tensor([[[0.0, 1.0]]])
    assert 60 < sum(T.RandomHorizontalFlip()(pair)[0, 0, 0].item() for _ in range(200)) < 140
    tops = {int(T.RandomCrop(2)(torch.arange(16.0).reshape(1, 4, 4))[0, 0, 0]) for _ in range(200)}
    assert tops == {0, 1, 2, 4, 5, 6, 8, 9, 10}
    print(torchvision.__version__)
    datasets.ImageNet("here")
"""


def test_the_rest_and_what_is_not_served(tmp_path):
    said = run(tmp_path, REST, fails=True)
    assert "torchvision.datasets.ImageNet" in said and "script.py:38" in said, said
