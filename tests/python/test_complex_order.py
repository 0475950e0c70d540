"""The order of complex numbers, NaN in either part: comparisons, extremes, sorts, in every mode."""

import itertools

import numpy as np
import pytest
from helpers import assert_same, outcome

PARTS = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -2.5]
NUMBERS = [complex(re, im) for re, im in itertools.product(PARTS, PARTS)]
PAIRS = list(itertools.product(NUMBERS, NUMBERS))
COMPARISONS = ["less", "less_equal", "equal", "not_equal", "greater", "greater_equal"]
EXTREMES = ["maximum", "minimum", "fmax", "fmin"]
DTYPES = ["complex64", "complex128"]
MODES = ["eager", "interp", "compiled", "auto"]


@pytest.fixture(params=MODES)
def every_mode(request, core):
    core.set_mode(request.param)
    yield request.param
    core.set_mode("auto")


def operands(dtype):
    return [np.array(side, dtype) for side in zip(*PAIRS)]


def same(got, want, what):
    """Equal, NaN parts and the signs of zeros included."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape, what
    if got.dtype.kind == "c":
        real = f"f{got.dtype.itemsize // 2}"
        got, want = got.reshape(-1).view(real), want.reshape(-1).view(real)
        equal = (got == want) & (np.signbit(got) == np.signbit(want)) | (got != got) & (
            want != want
        )
    else:
        equal = got == want
    assert equal.all(), f"{what}: {np.flatnonzero(~np.atleast_1d(equal))[:5]}"


@pytest.mark.numbus
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", COMPARISONS + EXTREMES)
def test_all_pairs(xp, every_mode, name, dtype):
    x, y = operands(dtype)
    a, b = xp.array(x), xp.array(y)
    u, function = getattr(np, name), getattr(xp, name)
    with np.errstate(invalid="ignore"):
        same(function(a, b), u(x, y), name)
        same(function(a[-2::-2], b[1::2]), u(x[-2::-2], y[1::2]), f"{name} strided")
        for value in NUMBERS[:20]:
            same(function(a, value), u(x, value), f"{name} with {value}")
            same(function(value, a), u(value, x), f"{name} of {value}")
        # Against other types: NaN and infinities of a real operand, and integers.
        for other in ("float32", "float64", "int64", "bool"):
            z = np.resize(np.array([0, 1, 2], other), x.shape)
            if z.dtype.kind == "f":
                z[::4] = np.nan
            same(function(a, xp.array(z)), u(x, z), f"{name} with {other}")


@pytest.mark.numbus
@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers(xp, every_mode, dtype):
    """0-d arrays and numbers compare as NumPy's do."""
    for (x, y), name in itertools.product(PAIRS[::7], COMPARISONS):
        a, b = np.array(x, dtype), np.array(y, dtype)
        want = getattr(np, name)(a, b)
        assert bool(getattr(xp, name)(xp.array(a), xp.array(b))) == bool(want), (name, x, y)


@pytest.mark.numbus
@pytest.mark.parametrize("dtype", DTYPES)
def test_of_one_array(xp, every_mode, dtype):
    """Extremes, their positions and sorts of arrays with NaN in either part."""
    rng = np.random.default_rng(3)
    calls = ["max", "min", "argmax", "argmin", "sort", "argsort", "nanmax", "nanmin", "ptp"]
    for count, name in itertools.product([1, 2, 5, 9, 40, 300], calls):
        for nans in (False, True):
            pool = [z for z in NUMBERS if nans or z == z]
            x = np.array([pool[i] for i in rng.integers(len(pool), size=(3, count))[0]], dtype)
            x = np.stack([x, x[::-1], np.roll(x, 1)])
            for axis in (0, 1, None):
                kwargs = {"kind": "stable"} if name == "argsort" else {}
                want = outcome(lambda n=name, z=x, k=axis, w=kwargs: getattr(np, n)(z, axis=k, **w))
                got = outcome(
                    lambda n=name, z=x, k=axis, w=kwargs: getattr(xp, n)(xp.array(z), axis=k, **w)
                )
                what = f"{name} {count} axis={axis} nans={nans}"
                if isinstance(want, Exception):
                    assert isinstance(got, type(want).__mro__[0]), what
                elif name in ("argmax", "argmin", "argsort"):
                    same(got, want, what)
                else:
                    assert_same(xp.asarray(got), np.asarray(want), what=what)


@pytest.mark.numbus
def test_masks_of_comparisons(xp, every_mode):
    """A comparison that fuses into a mask decides the same elements."""
    x, y = operands("complex128")
    a, b = xp.array(x), xp.array(y)
    for name in COMPARISONS:
        want, got = np.zeros(x.shape, int), xp.zeros(x.shape, int)
        want[getattr(np, name)(x, y)] += 1
        got[getattr(xp, name)(a, b)] += 1
        assert_same(got, want, what=name)
        assert_same(
            xp.where(getattr(xp, name)(a, b), 1, 2), np.where(getattr(np, name)(x, y), 1, 2)
        )
