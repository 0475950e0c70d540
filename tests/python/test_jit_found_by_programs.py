"""Classes of what programs of the generator found in compiled functions."""

import itertools
import operator

import numpy as np
import pytest
from numbus import njit, prange


def least(a):
    return min(a), max(a), min(a * 2), max(list(a))


@pytest.mark.parametrize("kind", ["float32", "float64", "complex64", "complex128"])
def test_least_and_greatest_of_what_holds_nan(kind):
    """Python's min and max compare one after the other; NaN is less than nothing."""
    for items in itertools.permutations([0.5, np.nan, -2.0, 3.0]):
        a = np.array(items, kind)
        if a.dtype.kind == "c":
            a += np.array([0, 1, np.nan, 0], kind) * a.dtype.type(1j)
        for got, want in zip(njit(least)(a), least(a), strict=True):
            assert got == want or (np.isnan(got) and np.isnan(want)), items


def greatest(a):
    unused = a.max(axis=0)
    return len(unused)


def first_greatest(a):
    return a.argmax(axis=0)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (3, 2)])
@pytest.mark.parametrize("f", [greatest, first_greatest])
def test_extremes_along_an_axis_without_elements(shape, f):
    a = np.ones(shape)
    try:
        want = f(a)
    except ValueError:
        with pytest.raises(ValueError):
            njit(f)(a)
    else:
        assert np.array_equal(njit(f)(a), want)


def rows(a, b):
    return np.array([a, b])


@pytest.mark.parametrize(("n", "m"), list(itertools.product((0, 1, 2, 3), repeat=2)))
def test_rows_of_different_lengths(n, m):
    """A row of one element is not repeated."""
    a, b = np.arange(n) + 1.0, np.arange(m) + 5.0
    if n != m:
        with pytest.raises(ValueError):
            njit(rows)(a, b)
    else:
        assert np.array_equal(njit(rows)(a, b), rows(a, b))


def squares(z):
    return z**2, z**0.5, pow(z, 2), operator.pow(z, 2), np.power(z, 2)


def whole_squares(a):
    return a**2, pow(a, 2), operator.pow(a, 2), np.power(a, 2)


@pytest.mark.parametrize("kind", ["complex64", "complex128"])
def test_signs_of_zeros_of_complex_powers(kind):
    z = np.array([complex(a, b) for a in (0.0, -0.0) for b in (0.0, -0.0)], kind)
    for got, want in zip(njit(squares)(z), squares(z), strict=True):
        assert got.tobytes() == want.tobytes()
    bits = np.array([True, False])
    for got, want in zip(njit(whole_squares)(bits), whole_squares(bits), strict=True):
        assert got.dtype == want.dtype and np.array_equal(got, want)


def product(a, n):
    v = 0
    for i in prange(n):
        v *= a[i]
    return 0.0 // v


@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
@pytest.mark.parametrize("n", [0, 2])
def test_type_of_a_merged_number(kind, n):
    """A float of NumPy's, which divides by zero, whether or not the loop is parallel."""
    a = np.zeros(3, kind)
    for parallel in (False, True):
        assert np.isnan(njit(parallel=parallel)(product)(a, n))


def picked(a, b):
    return a[np.array([-1, -1]), -1] - b


def test_an_index_is_looked_at_before_shapes():
    for f in (picked, njit(picked)):
        with pytest.raises(IndexError):
            f(np.ones((3, 0)), np.ones(3))
