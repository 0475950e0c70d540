"""np.arange of floats: NumPy's bits."""

import numbus as nb
import numpy as np
import pytest
from numbus import njit

pytestmark = pytest.mark.numbus


def _ranges(seed):
    rng = np.random.default_rng(seed)
    for _ in range(60):
        a = float(rng.choice([rng.normal() * 3, rng.integers(-5, 5) * 0.1, 0.0]))
        s = float(rng.choice([0.1, 0.2, 0.3, rng.random() + 0.05, 1.5, -0.1, -0.7]))
        yield a, float(a + s * rng.integers(0, 12)), s
    for _ in range(10):  # neighbours have no room between them
        a, s = int(rng.integers(2**24 - 5, 2**24 + 5)), int(rng.integers(1, 4))
        yield a, a + 5 * s, s


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64"])
def test_ranges_have_the_bits_of_numpys(dtype):
    """The second item is the start and the step, the others go on from the first by what lies
    between these two; float16 computes in float32.
    """
    compiled = {
        "float16": njit(lambda a, b, s: np.arange(a, b, s, dtype=np.float16)),
        "float32": njit(lambda a, b, s: np.arange(a, b, s, dtype=np.float32)),
        "float64": njit(lambda a, b, s: np.arange(a, b, s, dtype=np.float64)),
        "int64": njit(lambda a, b, s: np.arange(a, b, s, dtype=np.int64)),
    }[dtype]
    with np.errstate(all="ignore"):
        for a, b, s in _ranges(7):
            if dtype == "float16" and abs(a) > 60_000:
                continue  # inf, and NaN of any sign
            want = np.arange(a, b, s, dtype=dtype)
            for got in (compiled(a, b, s), np.asarray(nb.arange(a, b, s, dtype=dtype))):
                assert got.dtype == want.dtype and got.tobytes() == want.tobytes(), (a, b, s)


def test_lengths_of_ranges_of_float32():
    compiled = njit(lambda a, b, s: np.arange(a, b, s))
    for a, _, s in _ranges(8):
        a, s = np.float32(a), np.float32(s)
        b = np.float32(a + 5 * s)
        want = np.arange(a, b, s)
        for got in (compiled(a, b, s), np.asarray(nb.arange(a, b, s))):
            assert got.dtype == want.dtype and got.tobytes() == want.tobytes(), (a, b, s)


EDGES = [  # start, stop, step, dtype: one value, none, quotients that vanish, limits of int64
    (-1, 0.1, 1e15, "f2"), (-1, 0.1, 1e299, "f4"), (3, 2.0**53, np.inf, None),
    (10, 0.1, 1e15, "i4"), (-(2**62), 2**62, -1, None), (0, 5e-324, 1e10, None),
    (0, -5e-324, 1e10, None), (5, -2, -(2**63), "i8"), (-7, -2, 2**63 - 1, None),
    (2**63 - 1, -(2**63), 300, None), (-(2**63), 2**62, 2**62, "i8"), (0.0, 3e5, 1e5, "f2"),
    (-0.0, 2.5, 1.0, None), (-0.3, 9.0, 4.2, None), (-0.3, 9.0, -4.2, None), (0, 2, 1, "?"),
    (0.5, 2.5, 1, "?"), (0, 3, 1, "?"), (300, 302, 1, "i1"), (-1, 1, 1, "u8"), (120, 130, 9, "i1"),
    (0, np.inf, 1, None), (0, 1, np.nan, None), (0.5, -2, 1e300, "c8"), (-0.7, 3, 1, "u1"),
]  # fmt: skip


@pytest.mark.parametrize("compiles", [False, True])
def test_edges_of_ranges(compiles):
    """No value is computed that a range has not, and the first two are rounded by themselves."""
    for a, b, s, t in EDGES:
        if compiles and t == "c8":
            continue
        dtype = t and np.dtype(t)
        if compiles:
            arange = njit(lambda a, b, s, dtype=dtype: np.arange(a, b, s, dtype=dtype))
        else:
            arange = lambda a, b, s, dtype=dtype: np.asarray(nb.arange(a, b, s, dtype))  # noqa: E731
        with np.errstate(all="ignore"):
            try:
                want = np.arange(a, b, s, dtype)
            except (TypeError, ValueError, OverflowError) as error:
                with pytest.raises(type(error)):
                    arange(a, b, s)
                continue
            got = arange(a, b, s)
        assert got.dtype == want.dtype and got.tobytes() == want.tobytes(), (a, b, s, t, got)


def test_ranges_of_large_ints():
    for a, b, s, t in ((2**63, 2**63 + 4, 1, "u8"), (2**64 - 1, 2**63, -(2**62), "u8")):
        assert np.asarray(nb.arange(a, b, s, t)).tolist() == np.arange(a, b, s, t).tolist()
    assert nb.arange(2**63, 2**63 + 4096, 2048).dtype == np.arange(2**63, 2**63 + 4096, 2048).dtype
    with pytest.raises(ZeroDivisionError):
        nb.arange(0, 1, 0)
    with pytest.raises(ValueError), np.errstate(all="ignore"):
        nb.arange(0, 1, np.float64(0))
