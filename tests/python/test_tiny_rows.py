"""Kernels of many rows of two or four points: on a GPU each row is one vector."""

import itertools

import numbus as nb
import numpy as np
import pytest

HERE = "cuda" if nb.cuda.is_available() else "cpu"
DTYPES = ["f4", "f8", "i1", "i2", "i8", "f2", "c8", "?"]


def drawn(rng, shape, dtype):
    made = rng.integers(-9, 9, shape)
    return (made + 1j * rng.integers(-9, 9, shape) if dtype == "c8" else made).astype(dtype)


def spread(rng, a, ndim):
    """The array with one element along random axes."""
    item = [slice(0, 1) if rng.integers(4) == 0 else slice(None) for _ in range(ndim)]
    return a[tuple(item)]


@pytest.mark.parametrize("columns", [2, 3, 4])
@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_of_a_few(dtype, columns):
    """Operands lie in order, are repeated along axes, or begin in the middle of their memory."""
    rng = np.random.default_rng(columns + 10 * DTYPES.index(dtype))
    for ndim, offset in itertools.product((2, 3, 5), (0, 1)):
        for k in range(4):
            least = round((1 if k == 0 else 40_000) ** (1 / (ndim - 1)))  # rows
            shape = (*(least + int(n) for n in rng.integers(0, 8, ndim - 1)), columns)
            flat = [drawn(rng, int(np.prod(shape)) + 3, dtype) for _ in range(3)]
            wide = [f[offset : offset + int(np.prod(shape))].reshape(shape) for f in flat]
            ours = [
                nb.asarray(f).to_device(HERE)[offset : offset + int(np.prod(shape))].reshape(shape)
                for f in flat
            ]
            state = int(rng.integers(1 << 30))
            (a, b, c), (x, y, z) = (
                [spread(np.random.default_rng(state + k), v, ndim) for k, v in enumerate(given)]
                for given in (wide, ours)
            )
            want = np.where(a == b, c, a * b) + np.zeros(shape, dtype)
            got = nb.where(x == y, z, x * y) + nb.zeros(shape, dtype, device=HERE)
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(np.asarray(got.to_device("cpu")), want)
            # Results that begin in the middle of their memory, too.
            to = nb.zeros(got.size + 3, got.dtype, device=HERE)
            part = to[offset : offset + got.size].reshape(shape)
            np.add(x, z, out=part)
            expected = np.zeros(got.size + 3, got.dtype)
            expected[offset : offset + got.size] = (a + c + np.zeros(shape, dtype)).ravel()
            np.testing.assert_array_equal(np.asarray(to.to_device("cpu")), expected)


@pytest.mark.parametrize("columns", [2, 4])
@pytest.mark.parametrize("rows", [(7,), (4, 5), (40_001,), (40_002,), (210, 200), (30, 40, 31)])
def test_neighbours(rows, columns):
    """Threads take two rows at a time, which may share what they read and lie in one another."""
    rng = np.random.default_rng(len(rows) * columns + rows[-1])
    a = rng.integers(-99, 99, (*rows, columns)).astype("f4")
    x = nb.asarray(a).to_device(HERE)
    all_but_last = (slice(None),) * (len(rows) - 1)
    up, down = (*all_but_last, slice(1, None)), (*all_but_last, slice(None, -1))
    for v in range(3):
        want = a[up] * 2 - a[down] + a[down][..., ::-1]
        got = x[up] * 2 - x[down] + x[down][..., ::-1]
        np.testing.assert_array_equal(np.asarray(got.to_device("cpu")), want)
        if v == 0:
            a[up] += a[down]
            x[up] += x[down]
        elif v == 1:
            a[down] = a[up] - 1
            x[down] = x[up] - 1
        np.testing.assert_array_equal(np.asarray(x.to_device("cpu")), a)
