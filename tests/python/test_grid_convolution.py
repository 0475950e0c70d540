"""Convolutions by the kernels of our own, which run as grids on a device of the host, too."""

import numbus as nb
import numpy as np
import pytest
from numbus import _core
from numbus.core.libraries import offer

HERE = "cuda" if nb.cuda.is_available() else "fenced"
FORWARD, INPUT, WEIGHT = 0, 1, 2


@pytest.fixture(autouse=True)
def always():
    offer("blas")
    offer("cudnn")
    _core.set_grid_convolutions(True)
    yield
    _core.set_grid_convolutions(False)
    nb.set_float32_matmul_precision("highest")


def windows(x, shape, stride, dilation):
    """x as (batch, channels, taps, taps, height, width) of what each tap meets; a view."""
    n, c, sy, sx = x.strides
    extents = (*x.shape[:2], *shape[0], *shape[1])
    steps = (n, c, sy * dilation[0], sx * dilation[1], sy * stride[0], sx * stride[1])
    return np.lib.stride_tricks.as_strided(x, extents, steps)


def expected(kind, a, b, shape, stride, padding, dilation):
    a, b = a.astype("f8"), b.astype("f8")
    image = shape if kind == INPUT else a.shape
    taps = shape[2:] if kind == WEIGHT else b.shape[2:]
    space = {FORWARD: shape, INPUT: a.shape, WEIGHT: b.shape}[kind][2:]
    (h, w), (p, q) = image[2:], padding
    wide = np.zeros((*image[:2], h + 2 * p, w + 2 * q))
    if kind != INPUT:
        wide[:, :, p : p + h, q : q + w] = a
    seen = windows(wide, (taps, space), stride, dilation)
    if kind == FORWARD:
        return np.einsum("ncrsyx,ocrs->noyx", seen, b)
    if kind == WEIGHT:
        return np.einsum("ncrsyx,noyx->ocrs", seen, b)
    for r in range(taps[0]):
        for s in range(taps[1]):
            seen[:, :, r, s] += np.einsum("noyx,oc->ncyx", a, b[:, :, r, s])
    return wide[:, :, p : p + h, q : q + w]


def drawn(seed, few=False):
    """Operands and attributes of a random convolution; its three kinds."""
    rng = np.random.default_rng(seed)
    n, c, o = int(rng.integers(1, 4)), int(rng.choice([1, 3, 5, 8, 16, 24, 32, 48])), 0
    o = int(rng.choice([2, 8, 16, 32, 64, 72, 80, 96]))
    if few:  # products of a result
        n, c = 7, int(rng.choice([1, 1, 2, 3]))
    taps, dilation = (tuple(int(v) for v in rng.integers(1, 1 + m, 2)) for m in (4, 2))
    stride = tuple(int(v) for v in rng.choice([1, 1, 1, 2], 2))
    padding = tuple(int(v) for v in rng.integers(0, 3, 2))
    h, w = (int(v) for v in rng.integers(8, 15, 2))
    if few:
        o, taps = int(rng.choice([2, 5, 16, 37])), tuple(min(t, 3) for t in taps)
    space = tuple(
        (e + 2 * p - d * (k - 1) - 1) // s + 1
        for e, p, d, k, s in zip((h, w), padding, dilation, taps, stride, strict=True)
    )
    x = rng.standard_normal((n, c, h, w)).astype("f4")
    weights = rng.standard_normal((o, c, *taps)).astype("f4")
    g = rng.standard_normal((n, o, *space)).astype("f4")
    form = stride, padding, dilation
    return {
        FORWARD: (x, weights, g.shape, *form),
        INPUT: (g, weights, x.shape, *form),
        WEIGHT: (x, g, weights.shape, *form),
    }


def run(kind, a, b, shape, stride, padding, dilation):
    a, b = (nb.asarray(v).to_device(HERE) if type(v) is np.ndarray else v for v in (a, b))
    made = _core.convolve(kind, a, b, list(shape), stride, padding, dilation, 1)
    return np.asarray(nb.asarray(made).to_device("cpu"))


# Each seed compiles kernels of its own, which takes a CPU some 30 s.
@pytest.mark.parametrize("kind", [FORWARD, INPUT, WEIGHT])
@pytest.mark.parametrize("seed", range(16 if HERE == "cuda" else 5))
def test_float32_is_float32(seed, kind):
    given = drawn(seed)[kind]
    want = expected(kind, *given)
    before = _core.stats()["user_launches"]
    got = run(kind, *given)
    used = _core.stats()["user_launches"] - before
    # Strides of derivatives by the input are left to libraries, and so are channels in no multiple
    # of 16 where what all taps meet is too much for a stage.
    results, strided = given[1].shape[0], given[3] != (1, 1)
    if kind == INPUT and (strided or results % 8):
        assert used == 0
    elif kind != INPUT or results % 16 == 0:
        assert used > 0
    assert np.abs(got - want).max() < 1e-6 * np.abs(want).max()


@pytest.mark.parametrize("kind", [FORWARD, WEIGHT])
@pytest.mark.parametrize("seed", range(16 if HERE == "cuda" else 6))
def test_sums_of_few_products(seed, kind):
    given = drawn(seed, few=True)[kind]
    want = expected(kind, *given)
    before = _core.stats()["user_launches"]
    got = run(kind, *given)
    assert _core.stats()["user_launches"] - before == (1 if kind == FORWARD else 2)
    assert np.abs(got - want).max() < 1e-6 * np.abs(want).max()
    assert np.array_equal(run(kind, *given), got)


@pytest.mark.skipif(HERE != "cuda", reason="a CPU does not round to TF32")
@pytest.mark.parametrize("kind", [FORWARD, INPUT, WEIGHT])
def test_tf32_where_it_is_allowed(kind):
    given = drawn(7)[kind]
    want = expected(kind, *given)
    nb.set_float32_matmul_precision("high")
    error = np.abs(run(kind, *given) - want).max() / np.abs(want).max()
    assert 1e-5 < error < 2e-3


def test_same_bits_each_time():
    given = drawn(5)[WEIGHT]
    first = run(WEIGHT, *given)
    for _ in range(3):
        assert np.array_equal(run(WEIGHT, *given), first)


@pytest.mark.parametrize("kind", [FORWARD, INPUT, WEIGHT])
@pytest.mark.parametrize("precision", ["highest", "high"])
@pytest.mark.parametrize("seed", [5, 9])
def test_nans_of_the_device(seed, precision, kind):
    """A GPU's NaNs have all bits set, which rounding to TF32 would carry into the sign."""
    a, b, *rest = drawn(seed)[kind]
    rng = np.random.default_rng(seed)
    bad = rng.random(a.shape) < 2 / a.size
    bad.flat[rng.integers(a.size)] = True
    with np.errstate(invalid="ignore"):
        want = np.isnan(expected(kind, np.where(bad, np.nan, a).astype("f4"), b, *rest))
    nb.set_float32_matmul_precision(precision)
    on = nb.asarray(bad.astype("f4")).to_device(HERE)
    with np.errstate(invalid="ignore"):
        made = nb.asarray(a).to_device(HERE) + (on - on) / (1 - on)
        nb.synchronize()
    got = run(kind, made, b, *rest)
    assert want.any() and np.array_equal(np.isnan(got), want)
