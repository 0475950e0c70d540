"""topk, kthvalue and median of long lines, which are not sorted: beside sorted ones."""

import numbus.tensors as torch
import numpy as np
import pytest

SHAPES = [
    ((2048,), 0), ((70000,), 0), ((2, 66000), 1), ((5000,), 0), ((3, 4000), 1), ((2500, 2), 0),
    ((2, 2100, 3), 1),
]  # fmt: skip


def _drawn(kind, dtype, shape, rng):
    if kind == "equal":
        a = rng.integers(0, 9, shape)
    elif kind == "constant":
        a = np.ones(shape)
    else:
        a = rng.standard_normal(shape) * 100
    if dtype[0] == "u":
        a = np.abs(a)
    a = a.astype(dtype)
    if kind == "nan" and dtype[0] == "f":
        a[rng.random(shape) < 0.002] = np.nan
    elif kind == "many nan" and dtype[0] == "f":
        a[rng.random(shape) < 0.6] = np.nan
    elif kind == "infinite" and dtype[0] == "f":
        a[rng.random(shape) < 0.01] = np.inf
        a[rng.random(shape) < 0.01] = -np.inf
    return a


def _order(a, axis, descending):
    """Stable, NaN as the largest."""
    if not descending:
        return np.argsort(a, axis=axis, kind="stable")
    turned = np.flip(np.argsort(np.flip(a, axis), axis=axis, kind="stable"), axis)
    return a.shape[axis] - 1 - turned


@pytest.mark.parametrize("kind", ["plain", "equal", "constant", "nan", "many nan", "infinite"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8", "u1"])
@pytest.mark.parametrize("shape, axis", SHAPES, ids=str)
def test_beside_sorted(kind, dtype, shape, axis):
    rng = np.random.default_rng(3)
    a = _drawn(kind, dtype, shape, rng)
    t = torch.tensor(a)
    for k in (1, 7, 200, shape[axis]):
        for largest in (True, False):
            got = t.topk(k, axis, largest)
            wanted = np.take(_order(a, axis, largest), range(k), axis)
            assert np.array_equal(got.indices.cpu().numpy(), wanted)
            values = np.take_along_axis(a, wanted, axis)
            np.testing.assert_array_equal(got.values.cpu().numpy(), values)
        got = t.kthvalue(k, axis, keepdim=True)
        wanted = np.take(_order(a, axis, False), [k - 1], axis)
        assert np.array_equal(got.indices.cpu().numpy(), wanted)
        assert t.kthvalue(k, axis).values.shape == got.values.squeeze(axis).shape
    middle = t.median(axis)
    if not (dtype[0] == "f" and np.isnan(a).any()):
        wanted = np.take(_order(a, axis, False), (shape[axis] - 1) // 2, axis)
        assert np.array_equal(middle.indices.cpu().numpy(), wanted)
    elif np.isnan(a).any(axis).all():
        assert torch.isnan(middle.values).all()


def test_slopes():
    x = torch.rand(3000, requires_grad=True)
    (x.topk(5).values * torch.arange(5.0)).sum().backward()
    wanted = torch.zeros(3000)
    wanted[x.detach().topk(5).indices] = torch.arange(5.0)
    assert torch.equal(x.grad, wanted)
