"""A small transformer learns to sort digits; the picture shows what its heads look at.

python -m numbus examples/transformer.py              Numbus
python examples/transformer.py                        PyTorch, with the same weights and order
"""

import time

import common
import nets
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

LENGTH = 10


class Block(nn.Module):
    """Attention and a net for each position, both added to what they get."""

    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attend = nn.MultiheadAttention(width, heads, batch_first=True)
        self.more = nn.Sequential(
            nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width)
        )

    def forward(self, x):
        y = self.norm1(x)
        y, looked = self.attend(y, y, y, average_attn_weights=False)
        x = x + y
        return x + self.more(self.norm2(x)), looked


class Sorter(nn.Module):
    def __init__(self, width, heads=4, layers=2):
        super().__init__()
        self.digit = nn.Embedding(10, width)
        self.position = nn.Parameter(torch.zeros(LENGTH, width))
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, 10)

    def forward(self, x):
        x = self.digit(x) + self.position
        looked = None
        for block in self.blocks:
            x, looked = block(x)
        return self.out(self.norm(x)), looked


def drawn(random, count):
    """(rows of digits, the same rows in order)."""
    rows = random.randint(0, 10, (count, LENGTH))
    return torch.from_numpy(rows), torch.from_numpy(np.sort(rows, axis=1))


def main():
    parser = nets.options(__doc__, 64, "numbers that stand for a digit within", 200)
    args = parser.parse_args()
    model = nets.start(Sorter(args.size)).to(args.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs)
    random = np.random.RandomState(3)
    losses = []
    begin = time.perf_counter()
    for _ in range(args.epochs):
        x, y = drawn(random, 64)
        scores, _ = model(x.to(args.device))
        loss = F.cross_entropy(scores.reshape(-1, 10), y.to(args.device).reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    seconds = time.perf_counter() - begin
    model.eval()
    x, y = drawn(np.random.RandomState(4), 500)
    with torch.no_grad():
        scores, looked = model(x.to(args.device))
    found = scores.argmax(2).cpu()
    digits = (found == y).float().mean().item()
    rows = (found == y).all(dim=1).float().mean().item()
    print(f"{args.epochs} steps of 64 rows: {seconds:.1f} s")
    print(f"loss {losses[0]:.3f}, in the end {np.mean(losses[-20:]):.4f}")
    print(f"right: {100 * digits:.2f} % of the digits, {100 * rows:.1f} % of 500 rows wholly")
    print(f"{x[0].tolist()} becomes {found[0].tolist()}")
    common.save(args, np.array(losses))
    heads = looked[0].cpu().numpy()
    shown = [np.pad(np.kron(h, np.ones((12, 12))), 4, constant_values=1.0) for h in heads]
    common.colour_map(np.hstack(shown), args.picture)


if __name__ == "__main__":
    main()
