"""What loops run over: positions, elements in order, generators, and operators as functions."""

import operator

import numpy as np
import pytest
from jit_check import check
from numbus import cuda, njit

X = np.array([3.0, 1.0, 4.0, 1.5, 9.0, 2.6])
M = np.arange(12.0).reshape(3, 4)


def positions(m):
    s = 0.0
    for i, j in np.ndindex(m.shape):
        s += m[i, j] * i
    for i, j in np.ndindex(2, 3):
        s -= m[i, j] * j
    for k in np.ndindex(m.shape):
        s += m[k]
    for (i, j), v in np.ndenumerate(m):
        s += v * i - j
    for q, v in np.ndenumerate(m[0]):
        s += v * q[0]
    for v in np.nditer(m):
        s += v.item() ** 2
    return s


def flat(m):
    s = 0.0
    for i, v in enumerate(m.T.flat):
        s += i * v
    m.T.flat[1] = 100
    m.flat[0] = 50
    m[:, ::2].flat[3] = 25
    return s, m, m.T.flat[2], m.T.flat[-1], m[::2].flat[5]


def starts(x):
    s = 0.0
    for i, v in enumerate(x, start=2):
        s += i * v
    for i, v in enumerate(x, 3):
        s -= i * v
    for i, v in enumerate((1.5, 2.5), start=len(x)):
        s += i * v
    return s, sum([1, 2], start=10), sum(range(4))


def ranges(n):
    r = range(2, n, 3)
    return (
        [k in r for k in range(-1, 12)],
        [k in range(n, 0, -2) for k in range(12)],
        3 in range(0),
        n not in range(n),
    )


def views(m):
    z = m + 1j * m
    z.real[0] = 5
    z.imag[:, 1] += 2
    a = m.reshape(1, 3, 4)
    return (
        z,
        z.conj(),
        a.transpose(2, 0, 1),
        np.transpose(a, (1, 0, 2)),
        np.transpose(a, axes=(2, 1, 0)),
        np.swapaxes(a, 0, -1),
        a.swapaxes(1, 2),
        np.moveaxis(a, 0, -1),
        np.broadcast_to(m[0], (2, 4)),
        np.broadcast_to(m[:, :1], (2, 3, 5)).sum(),
        np.array([m[0], m[1] * 2]),
        np.array((m, m)).shape,
        m.flags.c_contiguous,
        m.T.flags.f_contiguous,
        m[:, ::2].flags.contiguous,
        np.eye(3, 4, 1),
        np.eye(3, k=-1),
        np.linspace(0, 1, 5, endpoint=False),
        np.clip(m, 2, 7),
        np.clip(m, min=3, max=7),
        m.view(np.int64),
        m[0, 1].view(np.int64),
        np.full_like(m, fill_value=3),
    )


def operators(x):
    y = x.copy()
    operator.iadd(y, x)
    operator.imul(y, 2)
    return (
        y,
        operator.add(x, 1),
        operator.sub(1, 2),
        operator.floordiv(7, 2),
        operator.truediv(7, 2),
        operator.mod(7, 4),
        operator.pow(2, 3),
        operator.neg(x),
        operator.not_(x[0] > 1),
        operator.lt(1, 2),
        operator.eq(x, 3.0),
        operator.and_(6, 3),
        operator.xor(6, 3),
        operator.lshift(1, 4),
        operator.getitem(x, 1),
        operator.contains(x, 3.0),
        operator.matmul(x, x),
        operator.abs(-3),
        (5).bit_length(),
        (-6).bit_count(),
    )


@pytest.mark.parametrize(
    ("function", "argument"),
    [(positions, M), (flat, M), (flat, M.T), (starts, X), (ranges, 9), (views, M), (operators, X)],
)
def test_as_in_python(function, argument):
    check(function, argument)


def squares(n, step=1):
    k = 0
    while True:
        if k > n:
            return
        yield k * k, k
        k += step


@njit
def evens(x):
    for v in x:
        if v % 2 == 0:
            yield v


def generators(n):
    def pairs(m):
        for i in range(m):
            for j in range(i):
                yield i, j
        yield m, n

    s = 0
    for v, k in squares(n, step=2):
        if k == 4:
            continue
        s += v * k
    for v, _ in squares(100):
        if v > 30:
            break
        s += v
    else:
        s = -1
    for i, j in pairs(4):
        for v, _ in squares(i):
            s += v * j
    t = 0
    for v, _ in squares(3):
        t = v
    else:
        t += 1000
    return s, t


def returns_inside(n):
    for v, k in squares(n):
        if v > 10:
            return k
    return -1


def test_generators():
    check(generators, 7)
    check(returns_inside, 9)
    check(returns_inside, 2)

    @njit
    def f(x):
        s = 0
        for v in evens(x):
            s += v
        return s

    assert f(np.arange(10)) == 20

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        if i < out.size:
            for v, k in squares(i):
                out[i] += v + k

    out = np.zeros(8)
    kernel[1, 8](out)
    assert out.tolist() == [sum(k * k + k for k in range(i + 1)) for i in range(8)]

    def value(n):
        g = squares(n)
        return next(g)

    check(value, 3)

    @cuda.jit
    def asks(out):
        out[0] = next(squares(3))[0]

    with pytest.raises(NotImplementedError, match="generators as objects"):
        asks[1, 1](np.zeros(1))


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda x: np.zeros_like(x, order="F"), "order="),
        (lambda x: list(zip(x, x, strict=True)), "strict="),
        (lambda x: np.add.reduce(x), r"np\.add\.reduce"),
        (lambda x: np.where(x > 2, x, 0, where=True), "where="),
    ],
)
def test_keywords_without_a_meaning_are_told(function, said):
    with pytest.raises(NotImplementedError, match=said):
        njit(function)(X)
