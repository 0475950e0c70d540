"""Assignments that read the array they write: all is read before anything is written."""

import numpy as np
import pytest
from jit_check import check
from numbus import cuda, njit
from numbus.kernels import UnsupportedError


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


def positions(a):
    k = np.array([1, 2, 3])
    a[k] = a[:3]
    a[k + 1] = a[k] * 2


def masked(a):
    a[a > 20] = a[a > 20] * 2
    a[a[::-1] > 50] = 0


def own(a):
    a[:] = a * 2 + 1
    a[1:-1] = np.sqrt(a[1:-1]) - a[1:-1]
    a += np.where(a < 0, -a, a)
    a[a > 3] = 3


FUNCTIONS = [shifted, smoothed, added, reversed_sum, chosen, into_out, positions, masked, own]


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


def test_own_positions_take_no_memory():
    """In a kernel nothing can be copied: what reads only its own positions needs no copy."""

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


def made_by(n):
    return np.arange(n)


compiled_made_by = njit(made_by)


def put(rows, a):
    rows.append(a)


compiled_put = njit(put)


def of_a_function(n):
    a = compiled_made_by(n)
    a[1:] = a[:-1]
    return a


def of_a_list(n):
    a = np.arange(n)
    rows = []
    rows.append(a)
    for b in rows:
        b[1:] = a[:-1]
    return a


def of_a_list_with_two_names(n):
    a = np.arange(n)
    rows = [a[:1]]
    rows.append(a[:2])
    same = rows
    same[1] = a
    rows[1][1:] = a[:-1]
    return a


def of_a_list_that_is_filled_elsewhere(n):
    a = np.arange(n)
    rows = [a[:1]]
    rows.append(a[:2])
    compiled_put(rows, a)
    b = rows.pop()
    b[1:] = a[:-1]
    return a


def of_pieces(n):
    a = np.arange(n)
    b = np.split(a, 1)[0]
    b[1:] = a[:-1]
    return a


@pytest.mark.parametrize(
    "function",
    [
        of_a_function,
        of_a_list,
        of_a_list_with_two_names,
        of_a_list_that_is_filled_elsewhere,
        of_pieces,
    ],
)
def test_memory_made_inside(function):
    plain = function.__globals__
    held = {k: plain[k] for k in ("compiled_made_by", "compiled_put")}
    plain.update(compiled_made_by=made_by, compiled_put=put)
    try:
        want = function(6)
    finally:
        plain.update(held)
    np.testing.assert_array_equal(njit(function)(6), want)


def test_local_memory_of_a_kernel():
    """It would need a copy, which a kernel has no memory for."""

    @cuda.jit
    def kernel(out):
        a = cuda.local.array(4, np.float64)
        for i in range(4):
            a[i] = i
        a[1:] = a[:-1]
        for i in range(4):
            out[i] = a[i]

    with pytest.raises(UnsupportedError, match="not yet"):
        kernel[1, 1](np.zeros(4))


def raveled(a):
    r = np.ravel(a)
    s = a.reshape(-1)
    r[0] = 100
    s[1] = 200
    return r, s, np.copy(a)


def reshaped(a):
    s = a.reshape((1, a.size, 1))
    s[0, 1, 0] = 200
    return s, np.copy(a)


@pytest.mark.parametrize(
    "a",
    [
        np.arange(6.0),
        np.arange(6.0).reshape(2, 3),
        np.arange(6.0).reshape(6, 1).T,
        np.arange(12.0).reshape(3, 4)[1:2, :, None],
        np.arange(12.0).reshape(3, 4)[1:, :],
        np.arange(6.0).reshape(2, 3).T,
        np.arange(12.0)[::2],
        np.asfortranarray(np.arange(4.0).reshape(1, 4)),
    ],
    ids=lambda a: f"{a.shape}, {a.strides}",
)
def test_ravel_is_a_view_where_numpys_is(a):
    for function in (raveled,) if a.ndim > 1 else (raveled, reshaped):
        mine, given = a.copy(order="K"), a.copy(order="K")
        if a.base is not None and not a.flags.c_contiguous:
            mine, given = (np.lib.stride_tricks.as_strided(
                np.zeros(64), a.shape, a.strides) for _ in range(2))  # fmt: skip
            mine[...] = given[...] = a
        for x, y in zip(njit(function)(mine), function(given)):
            np.testing.assert_array_equal(x, y)
        np.testing.assert_array_equal(mine, given)


def test_numbers_as_arrays():
    def of_numbers(x):
        return np.ravel(x), np.reshape(x, (1, 1)), np.copy(x), np.transpose(x), np.ravel((x, 1))

    for x, y in zip(njit(of_numbers)(2.5), of_numbers(2.5)):
        np.testing.assert_array_equal(x, y)
        assert x.dtype == y.dtype
