"""Indices of tensors: what PyTorch 2.15 reads and writes (tests/fuzz/regressions)."""

import ast
from pathlib import Path

import numbus.tensors as torch
import pytest

pytestmark = pytest.mark.numbus
CASES = Path(__file__).parents[1] / "fuzz" / "regressions" / "tensor_indices.list"
ITEMS = {
    "s": slice(None), "N": None, "0": 0, "1": 1, "-1": -1, "E": ..., "S": slice(0, 2),
    "T": [0, 1, 1], "T2": [[1], [0]], "B2": [True, False], "B3": [True, False, True],
    "B23": [[True, False, True], [False, True, True]], "t1": 1,
}  # fmt: skip
LISTS = {"L": [0, 1], "LL": [[0, 1], [1, 0]], "tup": (1, 0)}


def item(name):
    if name in LISTS:
        return LISTS[name]
    x = ITEMS[name]
    return torch.tensor(x) if name[0] in "TBt" else x


def done(what, names):
    """The shape of what an index names and a sum that tells its elements, or those of all."""
    x = torch.arange(120).reshape(2, 3, 4, 5)
    key = tuple([item(name) for name in names])
    try:
        made = x[key]
        if what == "set":
            shape, n = tuple(made.shape), made.numel()
            repeats = any(name.startswith(("T", "B", "L", "tup")) for name in names)
            x[key] = torch.full(shape, 7) if repeats else torch.arange(n).reshape(shape) + 1000
            made = x
        flat = made.reshape(-1)
        total = int((flat * torch.arange(flat.numel())).sum())
    except Exception as error:
        return type(error).__name__
    return (shape if what == "set" else tuple(made.shape)), total


def test_reads_and_writes():
    lines = CASES.read_text("utf-8").splitlines()
    assert len(lines) == 550
    for line in lines:
        call, _, wanted = line.partition(" -> ")
        what, *names = call.split()
        found = done(what, names)
        if not wanted.endswith("Error"):
            wanted = ast.literal_eval(wanted)
        assert found == wanted, line


def test_derivatives():
    x = torch.arange(24.0).reshape(2, 3, 4).requires_grad_()
    y = x[0, :, torch.tensor([1, 3, 3])]
    assert y.shape == (3, 3)
    (y * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [[[0, 1, 0, 110]] * 3, [[0] * 4] * 3]
    z = torch.zeros(2, 3, 4)
    w = torch.ones(3, 2, requires_grad=True)
    z[1, :, torch.tensor([0, 2])] = w * 2
    z.sum().backward()
    assert w.grad.tolist() == [[2, 2]] * 3
    z = torch.zeros(2, 2)
    z[..., None] = torch.tensor([[[1.0], [2.0]], [[3.0], [4.0]]])
    assert z.tolist() == [[1, 2], [3, 4]]
