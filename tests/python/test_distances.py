"""Distances of all pairs of rows: every way of computing them beside float64, and derivatives."""

import numbus.tensors as torch
import numpy as np
import pytest

SHAPES = [
    ((3, 2), (4, 2)), ((1, 5), (1, 5)), ((30, 3), (50, 3)), ((60, 40), (900, 40)),
    ((200, 64), (200, 64)), ((2, 70, 128), (2, 120, 128)), ((130, 128), (3, 1, 90, 128)),
    ((0, 3), (4, 3)), ((3, 0), (2, 0)),
]  # fmt: skip


def _drawn(kind, rng, shape):
    a = rng.standard_normal(shape)
    if kind == "far":  # the rows differ little beside their size
        a = a + 1000
    elif kind == "clusters" and a.size:
        a = a * 1e-3 + 10 * rng.standard_normal((*shape[:-2], 1, shape[-1]))
        a[..., ::3, :] = a[..., :1, :]
    return a


def _wanted(x, y, p):
    d = np.abs(x[..., :, None, :] - y[..., None, :, :])
    if p == 0:
        return (d != 0).sum(-1).astype(float)
    if p == np.inf:
        return d.max(-1) if d.shape[-1] else d.sum(-1)
    return (d**p).sum(-1) ** (1 / p)


@pytest.mark.parametrize("kind", ["plain", "far", "clusters", "same"])
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("mode", [0, 2])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_euclidean(kind, shapes, mode, dtype):
    rng = np.random.default_rng(5)
    x = _drawn(kind, rng, shapes[0]).astype(dtype)
    y = x if kind == "same" else _drawn(kind, rng, shapes[1]).astype(dtype)
    got = torch.cdist(torch.tensor(x), torch.tensor(y), compute_mode=mode).cpu().numpy()
    wanted = _wanted(x.astype("f8"), y.astype("f8"), 2)
    assert got.dtype == x.dtype
    assert got.shape == wanted.shape
    # Rows that lie far from zero are rounded when their middle is taken off.
    size = np.abs(x).max() if x.size else 0
    rounding = {"f4": 1e-6, "f8": 1e-13}[dtype]
    limit = rounding * (20 * wanted + np.sqrt(x.shape[-1]) * size)
    assert (np.abs(got - wanted) <= limit).all()
    if kind == "same" and x.ndim == 2:
        assert (np.diag(got) == 0).all()


@pytest.mark.parametrize("p", [0, 0.5, 1, 2, 3, np.inf])
@pytest.mark.parametrize("shapes", SHAPES[:3], ids=str)
def test_orders(p, shapes):
    rng = np.random.default_rng(6)
    x, y = [rng.standard_normal(shape) for shape in shapes]
    got = torch.cdist(torch.tensor(x), torch.tensor(y), p=p).cpu().numpy()
    np.testing.assert_allclose(got, _wanted(x, y, p), rtol=1e-12)


@pytest.mark.parametrize("kind", ["plain", "clusters"])
@pytest.mark.parametrize("shapes", [*SHAPES[:5], ((2, 30, 40), (1, 500, 40))], ids=str)
@pytest.mark.parametrize("mode", [0, 2])
def test_slopes(kind, shapes, mode):
    rng = np.random.default_rng(7)
    x, y = [_drawn(kind, rng, shape) for shape in shapes]
    x.reshape(-1, x.shape[-1])[0] = y.reshape(-1, y.shape[-1])[0]  # a distance of zero
    a, b = [torch.tensor(z, requires_grad=True) for z in (x, y)]
    d = torch.cdist(a, b, compute_mode=mode)
    g = rng.standard_normal(tuple(d.shape))
    (d * torch.tensor(g)).sum().backward()
    apart = x[..., :, None, :] - y[..., None, :, :]
    size = _wanted(x, y, 2)
    share = np.where(size == 0, 0, g / np.where(size == 0, 1, size))[..., None] * apart
    for t, wanted in ((a, share.sum(-2)), (b, -share.sum(-3))):
        extra = wanted.ndim - t.ndim
        wanted = wanted.sum(tuple(range(extra)))
        kept = tuple(k for k in range(t.ndim) if t.shape[k] == 1 < wanted.shape[k])
        wanted = wanted.sum(kept, keepdims=True)
        np.testing.assert_allclose(
            t.grad.cpu().numpy(), wanted, rtol=1e-8, atol=1e-9 * np.abs(wanted).max()
        )


@pytest.mark.parametrize("rows", [5, 1100])
def test_second_slopes(rows):
    rng = np.random.default_rng(8)
    x, y = rng.standard_normal((3, 40)), rng.standard_normal((rows, 40))

    def slope(x):
        a = torch.tensor(x, requires_grad=True)
        d = torch.cdist(a, torch.tensor(y)).pow(2).sin().sum()
        return a, torch.autograd.grad(d, a, create_graph=True)[0]

    a, first = slope(x)
    v = torch.tensor(rng.standard_normal(x.shape))
    second = torch.autograd.grad((first * v).sum(), a)[0]
    step = 1e-6
    there, back = [slope(x + s * step * v.numpy())[1].detach() for s in (1, -1)]
    wanted = ((there - back) / (2 * step)).numpy()
    np.testing.assert_allclose(second.numpy(), wanted, rtol=1e-4, atol=1e-4 * abs(wanted).max())
