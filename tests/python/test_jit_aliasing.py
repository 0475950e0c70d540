"""Assignments that read the array they write: all is read before anything is written."""

import numpy as np
import pytest
from jit_check import check
from numbus import cuda, njit


def shifted(a):
    a[1:] = a[:-1] + 1


def smoothed(a):
    a[1:-1] = 0.5 * (a[:-2] + a[2:])


def added(a):
    a[1:] += a[:-1]


def reversed_sum(a):
    a[:] = a[::-1] + a


def chosen(a):
    a[1:] = np.where(a[:-1] > 20, a[:-1], -a[1:])


def into_out(a):
    np.add(a[:-1], a[1:], out=a[1:])


def places(a):
    k = np.array([1, 2, 3])
    a[k] = a[:3]
    a[k + 1] = a[k] * 2


def masked(a):
    a[a > 20] = a[a > 20] * 2
    a[a[::-1] > 50] = 0


def own_places(a):
    a[:] = a * 2 + 1
    a[1:-1] = np.sqrt(a[1:-1]) - a[1:-1]
    a += np.where(a < 0, -a, a)
    a[a > 3] = 3


FUNCTIONS = [shifted, smoothed, added, reversed_sum, chosen, into_out, places, masked, own_places]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_one_dimension(function):
    check(function, np.arange(6.0) * 10)
    check(function, (np.arange(12.0) * 10)[::-2])


def test_two_dimensions():
    def f(a):
        a[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
        a[:, 1] = a[:, 0] + a[:, 2]
        a[:3, :3] = a[:3, :3].T + 1
        a[0] = a[1] + a[:, 1]

    check(f, np.arange(25.0).reshape(5, 5) ** 2)


def test_own_places_take_no_memory():
    """In a kernel nothing can be copied: what reads only its own places needs no copy."""

    def f(a, b):
        a[:] = a * 2 + b
        a[1:3] = np.where(b[1:3] > 0, a[1:3], 0.0)
        a[a > 5] = 5

    a, b = np.arange(6.0), np.array([0.0, 1, -1, 1, 1, 1])
    theirs = a.copy()
    f(theirs, b)
    cuda.jit(f)[1, 1](a, b)
    np.testing.assert_array_equal(a, theirs)

    @cuda.jit
    def g(a):
        a[1:] = a[:-1] + 1

    with pytest.raises(NotImplementedError, match="arrays that a kernel makes"):
        g[1, 1](a)


def test_through_variables():
    def f(a):
        left, right = a[:-1], a[1:]
        right[:] = left + 1
        b = a
        b[1:] = a[:-1] * 2
        return b

    check(f, np.arange(5.0))
    assert njit(f)(np.zeros(3)).tolist() == [0, 0, 2]


@njit
def exchange(x, y):
    return y, x


def test_arrays_of_tuples():
    def of_a_call(x):
        a = x + 1
        b, a = exchange(a, a[::-1])
        a += b
        return a

    def of_a_variable(x):
        a = x + 1
        t = (a[::-1], a)
        a += t[0]
        return a

    def of_an_argument(t):
        a, b = t
        a += b
        return a

    x = np.arange(6.0)
    for f in (of_a_call, of_a_variable):
        np.testing.assert_array_equal(njit(f)(x), f(x))
    for f in [of_an_argument]:
        y, z = x.copy(), x.copy()
        np.testing.assert_array_equal(njit(f)((y, y[::-1])), f((z, z[::-1])))
