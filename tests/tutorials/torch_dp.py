"""A module in nn.DataParallel, which has one device, or none, to share a batch out to."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, count, width):
        self.rows = torch.randn(count, width)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, k):
        return self.rows[k]


class Seen(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(5, 2)

    def forward(self, x):
        found = self.line(x)
        print("within:", x.size(), found.size())
        return found


device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
model = nn.DataParallel(Seen()).to(device)
for batch in DataLoader(Rows(70, 5), batch_size=30):
    found = model(batch.to(device))
    print("outside:", batch.size(), found.size())
assert isinstance(model.module, Seen)
