"""A Dataset of PNG files, worker processes and pinned memory. Written as such programs are."""

import os

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms


class Pictures(Dataset):
    def __init__(self, folder, transform=None):
        self.folder = folder
        self.files = sorted(f for f in os.listdir(folder) if f.endswith(".png"))
        self.transform = transform

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        picture = Image.open(os.path.join(self.folder, self.files[i])).convert("RGB")
        label = int(self.files[i].split("_")[1][0])
        if self.transform:
            picture = self.transform(picture)
        return picture, label


if __name__ == "__main__":
    os.makedirs("pics", exist_ok=True)
    rng = np.random.default_rng(0)
    for k in range(40):
        a = (rng.random((24, 24, 3)) * 80 + (k % 2) * 150).astype("uint8")
        Image.fromarray(a).save(f"pics/{k:03d}_{k % 2}.png")
    t = transforms.Compose(
        [
            transforms.Resize(20),
            transforms.CenterCrop(16),
            transforms.ToTensor(),
            transforms.Normalize((0.5,) * 3, (0.5,) * 3),
        ]
    )
    loader = DataLoader(
        Pictures("pics", t),
        batch_size=8,
        shuffle=True,
        num_workers=2,
        pin_memory=True,
        drop_last=True,
    )
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3),
        torch.nn.ReLU(),
        torch.nn.AdaptiveAvgPool2d(1),
        torch.nn.Flatten(),
        torch.nn.Linear(4, 2),
    ).to(device)
    opt = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
    for epoch in range(4):
        right = total = 0
        for x, y in loader:
            x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
            opt.zero_grad()
            out = model(x)
            loss = torch.nn.functional.cross_entropy(out, y)
            loss.backward()
            opt.step()
            right += (out.argmax(1) == y).sum().item()
            total += len(y)
        print(epoch, right / total)
    print("learnt" if right / total > 0.9 else "not learnt")
