"""Tensors against results that PyTorch gave (tests/pytorch/tensor_calls.py)."""

import gzip
import json
import pathlib
import sys

import numbus.tensors as torch
import numpy
import pytest

FOLDER = pathlib.Path(__file__).parents[1] / "pytorch"
sys.path.insert(0, str(FOLDER))
import tensor_calls  # noqa: E402

CALLS = json.loads(gzip.decompress((FOLDER / "tensor_calls.json.gz").read_bytes()))["calls"]
BOUNDS = {"float16": 4e-3, "float32": 1e-5, "float64": 1e-11}


def _numbers(values):
    return numpy.array([float(v) for v in values])


def _same(got, wanted, bound, what):
    if isinstance(wanted, dict) and "numbers" in wanted:
        assert isinstance(got, dict), f"{what}: {got} for {wanted}"
        for key in ("dtype", "shape", "grad"):
            assert got[key] == wanted[key], f"{what}: {key} {got[key]}, PyTorch {wanted[key]}"
        bound = BOUNDS.get(wanted["dtype"], bound)
        numpy.testing.assert_allclose(
            _numbers(got["numbers"]), _numbers(wanted["numbers"]), rtol=bound, atol=bound,
            err_msg=what,
        )  # fmt: skip
    elif isinstance(wanted, list):
        assert isinstance(got, (list, tuple)) and len(got) == len(wanted), (
            f"{what}: {got}, {wanted}"
        )
        for k, (x, y) in enumerate(zip(got, wanted, strict=True)):
            _same(x, y, bound, f"{what}[{k}]")
    elif isinstance(wanted, float):
        assert got == pytest.approx(wanted, rel=bound, abs=bound), what
    else:
        assert got == wanted, f"{what}: {got}, PyTorch {wanted}"


def compare(expression, dtype, layout, wanted):
    """Raises AssertionError where our call gives something else than PyTorch's."""
    got = tensor_calls.run(torch, expression, dtype, layout)
    if wanted.get("error") == "NotImplementedError" or ("error" in wanted and dtype == "bool"):
        return  # what PyTorch does not offer may work
    if "error" in wanted:
        assert "error" in got, f"PyTorch raises {wanted['error']}, ours gives {got}"
        return
    if got.get("error") == "NotImplementedError" or got.get("backward") == "NotImplementedError":
        pytest.skip("not yet")
    assert "error" not in got, f"{got}, PyTorch gives {wanted}"
    bound = BOUNDS.get(dtype, 1e-6)
    _same(json.loads(json.dumps(got["made"])), wanted["made"], bound, "result")
    assert got.get("backward") == wanted.get("backward"), f"{got}, PyTorch {wanted}"
    for name in ("leaf_a", "leaf_b", "leaf_q"):
        if name in wanted or name in got:  # None where PyTorch has zeros, or the reverse
            x, y = (_numbers(found.get(name, [0.0])) for found in (got, wanted))
            numpy.testing.assert_allclose(
                *numpy.broadcast_arrays(x, y), rtol=8 * bound, atol=8 * bound, equal_nan=True,
                err_msg="gradient of " + name,
            )  # fmt: skip


BY_EXPRESSION = {}
for _case in CALLS:
    BY_EXPRESSION.setdefault(_case[0], []).append(_case[1:])


@pytest.mark.parametrize("expression", BY_EXPRESSION)
def test_calls(expression):
    failed = []
    for dtype, layout, wanted in BY_EXPRESSION[expression]:
        try:
            compare(expression, dtype, layout, wanted)
        except AssertionError as error:
            failed.append(f"{dtype}, {layout}: {str(error)[:600]}")
        except pytest.skip.Exception:
            pass
    assert not failed, "\n".join(failed)


# A single element of a tensor, and the same element of NumPy's array as a view without axes.
ELEMENTS = {
    "of a line": lambda x: (x.reshape(-1)[5], (5,), -1),
    "from the end": lambda x: (x.reshape(-1)[-2], (-2,), -1),
    "by a tuple": lambda x: (x[1, 2], (1, 2), None),
    "by a tensor": lambda x: (x[torch.tensor(1), torch.tensor(2)], (1, 2), None),
    "of a row": lambda x: (x[1][2], (1, 2), None),
    "of a row from the end": lambda x: (x[-1][-1], (-1, -1), None),
    "of a column": lambda x: (x[:, 1][2], (2, 1), None),
    "of a slice": lambda x: (x[1:, ::2][0][1], (1, 2), None),
    "with an ellipsis": lambda x: (x[..., 1, 2], (1, 2), None),
    "by select": lambda x: (x.select(0, 1).select(0, 3), (1, 3), None),
    "by unbind": lambda x: (x[2].unbind()[1], (2, 1), None),
    "by iteration": lambda x: (list(x[0])[3], (0, 3), None),
    "of the transposed": lambda x: (x.T[3, 1], (1, 3), None),
}
CHANGES = {
    "add_": lambda e: e.add_(2),
    "+=": lambda e: e.__iadd__(2),
    "fill_": lambda e: e.fill_(7),
    "copy_": lambda e: e.copy_(torch.tensor(9.0)),
    "[...]": lambda e: e.__setitem__(..., 4),
    "neg_": lambda e: e.neg_(),
}


@pytest.mark.parametrize("device", ["cpu", "fenced"])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("way", ELEMENTS)
def test_an_element_is_a_view(way, change, device):
    x = (torch.arange(12.0) + 1).reshape(3, 4).to(device)
    element, at, shape = ELEMENTS[way](x)
    assert element.shape == () and element.device == x.device
    wanted = numpy.arange(1.0, 13.0, dtype="f4").reshape(3, 4)
    view = wanted.reshape(shape or wanted.shape)[(*at, ...)]
    number = torch.tensor(view.item())
    CHANGES[change](number)
    CHANGES[change](element)
    view[...] = number.item()
    numpy.testing.assert_array_equal(x.cpu().numpy(), wanted)
    x.mul_(2)  # and the view follows the tensor
    assert element.item() == 2 * view.item()


def test_elements_that_change_are_differentiated():
    w = torch.arange(4.0).requires_grad_()
    x = w * 3
    x[1].mul_(w[2])
    x[3] += x[1]
    (x * x).sum().backward()
    a = numpy.arange(4.0)
    made = [3 * a[0], 3 * a[1] * a[2], 3 * a[2], 3 * a[3] + 3 * a[1] * a[2]]
    parts = [
        [3, 0, 0, 0], [0, 3 * a[2], 3 * a[1], 0], [0, 0, 3, 0], [0, 3 * a[2], 3 * a[1], 3],
    ]  # fmt: skip
    wanted = 2 * numpy.array(made) @ numpy.array(parts)
    numpy.testing.assert_allclose(w.grad.cpu().numpy(), wanted)


@pytest.mark.parametrize("view", [lambda w: w[0], lambda w: w[1:], lambda w: w.view(3, 1)])
def test_views_of_leaves_do_not_change_in_place(view):
    w = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="view of a leaf that requires a gradient"):
        view(w).add_(1)
    with torch.no_grad():
        view(w).add_(1)
    assert w.detach().cpu().numpy().max() == 2
    x = w * 2
    view(x).add_(1)
    x.sum().backward()
    assert w.grad.tolist() == [2.0, 2.0, 2.0]
    view(x).mul_(2)  # also when what made it has gone


def test_elements_that_require_gradients_are_leaves_of_their_own():
    x = torch.ones(4)
    e = x[1].requires_grad_()
    ((x * 2).sum() + e).backward()
    assert e.grad.item() == 1 and not x.requires_grad


@pytest.mark.parametrize("device", ["cpu", "fenced"])
@pytest.mark.parametrize("fill", ["uniform_", "normal_", "bernoulli_", "exponential_", "random_"])
def test_random_elements(fill, device):
    x = torch.full((4,), 7.25).to(device)
    getattr(x[1], fill)()
    assert x[1].item() != 7.25 and x[0].item() == x[2].item() == 7.25
    getattr(torch.tensor(3.0, device=device), fill)()
