"""Classes of what programs of the generator found in compiled functions."""

import itertools
import math
import operator

import numpy as np
import pytest
from jit_check import function_of
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


PARTS_OF_INDEXED = [
    "a[i].shape", "len(a[i])", "a[i].size", "np.ones_like(a[i])", "np.shape(a[i])", "a[i][0]",
    "a[i].T.shape", "np.where(a[i] > 0, 1, 2).shape", "(a[i] + 1)[0]", "np.zeros(len(a[i]))",
    "a[i] is None", "a[2 * i - i][0]", "b[:, i].shape", "b[i, i % 3].size", "b[1, i][0]",
    "a[i].sum()", "a[i][:0]", "a[i]",
]  # fmt: skip


@pytest.mark.parametrize("text", PARTS_OF_INDEXED)
@pytest.mark.parametrize("bad", [3, -4, 2, 100])
def test_all_indices_are_looked_at(text, bad):
    """Also where a part of the result is read, or its shape only."""
    f = function_of(text, "a, b, i")
    args = np.array([-1.0, 2.0, 3.0]), np.ones((3, 4)), np.array([0, bad])
    try:
        want = f(*args)
    except IndexError:
        with pytest.raises(IndexError):
            njit(f)(*args)
    else:
        assert np.array_equal(njit(f)(*args), want)


def stores(a, i, v):
    a[i] = v


def test_nothing_is_stored_where_an_index_lies_outside():
    a = np.zeros(4)
    with pytest.raises(IndexError):
        njit(stores)(a, np.array([0, 1, 4]), np.ones(3))
    assert not a.any()


@pytest.mark.parametrize("text", ["(x**y).shape", "(x**y)[0]", "np.ones_like(x**y)", "x**y"])
@pytest.mark.parametrize("y", [np.array([1, -2]), np.array([1, 2]), -1, 2, np.array([], np.int8)])
@pytest.mark.parametrize("n", [0, 1, 2])
def test_all_exponents_are_looked_at(text, y, n):
    f = function_of(text, "x, y")
    x = np.arange(n) + 2
    try:
        want = f(x, y)
    except (ValueError, IndexError) as error:
        with pytest.raises(type(error)):
            njit(f)(x, y)
    else:
        assert np.array_equal(njit(f)(x, y), want)


def replaced(x, y):
    v = [x]
    v[0] = math.asinh(y)
    return v[0] * 1.0


@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
def test_items_keep_the_digits_of_what_replaces_them(kind):
    got = njit(replaced)(np.dtype(kind).type(2), 2)
    assert float(got) == replaced(np.dtype(kind).type(2), 2)


def shifted(a, b):
    v = 0 <= a == 1
    a = a if a else max([a])
    w = int(v)
    return (
        (1 << w) * 0.017,
        (4 << w) * 0.25,
        float(1 << w) / 3.0,
        (1 << w) * np.float32(0.5),
        2**w * b,
    )


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("a", [0.5, 1.0, 0.0, -1.0])
def test_products_of_shifts_by_truth_values(kind, a):
    """LLVM 19 computes them in the exponent, from a register with more than one truth value."""
    args = np.dtype(kind).type(a), 0.3
    assert njit(shifted)(*args) == pytest.approx(shifted(*args), rel=1e-7)
