"""Packed sequences, CTC, bags of rows, L-BFGS and attention, as a script that both libraries run:
FILE.npz gets the results and gradients.
"""

import sys

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import (
    pack_padded_sequence,
    pack_sequence,
    pad_packed_sequence,
    pad_sequence,
)

random = np.random.RandomState(1)
found = {}
torch.set_default_dtype(torch.float64)


def put(name, *tensors):
    for t in tensors:
        found[f"{name} {len(found)}"] = np.asarray(t.detach().numpy())


def normal(*shape):
    return torch.from_numpy(random.normal(size=shape)).requires_grad_()


def weights(module):
    with torch.no_grad():
        for p in module.parameters():
            p.copy_(torch.from_numpy(random.normal(size=tuple(p.shape)) * 0.5))
    return module


def back(name, out, *inputs):
    """Puts a result and the derivatives of its weighted sum."""
    put(name, out)
    (out * torch.from_numpy(random.normal(size=tuple(out.shape)))).sum().backward()
    put(name + " gradient", *[x.grad for x in inputs])
    for x in inputs:
        x.grad = None


for lengths, ordered in (([5, 3, 3, 1], True), ([2, 5, 1, 4], False)):
    for batch_first in (False, True):
        x = normal(4, 5, 3) if batch_first else normal(5, 4, 3)
        words = {"batch_first": batch_first, "enforce_sorted": ordered}
        packed = pack_padded_sequence(x, torch.tensor(lengths), **words)
        put("packed", packed.data, packed.batch_sizes)
        y, n = pad_packed_sequence(packed, batch_first, padding_value=-1.0, total_length=6)
        put("lengths", n)
        back("padded", y, x)
        for text in ("RNN(3, 4)", "GRU(3, 4, bidirectional=True)", "LSTM(3, 4, num_layers=2)",
                     "LSTM(3, 4, bidirectional=True, num_layers=2, proj_size=2)"):  # fmt: skip
            kind = text.partition("(")[0]
            kwargs = {"bidirectional": "bidirectional" in text, "batch_first": batch_first}
            kwargs["num_layers"] = 2 if "num_layers" in text else 1
            if "proj" in text:
                kwargs["proj_size"] = 2
            net = weights(getattr(nn, kind)(3, 4, **kwargs))
            out, state = net(pack_padded_sequence(x, lengths, **words))
            state = state if isinstance(state, tuple) else (state,)
            put(text, *state)
            y, _ = pad_packed_sequence(out, batch_first=batch_first)
            back(text, y, x, *net.parameters())
            h = torch.from_numpy(random.normal(size=tuple(state[0].shape)))
            given = (h, h.new_ones(state[1].shape)) if kind == "LSTM" else h
            out, state = net(pack_padded_sequence(x, lengths, **words), given)
            put(text, out.data, *(state if isinstance(state, tuple) else (state,)))
lines = [normal(3, 2), normal(1, 2), normal(4, 2)]
back("pad_sequence", pad_sequence(lines, padding_value=2.0), *lines)
put("pad_sequence", pad_sequence(lines, batch_first=True))
put("pack_sequence", pack_sequence(lines, enforce_sorted=False).data)

targets = torch.tensor([[1, 2, 2, 3], [3, 1, 0, 0], [2, 2, 2, 1]])
for reduction in ("none", "mean", "sum"):
    x = normal(9, 3, 4)
    out = F.ctc_loss(F.log_softmax(x, 2), targets, torch.tensor([9, 5, 8]), torch.tensor([4, 2, 3]),
                     reduction=reduction)  # fmt: skip
    back("ctc", out, x)
    lengths = torch.tensor([9, 5, 8]), torch.tensor([4, 2, 3])
    back("ctc as it is", F.ctc_loss(x, targets, *lengths, reduction=reduction), x)
flat = torch.tensor([1, 2, 2, 3, 3, 1, 2])
x = normal(9, 3, 4)
back("ctc", nn.CTCLoss()(F.log_softmax(x, 2), flat, (9, 5, 8), (4, 2, 1)), x)
x = normal(3, 2, 4)
short = (torch.tensor([[1, 1, 1], [2, 1, 2]]), torch.tensor([3, 3]), torch.tensor([3, 3]))
put("ctc", F.ctc_loss(F.log_softmax(x, 2), *short, reduction="none"))
back("ctc", F.ctc_loss(F.log_softmax(x, 2), *short, reduction="sum", zero_infinity=True), x)
x = normal(4, 2, 3)
short = torch.tensor([[0, 1], [1, 0]])
back("ctc", F.ctc_loss(F.log_softmax(x, 2), short, (4, 3), (2, 1), blank=2), x)

for mode in ("sum", "mean", "max"):
    bag = weights(nn.EmbeddingBag(7, 3, mode=mode))
    back("bag", bag(torch.tensor([[1, 2], [4, 4], [0, 6]])), bag.weight)
    numbers = torch.tensor([1, 2, 4, 5, 4, 3, 2, 6])
    back("bag", bag(numbers, torch.tensor([0, 3, 3, 7])), bag.weight)
    w = bag.weight
    out = F.embedding_bag(numbers, w, torch.tensor([0, 4, 8]), mode=mode, include_last_offset=True)
    back("bag", out, w)
    back("bag", F.embedding_bag(numbers, w, torch.tensor([0, 4]), mode=mode, padding_idx=4), w)
factors = normal(8)
w = normal(7, 3)
out = F.embedding_bag(numbers, w, torch.tensor([0, 4]), mode="sum", per_sample_weights=factors)
back("bag", out, w, factors)

matrix = torch.from_numpy(random.normal(size=(6, 6)))
matrix = matrix @ matrix.T + torch.eye(6)
aim = torch.from_numpy(random.normal(size=6))


def descend(**options):
    v = torch.zeros(6, requires_grad=True)
    optimizer = torch.optim.LBFGS([v], **options)

    def closure():
        optimizer.zero_grad()
        loss = 0.5 * (v @ matrix @ v) - aim @ v + 0.1 * (v**4).sum()
        loss.backward()
        return loss

    for _ in range(3):
        put("lbfgs", optimizer.step(closure), v)


descend(lr=0.3)
descend(lr=0.5, history_size=2, max_iter=4)
descend(max_eval=5)
descend(line_search_fn="strong_wolfe", max_iter=7)
v = torch.tensor([-1.5, 2.0], requires_grad=True)
optimizer = torch.optim.LBFGS([v], max_iter=100, line_search_fn="strong_wolfe")


def valley():
    optimizer.zero_grad()
    loss = (1 - v[0]) ** 2 + 100 * (v[1] - v[0] ** 2) ** 2
    loss.backward()
    return loss


put("valley", optimizer.step(valley), v)
assert torch.allclose(v, torch.ones(2), atol=1e-4), v
np.savez(sys.argv[1], **found)
