"""A training script with the names that scripts for MNIST use, on pictures that are made up."""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.optim.lr_scheduler import StepLR
from torchvision import datasets, transforms


class Digits(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, width, 3), nn.ReLU(), nn.Conv2d(width, width, 3), nn.ReLU()
        )
        self.drop = nn.Dropout(0.25)
        self.head = nn.Linear(width * 12 * 12, 10)

    def forward(self, x):
        x = F.max_pool2d(self.features(x), 2)
        return F.log_softmax(self.head(torch.flatten(self.drop(x), 1)), dim=1)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--batch-size", type=int, default=50)
    options.add_argument("--epochs", type=int, default=2)
    args = options.parse_args()

    torch.manual_seed(3)
    found = torch.accelerator.is_available()
    device = torch.accelerator.current_accelerator() if found else torch.device("cpu")
    steps = [
        transforms.Grayscale(), transforms.ToTensor(), transforms.Normalize((0.13,), (0.31,)),
    ]  # fmt: skip
    pictures = datasets.FakeData(150, (1, 28, 28), 10, transform=transforms.Compose(steps))
    loader = torch.utils.data.DataLoader(pictures, batch_size=args.batch_size, shuffle=True)

    model = Digits(6).to(device)
    optimizer = optim.Adadelta(model.parameters(), lr=1.0)
    schedule = StepLR(optimizer, step_size=1, gamma=0.7)
    for epoch in range(args.epochs):
        model.train()
        for k, (data, target) in enumerate(loader):
            data, target = data.to(device), target.to(device)
            optimizer.zero_grad()
            loss = F.nll_loss(model(data), target)
            loss.backward()
            optimizer.step()
            print(f"epoch {epoch}, {k + 1} of {len(loader)}: {loss.item():.4f}")
        schedule.step()
        model.eval()
        total = right = 0
        with torch.no_grad():
            for data, target in loader:
                guess = model(data.to(device)).argmax(dim=1, keepdim=True).cpu()
                right += guess.eq(target.view_as(guess)).sum().item()
                total += F.nll_loss(model(data.to(device)).cpu(), target, reduction="sum").item()
        print(f"loss {total / len(loader.dataset):.4f}, {right} of {len(loader.dataset)}")
    torch.save(model.state_dict(), "digits.pt")
    model.load_state_dict(torch.load("digits.pt"))
    print("saved")


if __name__ == "__main__":
    main()
