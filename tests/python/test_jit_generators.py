"""numpy.random.Generator as an argument of compiled functions: NumPy's own bits, in its order."""

import numpy as np
import pytest
from numbus import njit
from numbus.kernels import CompileError, UnsupportedError

BOUNDS = [(0, 10), (-5, 3), (0, 2**32), (0, 2**32 - 1), (0, 2**33), (-(2**63), 2**63 - 1), (0, 1),
          (0, 2**63 - 1), (-(2**62), 2**62 + 12345), (3, 4)]  # fmt: skip


def floats(g):
    return g.random(), g.random(5), g.random((2, 3)), g.random(size=2), g.random(0)


def uniform(g):
    return g.uniform(), g.uniform(2, 5), g.uniform(1.0, 2.0, (3,)), g.uniform(high=3.0, low=-1)


def normal(g):
    return g.standard_normal(), g.standard_normal(50000), g.normal(), g.normal(3, 2, (4, 2))


def exponential(g):
    return g.standard_exponential(), g.standard_exponential(50000), g.exponential(2.5, 7)


def mixed(g):
    a = g.integers(7)
    b = g.random()
    c = g.integers(3, 9, size=3)
    return a, b, c, g.integers(2**40), g.integers(5), g.normal(), helper(g, 3)


def helper(g, n):
    return g.uniform(0, n) + n


SOURCES = [np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64]


def compare(f, source, seed, *args):
    mine, theirs = (np.random.Generator(source(seed)) for _ in range(2))
    for _ in range(2):
        for got, want in zip(njit(f)(mine, *args), f(theirs, *args), strict=True):
            assert np.asarray(got).dtype == np.asarray(want).dtype
            assert np.array_equal(got, want)
    assert mine.integers(2**31) == theirs.integers(2**31) and mine.random() == theirs.random()


@pytest.mark.parametrize("source", SOURCES, ids=lambda s: s.__name__)
@pytest.mark.parametrize("f", [floats, uniform, normal, exponential, mixed])
def test_numpys_bits(f, source):
    compare(f, source, 5)


def test_integers_below_a_bound():
    def f(g, low, high):
        return g.integers(low, high), g.integers(low, high, size=100), g.integers(low, high, (2, 3))

    for low, high in BOUNDS:
        compare(f, np.random.PCG64, 3, low, high)


def test_many_normal_numbers_and_their_tail():
    g, h = np.random.default_rng(8), np.random.default_rng(8)
    found = njit(lambda g: g.standard_normal(400_000))(g)
    assert np.array_equal(found, h.standard_normal(400_000)) and abs(found).max() > 3.7


def test_errors_and_what_is_not_known():
    g = np.random.default_rng(1)
    for f in (
        lambda g: g.integers(5, 5),
        lambda g: g.normal(0, -1),
        lambda g: g.exponential(-1.0),
        lambda g: g.uniform(3, 2),
    ):
        with pytest.raises(ValueError):
            f(np.random.default_rng(1))
        with pytest.raises(ValueError):
            njit(f)(g)
    with pytest.raises(OverflowError):
        njit(lambda g: g.uniform(0, np.inf))(g)
    for f in (lambda g: g, lambda g: g.gamma(1.0), lambda g: [g], lambda g: g.integers(5, dtype=1)):
        with pytest.raises((UnsupportedError, CompileError)):
            njit(f)(g)
    with pytest.raises(UnsupportedError, match="parallel=True"):
        njit(lambda g: g.random(), parallel=True)(g)
