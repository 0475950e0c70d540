"""Structured arrays as arguments of compiled functions."""

import numpy as np
import pytest
from jit_check import check, equal
from numbus import cuda, njit

BODY = np.dtype([("x", "f8"), ("n", "i4"), ("flag", "?")])


def bodies(n=5):
    a = np.zeros(n, BODY).view(np.recarray)
    a["x"] = np.arange(n) * 0.5
    a["n"] = np.arange(n) ** 2
    return a


def read(a):
    s = 0.0
    for i in range(a.size):
        s += a[i].x * a[i]["n"]
    for r in a:
        s += r.x
        if r.flag:
            s += 100
    r = a[-1]
    return s, a["x"].sum(), a.n[1:3], len(a), a.shape, r.n, a[1:][0].x


def write(a):
    for i in range(len(a)):
        a[i].x = i
        a[i]["n"] += 2
        a[i].flag = i % 2 == 0
    a["x"][1:] = a["x"][:-1] + 1
    a.n[0] = 9
    for r in a:
        r.x *= 2
    last = a[-1]
    last.n = -1
    a[1] = a[0]


def test_as_numpy():
    equal(njit(read)(bodies()), read(bodies()), None)
    mine, theirs = bodies(), bodies()
    njit(write)(mine)
    write(theirs)
    assert mine.tolist() == theirs.tolist()


def test_grids_and_functions():
    def total(r):
        return r.x + r.n

    def f(a):
        s = 0.0
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                s += total(a[i, j])
        return s, a[0]["n"].sum(), a.ndim

    equal(njit(f)(bodies(6).reshape(2, 3)), f(bodies(6).reshape(2, 3)), None)


def test_in_a_kernel():
    @cuda.jit
    def f(a, out):
        i = cuda.grid(1)
        if i < len(a):
            out[i] = a[i].x * a[i].n
            a[i].n = -i

    a, out = bodies(), np.zeros(5)
    f[1, 8](a, out)
    assert out.tolist() == (np.arange(5) * 0.5 * np.arange(5) ** 2).tolist()
    assert a["n"].tolist() == [0, -1, -2, -3, -4]


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda a: a[0].y, "no field of that name; got 'y'"),
        (lambda a: a["y"], "one of x, n, flag"),
    ],
)
def test_mistakes(function, said):
    with pytest.raises(TypeError, match=said):
        njit(function)(bodies())


def test_arrays_in_tuples_are_told_apart():
    """An assignment copies what it reads of an array that came inside of a tuple."""

    def f(t):
        x, y = t
        x[1:] = x[:-1] + 1
        t[1][1:] = y[:-1] * 2
        return x, y

    check(f, (np.arange(5.0), np.arange(4.0)))
