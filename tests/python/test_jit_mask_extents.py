"""Masks of other extents than the array's, in compiled functions: NumPy lets one of 0 pass."""

import itertools

import numpy as np
import pytest
from numbus import njit

pytestmark = pytest.mark.numbus


@njit
def picked(a, m):
    return a[m]


@njit
def filled(a, m):
    a[m] = 7
    return a


@njit
def replaced(a, m, v):
    a[m] = v
    return a


@njit
def raised(a, m):
    a[m] += 2
    return a


@njit
def compared(a, b):
    a[np.greater(a, b)] -= 1
    return a


@njit
def along(a, m):
    return a[m, :]


def outcome(f, *args):
    copies = [x.copy() for x in args]
    try:
        with np.errstate(all="ignore"):
            return f(*copies).tolist()
    except (IndexError, ValueError) as e:
        return type(e)


SHAPES = [s for n in (1, 2) for s in itertools.product((0, 1, 2, 3), repeat=n)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("f", [picked, filled, raised, replaced, along], ids=lambda f: f.__name__)
def test_extents(f, shape):
    a = np.arange(np.prod(shape), dtype=float).reshape(shape) + 1
    for mask in SHAPES:
        if len(mask) != (1 if f is along else len(shape)) or (f is along and len(shape) != 2):
            continue
        for m in (np.zeros(mask, bool), np.ones(mask, bool), np.arange(np.prod(mask)) % 2 == 1):
            m = m.reshape(mask)
            more = (np.array([4.0]),) if f is replaced else ()
            assert outcome(f, a, m, *more) == outcome(f.py_func, a, m, *more), (shape, mask)


def test_mask_of_an_expression():
    a, b = np.zeros((1, 0)), np.zeros((0, 0))
    assert compared(a, b).shape == (1, 0)
    with pytest.raises(IndexError):
        compared(np.zeros((3, 1)), np.zeros((1, 2)))


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("at", [0, 1, 2, -3])
def test_indices_of_what_is_repeated_no_times(n, at):
    """NumPy looks at them, though nothing is read where an axis has no element."""

    def f(x, at, n):
        return x[np.array([at])] // np.ones(n), x[np.array([at])] + np.ones((n, 1)), at

    x = np.array([3.0, 4.0])
    try:
        want = f(x, at, n)
    except IndexError:
        with pytest.raises(IndexError):
            njit(f)(x, at, n)
        return
    for g, w in zip(njit(f)(x, at, n), want):
        np.testing.assert_array_equal(g, w)


@pytest.mark.parametrize("count", range(5))
def test_nothing_is_written_where_values_do_not_fit(count):
    """Two values or four through a mask that selects three."""
    m = np.array([[True, False], [True, True]])
    values = np.arange(10.0, 10.0 + count)
    for change in (replaced, replaced.py_func):
        a = np.zeros((2, 2))
        if count in (1, 3):
            assert (change(a, m, values) != 0).tolist() == m.tolist()
            continue
        with pytest.raises(ValueError, match="cannot assign"):
            change(a, m, values)
        assert not a.any()
