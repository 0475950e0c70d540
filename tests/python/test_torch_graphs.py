"""What PyTorch's programs see of graphs (`grad_fn`), of diagonals, and of a GPU's memory.

The expected values are those of PyTorch 2.15.
"""

import math

import numbus as nb
import numbus.compat.torch as torch
import numpy
import pytest

pytestmark = [pytest.mark.numbus]


def names(node, depth=0):
    if node is None:
        return [(depth, None)]
    found = [(depth, node.name())]
    for other, number in node.next_functions:
        assert number == 0
        found += names(other, depth + 1)
    return found


def test_nodes_lead_to_the_leaves():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.ones(2, requires_grad=True)
    z = (x * w + 1).sum()
    assert z.grad_fn is z.grad_fn and x.grad_fn is None
    assert repr(z.grad_fn).startswith("<SumBackward0 object at 0x")
    assert "grad_fn=<SumBackward0>)" in repr(z)
    assert names(z.grad_fn) == [
        (0, "SumBackward0"), (1, "AddBackward0"), (2, "MulBackward0"), (3, "AccumulateGrad"),
        (3, "AccumulateGrad"), (2, None),
    ]  # fmt: skip
    product = z.grad_fn.next_functions[0][0].next_functions[0][0]
    leaves = [node for node, _ in product.next_functions]
    assert leaves[0].variable is x and leaves[1].variable is w
    assert x.expand_as(x).grad_fn.next_functions[0][0] is leaves[0]
    assert names((x * 2).view(2, 1).grad_fn)[:2] == [(0, "ViewBackward0"), (1, "MulBackward0")]


def test_nodes_of_what_was_written_in_place():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    before = y.grad_fn
    y[0] = x[1]
    assert y.grad_fn is not before
    kinds = [name for _, name in names((y + 0).grad_fn)]
    assert kinds[:2] == ["AddBackward0", "CopySlices"] and kinds.count("AccumulateGrad") == 2


def test_nodes_after_backward():
    x = torch.ones(2, requires_grad=True)
    node = (z := x.exp().sum()).grad_fn
    z.backward()
    with pytest.raises(RuntimeError, match="next_functions"):
        node.next_functions  # noqa: B018


@pytest.mark.parametrize("device", ["cpu", "fenced"])
def test_diagonals_are_written_to(device):
    p = torch.zeros(3, 4, device=device)
    p.diagonal().fill_(2)
    d = torch.diagonal(p, 1)
    d += 1
    d[0] = 5
    torch.linalg.diagonal(p.T, offset=-2).copy_(torch.tensor([7.0, 8.0]))
    assert p.tolist() == [[2, 5, 7, 0], [0, 2, 1, 8], [0, 0, 2, 1]]
    q = torch.ones(2, 3, 3, device=device, requires_grad=True)
    r = q * 2
    r.diagonal(0, 1, 2).mul_(torch.tensor([1.0, 2.0, 3.0], device=device))
    (r * r).sum().backward()
    own = [[8, 8, 8], [8, 32, 8], [8, 8, 72]]
    assert q.grad.tolist() == [own, own]
    with pytest.raises(ValueError, match="read-only"):
        nb.zeros((3, 3)).diagonal()[0] = 1


def test_a_value_that_is_read_in_vmap():
    with pytest.raises(ValueError, match=r"got float; expected tensors.*item\(\)"):
        torch.vmap(lambda x: x.item() * 2)(torch.ones(3))
    assert torch.vmap(lambda x: x if x > 0 else -x)(torch.tensor([1.0, -2.0])).tolist() == [1, 2]


def test_the_state_of_plateaus():
    make = torch.optim.lr_scheduler.ReduceLROnPlateau
    o = torch.optim.SGD([torch.zeros(2, requires_grad=True)], lr=0.1)
    s = make(o, mode="max", patience=1, factor=0.5, cooldown=2, min_lr=0.02)
    rates = []
    for metric in [1.0, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 2.0, 1, 1, 1, 1, 1, 1]:
        s.step(metric)
        rates += s.get_last_lr()
    expected = [0.1] * 2 + [0.05] * 4 + [0.025] * 4 + [0.02] * 4
    assert rates == pytest.approx(expected)
    other = make(torch.optim.SGD([torch.zeros(2, requires_grad=True)], lr=0.1))
    other.load_state_dict(s.state_dict())
    assert other.mode_worse == -math.inf and other.best == 2.0
    assert other.state_dict() == s.state_dict()


def test_memory_without_a_gpu_and_names_that_are_not_there():
    if not torch.cuda.is_available():
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        assert torch.cuda.memory_allocated() == torch.cuda.max_memory_allocated() == 0
    with pytest.raises(AttributeError, match="cProfile"):
        torch.profiler.profile  # noqa: B018
    with pytest.raises(ImportError, match="cProfile"):
        from numbus.compat.torch.profiler import profile  # noqa: F401
    with pytest.raises(AttributeError, match=r"torch\.compile"):
        torch.cuda.CUDAGraph()


def test_a_peak_begins_anew():
    numpy.asarray(nb.ones(1 << 20, device="cpu") + 1)
    known = nb.cuda.memory_stats("cpu")
    assert known["peak_bytes"] >= 8 << 20
    nb.cuda.reset_peak("cpu")
    known = nb.cuda.memory_stats("cpu")
    assert known["peak_bytes"] - known["used_bytes"] < 4 << 20


def test_how_results_and_parameters_print():
    a = torch.tensor([[3.0, 1.0], [1.0, 2.0]], device="cpu")
    home = torch.Size([]).__repr__().split(".Size")[0]
    lines = ["values=tensor([3., 2.]),", "indices=tensor([0, 1]))"]
    assert repr(a.max(0)).split("\n") == [f"{home}.return_types.max(", *lines]
    assert str(torch.linalg.eigh(a)).startswith(f"{home}.return_types.linalg_eigh(\neigenvalues=")
    values, indices = a.sort()
    assert values.tolist() == [[1, 3], [1, 2]] and indices.tolist() == [[1, 0], [0, 1]]
    w = torch.nn.Parameter(torch.ones(2, device="cpu"))
    for text in (str(w), repr(w), f"{w}"):
        assert text == "Parameter containing:\ntensor([1., 1.], requires_grad=True)"
    one = f"Parameter containing: [{home}.float32 of size 2]"
    assert repr(torch.nn.ParameterList([w])) == f"ParameterList(  (0): {one})"
    both = repr(torch.nn.ParameterList([w, w])).split("\n")
    assert both == ["ParameterList(", f"    (0): {one}", f"    (1): {one}", ")"]
