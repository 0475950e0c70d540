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
