"""Compiled functions: arrays of any shape and strides, views, slices, masks, reductions."""

import numpy as np
import pytest
from jit_check import COMPLEX, NUMBERS, check, function_of, layouts
from numbus import njit

ALL = [*NUMBERS, "bool", *COMPLEX]


def total(x):
    s = x.dtype.type(0)
    for i in range(x.shape[0]):
        s += x[i]
    return s


@pytest.mark.parametrize("t", [t for t in NUMBERS if t != "float16"])
def test_elements(t):
    for x in layouts((7,), t):
        check(total, x)

    def write(x):
        for i in range(x.shape[0]):
            x[i] = x[i] // 2 + i
        return x[-1], x[0]

    for x in layouts((7,), t):
        check(write, x)


@pytest.mark.parametrize("t", ALL)
def test_copy_and_astype(t):
    def f(x):
        return x.copy(), x.astype(np.float64) if x.dtype != np.float64 else x.copy(), x.T.copy()

    if t in COMPLEX:

        def f(x):
            return x.copy(), x.T.copy(), x.real.copy(), x.imag.copy(), np.conj(x)

    for x in layouts((3, 4), t):
        check(f, x)


def test_two_dimensions():
    def f(x):
        s = 0.0
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                s += x[i, j] * (i + 2 * j)
        return s, x[1, 2], x[-1, -1], x[1][2], x.shape, x.ndim, x.size, len(x), x.T[2, 1]

    for x in layouts((3, 4)):
        check(f, x)

    def g(x):
        x[1, 2] = 5
        x[-1] = 7
        x[:, 0] += 2
        x[0][1] *= 3
        x[...] += 1
        x[1:, ::2] = x[:2, ::2]
        return x

    for x in layouts((3, 4)):
        check(g, x)


SLICES = [
    lambda x: x[1:],
    lambda x: x[:-1],
    lambda x: x[::2],
    lambda x: x[::-1],
    lambda x: x[5:1:-2],
    lambda x: x[-3:],
    lambda x: x[:100],
    lambda x: x[100:],
    lambda x: x[3:1],
    lambda x: x[1:-1:3],
    lambda x: x[-1::-3],
    lambda x: x[...],
    lambda x: x[:, None] if x.ndim == 1 else x[:, 1],
    lambda x: x[None],
    lambda x: x[None, :, None],
    lambda x: x[..., np.newaxis],
    lambda x: x[1:5][::-1][1:],
    lambda x: x[slice(1, 4)],
    lambda x: x[-100:-2],
]


@pytest.mark.parametrize("k", range(len(SLICES)))
def test_slices(k):
    for x in layouts((7,)):
        check(SLICES[k], x)


BOXES = [
    lambda x: x[1],
    lambda x: x[:, 1],
    lambda x: x[1:, 1:],
    lambda x: x[::-1, ::-1],
    lambda x: x[1, ::2],
    lambda x: x[..., 0],
    lambda x: x[0, ...],
    lambda x: x[1, None, :],
    lambda x: x[:, ::-1][1:, 1],
    lambda x: x.T,
    lambda x: x.T[1:],
    lambda x: x.ravel(),
    lambda x: x.reshape(-1),
    lambda x: x.reshape(2, -1),
    lambda x: x.reshape((6, 2)),
    lambda x: x.flatten(),
    lambda x: np.transpose(x),
    lambda x: x[:, 2:0:-1],
    lambda x: x[[2, 0]],
    lambda x: x[:, np.array([3, 1, 1])],
    lambda x: x[np.array([-1, 0])],
    lambda x: x[x > 0],
    lambda x: x[np.arange(2)][:, 1],
    lambda x: x + x[0],
    lambda x: x - x[:, :1],
    lambda x: x * x[:, 0][:, None],
    lambda x: x[1:] - x[:-1],
    lambda x: np.where(x > 0, x, -1),
    lambda x: np.sqrt(np.abs(x)) + 2 * x,
    lambda x: (x > 0) & (x < 1),
    lambda x: ~(x > 0),
    lambda x: -x,
    lambda x: x**2,
    lambda x: np.clip(x, -0.5, 0.5),
    lambda x: np.maximum(x, 0),
    lambda x: x.astype(np.float32) * 2,
    lambda x: x.astype(np.int32) // 2,
    lambda x: np.zeros_like(x) + 1,
    lambda x: np.array([x[0, 0], x[0, 1]]),
    lambda x: np.arange(3) + x[0, :3],
    lambda x: x.sum(axis=0),
    lambda x: x.sum(axis=1),
    lambda x: x.sum(axis=-1),
    lambda x: x.mean(axis=0),
    lambda x: x.max(axis=1),
    lambda x: np.min(x, axis=0),
    lambda x: x.argmax(axis=1),
    lambda x: (x > 0).any(axis=0),
    lambda x: np.std(x, axis=1),
    lambda x: np.prod(x, axis=0),
]


@pytest.mark.parametrize("k", range(len(BOXES)))
def test_boxes(k):
    for x in layouts((3, 4)):
        check(BOXES[k], x)


@pytest.mark.parametrize("t", ["int8", "uint8", "int32", "int64", "uint64", "float32", "bool"])
def test_reductions(t):
    def f(x):
        return x.sum(), x.prod(), x.min(), x.max(), x.any(), x.all(), x.argmin(), x.argmax()

    def g(x):
        return x.mean(), x.std(), x.var(), np.count_nonzero(x), np.sum(x), np.mean(x)

    for x in layouts((3, 4), t):
        check(f, x, rtol=1e-5)
        check(g, x, rtol=1e-5)
    for x in layouts((1,), t):
        check(f, x)


def test_reductions_of_nothing_and_nan():
    def f(x):
        return x.sum(), x.prod()

    check(f, np.zeros(0))

    def g(x):
        return x.min()

    with pytest.raises(ValueError):
        njit(g)(np.zeros(0))

    def h(x):
        return x.min(), x.max(), x.argmin(), x.argmax(), x.sum()

    check(h, np.array([1.0, np.nan, 2.0, np.nan]))

    def c(x):
        return x.sum(), x.mean(), x.prod(), x.real.sum(), abs(x).max()

    for x in layouts((3, 4), "complex128"):
        check(c, x)


def test_three_dimensions():
    def f(x):
        s = 0.0
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                for k in range(x.shape[2]):
                    s += x[i, j, k] * (i + 2 * j + 3 * k)
        return s, x[1], x[:, 1, ::-1], x[..., 1], x[0, ..., 1], x.sum(axis=1), x.T[1], x[1, None, 0]

    for x in layouts((2, 3, 4)):
        check(f, x)


def test_zero_dimensions():
    def f(x):
        return x[()] + 1, x.ndim, x.size

    check(f, np.array(2.5))

    def g(x):
        y = np.zeros(())
        y[()] = x
        return y + 1.0

    njit(g)(2.5)


def test_empty():
    def f(x):
        return x + 1, x[::-1], x.sum(), len(x), x.copy()

    check(f, np.zeros(0))
    check(f, np.zeros((0, 3)))
    check(f, np.zeros((3, 0)))


def test_creation():
    def f(n):
        return (
            np.zeros(n),
            np.ones((n, 2)),
            np.full(n, 2.5),
            np.full((2, n), 7, np.int32),
            np.arange(n),
            np.arange(1, n),
            np.arange(0, n, 2),
            np.arange(n, 0, -1),
            np.arange(0.0, 1.0, 0.25),
            np.linspace(0, 1, n),
            np.eye(n),
            np.eye(n, n + 1),
            np.identity(n),
            np.zeros(n, dtype=np.int8),
            np.zeros(n, np.bool_),
            np.array([1, 2, n]),
            np.array([[1.5, 2], [3, n]]),
            np.array((1, 2)),
            np.zeros((n, n), dtype=np.complex128),
            np.ones(n, "float32"),
            np.asarray([1.0, n]),
        )

    check(f, 3)
    check(f, 1)

    def likes(x):
        return np.zeros_like(x), np.ones_like(x), np.full_like(x, 3), np.empty_like(x).shape

    for t in ("int32", "float32", "bool"):
        check(likes, np.ones((2, 3), t))


def test_in_place():
    def f(x, y):
        x += y
        x *= 2
        x[1:] -= y[:-1]
        x -= x[0]
        x[:] = x[::-1]
        return x

    for x in layouts((6,)):
        check(f, x, np.arange(6.0))

    def overlap(x):
        x[1:] = x[:-1]
        x[:-1] += x[1:]
        return x

    for x in layouts((6,)):
        check(overlap, x)

    def casts(x):
        x[:] = x / 2 + 0.25
        x[0] = 7.9
        return x

    check(casts, np.arange(6))
    check(casts, np.arange(6, dtype="float32"))


def test_masks_and_fancy_writes():
    def f(x):
        x[x > 2] = 0
        x[np.array([0, 1])] = 5
        x[[2, 3]] += 1
        return x

    for x in layouts((6,), "int64"):
        check(f, x)

    def g(x, y):
        x[y] = y * 2
        return x

    check(g, np.zeros(6), np.array([3, 1]))

    def h(x, m):
        x[m] = -x[m]
        return x[m].sum(), x[~m]

    check(h, np.arange(6.0), np.arange(6) % 2 == 0)

    def rows(x, i):
        return x[i], x[i, 0], x[i].sum(axis=0)

    check(rows, np.arange(12.0).reshape(4, 3), np.array([2, 0]))

    def pairs(x, i, j):
        return x[i, j]

    check(pairs, np.arange(12.0).reshape(4, 3), np.array([2, 0]), np.array([1, 1]))

    def row_mask(x, m):
        return x[m]

    check(row_mask, np.arange(12.0).reshape(4, 3), np.array([True, False, True, True]))

    def assign_mask(x, m, v):
        x[m] = v
        return x

    check(assign_mask, np.arange(6.0), np.arange(6) > 2, np.array([7.0, 8.0, 9.0]))


def test_run_time_step():
    def f(x, k):
        return x[::k], x[5:1:k]

    check(f, np.arange(10.0), 2)
    check(f, np.arange(10.0), -2)


def test_views_are_returned():
    def f(x):
        return x[1:]

    x = np.arange(5.0)
    y = njit(f)(x)
    y[0] = 99
    assert x[1] == 99

    def g(n):
        a = np.arange(n * 1.0)
        return a[::2], a[1:]

    y, z = njit(g)(10)
    z[1] = 77
    assert y[1] == 77


def test_dtype_values():
    def f(x):
        y = np.zeros(3, x.dtype)
        if x.dtype == np.float32:
            return y, 1
        return y, 0

    check(f, np.ones(2, "float32"))
    check(f, np.ones(2, "int16"))

    def info(x):
        return np.finfo(x.dtype).eps, np.finfo(np.float64).max, np.iinfo(np.int32).max

    check(info, np.ones(2, "float32"))


def test_in_and_iteration():
    def f(x, v):
        n = 0
        for a in x:
            if a == v:
                n += 1
        return v in x, v not in x, n

    check(f, np.arange(5), 3)
    check(f, np.arange(5), 30)


def test_bounds_check():
    def f(x, i):
        return x[i]

    g = njit(boundscheck=True)(f)
    assert g(np.arange(3.0), -1) == 2.0
    for i in (3, -4):
        with pytest.raises(IndexError):
            g(np.arange(3.0), i)


def test_read_only():
    x = np.arange(3.0)
    x.flags.writeable = False

    def f(x):
        return x.sum()

    check(f, x)

    def g(x):
        x[0] = 1

    with pytest.raises(ValueError, match="read-only"):
        njit(g)(x)


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "float32", "float64"])
def test_ranges_of_floats_take_the_step_from_their_first_values(dtype):
    """NumPy rounds the first two of them to the type, and goes on by what is between them."""
    f = function_of(f"np.arange(s, e, d, dtype=np.{dtype})", "s, e, d")
    rng = np.random.default_rng(5)
    for s, e, d in [(-0.5, 3.5, 1.0), (-0.04, 7.0, 1), (0.5, 6, 0.75), *rng.uniform(-5, 5, (9, 3))]:
        if dtype == "uint8":
            s, e, d = abs(s), abs(s) + abs(e), abs(d)
        check(f, float(s), float(e), float(d), rtol=1e-6)
