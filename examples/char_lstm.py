"""A recurrent net learns to write, letter by letter: it counts in English words.

python -m numbus examples/char_lstm.py                Numbus
python examples/char_lstm.py                          PyTorch, with the same weights and order
"""

import time

import common
import nets
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety".split()


def words(n):
    """A number below 100 in words."""
    if n < 20:
        return SMALL[n]
    return TENS[n // 10] + ("-" + SMALL[n % 10] if n % 10 else "")


TEXT = ", ".join(words(n % 30) for n in range(90)) + ", "
LETTERS = sorted(set(TEXT))
NUMBER = {letter: k for k, letter in enumerate(LETTERS)}


class Writer(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.embed = nn.Embedding(len(LETTERS), 32)
        self.lstm = nn.LSTM(32, hidden, batch_first=True)
        self.out = nn.Linear(hidden, len(LETTERS))

    def forward(self, x, state=None):
        y, state = self.lstm(self.embed(x), state)
        return self.out(y), state


def write(model, beginning, length, device):
    """What the model goes on with, always its likeliest letter, and how likely each was."""
    found, chances, state = list(beginning), [1.0] * len(beginning), None
    x = torch.tensor([[NUMBER[c] for c in beginning]], device=device)
    with torch.no_grad():
        for _ in range(length):
            scores, state = model(x, state)
            chance, best = F.softmax(scores[0, -1], dim=0).max(0)
            found.append(LETTERS[best.item()])
            chances.append(chance.item())
            x = best.reshape(1, 1)
    return "".join(found), chances


def draw(written, file):
    """The texts, each letter the redder the less likely the model found it."""
    if not file or not common.pillow():
        return
    Image, ImageDraw = common.pillow()
    image = Image.new("RGB", (480, 22 * len(written) + 12), "white")
    draw = ImageDraw.Draw(image)
    for row, (line, chances) in enumerate(written):
        for k, (letter, chance) in enumerate(zip(line, chances)):
            colour = (int(230 * (1 - chance) ** 0.5), 30, int(140 * chance))
            draw.text((12 + 8 * k, 10 + 22 * row), letter, fill=colour)
    image.save(file, optimize=True)
    print(f"wrote {file}")


def main():
    parser = nets.options(__doc__, 64, "units of the net", 150)
    args = parser.parse_args()
    learnt = np.array([NUMBER[c] for c in TEXT])
    random = np.random.RandomState(2)
    model = nets.start(Writer(args.size)).to(args.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    losses = []
    begin = time.perf_counter()
    for _ in range(args.epochs):
        at = random.randint(0, len(learnt) - 33, 32)
        some = torch.from_numpy(learnt[at[:, None] + np.arange(33)]).to(args.device)
        scores, _ = model(some[:, :-1])
        loss = F.cross_entropy(scores.reshape(-1, len(LETTERS)), some[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    seconds = time.perf_counter() - begin
    bits = np.array(losses) / np.log(2)
    print(f"{args.epochs} steps of 32 texts of 32 letters: {seconds:.1f} s")
    print(f"bits a letter: {bits[0]:.2f}, in the end {np.mean(bits[-20:]):.2f}")
    written, right = [], 0
    for n in (3, 8, 12, 18, 20, 29):
        start = f"{words(n)}, "
        line, chances = write(model, start, 40, args.device)
        line = line[: line.rfind(",")]
        found = line[len(start) :].split(", ")
        expected = [words((n + 1 + k) % 30) for k in range(len(found))]
        right += sum(a == b for a, b in zip(found, expected))
        written.append((line, chances))
        print(line)
    total = sum(line.count(",") for line, _ in written)
    print(f"right: {right} of {total} numbers")
    common.save(args, np.array(losses))
    draw(written, args.picture)


if __name__ == "__main__":
    main()
