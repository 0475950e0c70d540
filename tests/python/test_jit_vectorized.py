"""Functions made by @vectorize and @guvectorize, called inside of compiled functions."""

import math

import numpy as np
import pytest
from jit_check import check, equal
from numbus import cuda, guvectorize, njit, vectorize
from numbus.kernels import CompileError


@vectorize
def clipped(x, low):
    if x < low:
        return low
    return x


@vectorize
def steps(x):
    n = 0
    while x > 1:
        x = x / 2
        n += 1
    return n


@vectorize(["int32(int32, int32)", "float64(float64, float64)"])
def mixed(a, b):
    return a * 10 + b


@guvectorize(["(float64[:], float64, float64[:])"], "(n),()->(n)")
def running(a, start, out):
    total = start
    for i in range(a.size):
        total += a[i]
        out[i] = total


@guvectorize(["(float64[:, :], float64[:], float64[:])"], "(m,n),(n)->(m)")
def product(a, x, out):
    for i in range(a.shape[0]):
        out[i] = 0
        for j in range(a.shape[1]):
            out[i] += a[i, j] * x[j]


@guvectorize(["(float64[:], float64[:], float64[:])"], "(n)->(),()")
def extremes(a, low, high):
    low[0] = a.min()
    high[0] = a.max()


@guvectorize("(n)->(n)")
def doubled(a, out):
    for i in range(a.size):
        out[i] = 2 * a[i]


def test_arrays_broadcast():
    def f(x, y):
        return clipped(x, 2.0), clipped(x.reshape(-1, 1), y), clipped(3.0, x) + 1

    check(f, np.arange(5.0), np.array([1.0, 2.5, 4.0]))
    check(f, np.arange(5), np.array([1.0, 2.5]))
    check(f, np.arange(10.0)[::-2], np.float32([1, 3]))

    def g(x):
        return steps(x), steps(x).sum(), steps(x[1:] + 1)

    check(g, np.array([1.0, 9.0, 100.0]))
    check(g, np.array([[1.0, 9.0], [100.0, 5.0]], np.float32))


def test_numbers():
    def f(x):
        return clipped(x, 2.0), clipped(1.0, x), mixed(2.0, x), mixed(np.int32(2), np.int32(3))

    check(f, 5.0)
    check(f, np.float32(1.5))


def test_declared_types():
    def f(a, b):
        return mixed(a, b), mixed(a, 2), mixed(b, a)

    check(f, np.arange(4, dtype=np.int32), np.arange(4, dtype=np.int16))
    check(f, np.arange(4, dtype=np.int32), np.arange(4, dtype=np.float32))
    check(f, np.arange(4, dtype=np.int64), np.arange(4.0))
    with pytest.raises(CompileError, match="no declared loop of mixed"):
        njit(f)(np.arange(4) + 1j, np.arange(4.0))


def test_out():
    def f(x, out):
        r = clipped(x, 2.0, out)
        clipped(out[:2], 3.0, out=out[2:4])
        return r

    check(f, np.arange(5.0), np.zeros(5))

    def g(x):
        clipped(x[:-1], 1.0, out=x[1:])

    x = np.arange(5.0)
    njit(g)(x)
    assert x.tolist() == [0, 1, 1, 2, 3]


def test_errors():
    with pytest.raises(ValueError, match="could not be broadcast"):
        njit(lambda x, y: clipped(x, y))(np.zeros(3), np.zeros(4))
    with pytest.raises(CompileError, match=r"clipped\(\) takes 2 arguments; got 1"):
        njit(lambda x: clipped(x))(np.zeros(3))
    with pytest.raises(NotImplementedError, match="where="):
        njit(lambda x: clipped(x, 1.0, where=True))(np.zeros(3))

    @vectorize
    def root(x):
        if x < 0:
            raise ValueError("negative")
        return math.sqrt(x)

    with pytest.raises(ValueError, match="negative"):
        njit(lambda x: root(x))(np.array([1.0, -1.0]))


def test_in_a_kernel():
    @cuda.jit
    def f(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = clipped(x[i], 2.0)
            out[i, 1:] = clipped(x[i, 1:], x[i, 0])

    x = np.arange(12.0).reshape(4, 3)[:, ::-1].copy()
    out = np.zeros((4, 3))
    f[1, 4](x, out)
    expected = np.maximum(x, 2.0)
    expected[:, 1:] = np.maximum(x[:, 1:], x[:, :1])
    np.testing.assert_array_equal(out, expected)


def test_rows():
    def f(a, m):
        low, high = extremes(m)
        return running(a, 1.0), running(m, a[:3]), product(m, a[:4]), low, high, extremes(a)[0]

    check(f, np.arange(6.0), np.arange(12.0).reshape(3, 4))

    def g(m, v):
        return product(m, v), running(m[:, 0], np.arange(2.0))

    check(g, np.arange(24.0).reshape(2, 3, 4), np.arange(4))
    check(g, np.arange(24.0).reshape(2, 3, 4), np.arange(8.0).reshape(2, 4))


def test_rows_into_outputs():
    def f(a, out):
        doubled(a, out)
        running(a, 2.0, out[::-1])
        return running(a, 0.0, out=out)

    a = np.arange(6.0).reshape(2, 3)
    mine, theirs = np.zeros((2, 3)), np.zeros((2, 3))
    equal(njit(f)(a, mine), f(a, theirs), None)
    equal(mine, theirs, None)


def test_mistakes_of_rows():
    a = np.arange(6.0).reshape(2, 3)
    with pytest.raises(ValueError, match="core dimension n differs"):
        njit(lambda m, v: product(m, v))(a, np.zeros(4))
    with pytest.raises(ValueError, match="loop dimensions do not broadcast: 2 and 4"):
        njit(lambda m, v: running(m, v))(a, np.zeros(4))
    with pytest.raises(ValueError, match="output 0 has the wrong shape"):
        njit(lambda m, v: running(m, 0.0, v))(a, np.zeros((3, 3)))
    with pytest.raises(CompileError, match="types of the outputs of doubled"):
        njit(lambda m: doubled(m))(a)
    with pytest.raises(CompileError, match="takes 2 inputs"):
        njit(lambda m: running(m))(a)
    with pytest.raises(CompileError, match="too few dimensions; got 1"):
        njit(lambda m: product(m, m))(a[0])
