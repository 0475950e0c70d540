"""Loops of their own for what moves or searches an array as it is, and powers of integers.

Extremes, copies, rows at indices; powers, whose kernels skip the bits that no exponent has. All of
them beside NumPy, beyond the sizes that are carried out at once.
"""

import numbus as nb
import numpy as np
import pytest
from conftest import DEVICE

REAL = ["i1", "u1", "i2", "i4", "u4", "i8", "u8", "f4", "f8"]
LENGTHS = [1500, 4096, 16384 + 33, 40003]


def numbers(rng, shape, dtype):
    if dtype == "?":
        return rng.random(shape) < 0.5
    if dtype[0] == "f":
        return rng.standard_normal(shape).astype(dtype)
    if dtype[0] == "c":
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    return rng.integers(low, high, shape, dtype=dtype, endpoint=True)


def kinds(rng, shape, dtype):
    """Random numbers, few numbers, one extreme, and of floats zeros of both signs and NaNs."""
    yield numbers(rng, shape, dtype)
    few = rng.integers(0, 3, shape).astype(dtype)
    yield few
    one = np.zeros(shape, dtype)
    one[..., rng.integers(shape[-1])] = 1
    yield one
    if dtype[0] == "f":
        yield np.where(rng.random(shape) < 0.5, 0.0, -0.0).astype(dtype)
        yield np.where(rng.random(shape) < 0.001, np.nan, few - 5).astype(dtype)


def same_bits(x, y):
    x, y = np.asarray(x), np.asarray(y)
    return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()


@pytest.mark.parametrize("dtype", ["?", *REAL])
@pytest.mark.parametrize("name", ["argmax", "argmin", "max", "min"])
def test_extremes(name, dtype):
    rng = np.random.default_rng(len(name) + ord(dtype[-1]))
    shapes = [(n,) for n in LENGTHS] + [(70, n) for n in (17, 33, 64, 100, 127)]
    shapes += [(3, 20000), (9, 5, 77)]
    for shape in shapes:
        for x in kinds(rng, shape, dtype):
            a = nb.array(x)
            nb.synchronize()
            got, want = getattr(nb, name)(a, axis=-1), getattr(np, name)(x, axis=-1)
            np.testing.assert_array_equal(np.asarray(got), want, err_msg=f"{shape}")
            if DEVICE == "cpu" and dtype[0] == "f" and "arg" not in name:
                # As the kernel has it that computes what it reduces.
                assert same_bits(got, getattr(nb, name)(a * 1, axis=-1)), shape


@pytest.mark.parametrize("dtype", ["f8", "i1"])
def test_extremes_of_slices(dtype):
    rng = np.random.default_rng(3)
    x = numbers(rng, (90, 130), dtype)
    a = nb.array(x)
    for part in (np.s_[1:, 3:], np.s_[::2], np.s_[:, ::-1], np.s_[5:6], np.s_[:, :1]):
        for axis in (None, 0, 1):
            for name in ("argmax", "min"):
                got = getattr(nb, name)(a[part], axis=axis)
                want = getattr(np, name)(x[part], axis=axis)
                np.testing.assert_array_equal(np.asarray(got), want)


@pytest.mark.parametrize("name", ["argmax", "argmin", "max", "min"])
def test_extremes_of_rows_with_gaps(name):
    """Units of rows that do not lie side by side begin anywhere in a row."""
    rng = np.random.default_rng(8)
    for columns in (16384, 33000, 50000):
        x = rng.standard_normal((4, columns + 7))
        a = nb.array(x)
        for row in range(4):
            for at in (0, 16384 - 1, columns - 1):
                a[row, at], x[row, at] = (9.0, 9.0) if name.endswith("max") else (-9.0, -9.0)
                nb.synchronize()
                for axis in (None, 1):
                    got = getattr(nb, name)(a[:, :columns], axis=axis)
                    want = getattr(np, name)(x[:, :columns], axis=axis)
                    np.testing.assert_array_equal(np.asarray(got), want)
                a[row, at], x[row, at] = 0.0, 0.0


@pytest.mark.parametrize("dtype", ["?", "i1", "i2", "f4", "f8", "c8", "c16"])
def test_copies(dtype):
    rng = np.random.default_rng(4)
    for shape in ((3001,), (70, 41), (40, 3), (11, 12, 13)):
        x = numbers(rng, shape, dtype)
        a = nb.array(x)
        nb.synchronize()
        for count in (2, 3, 8, 9, 70):
            for axis in (None, *range(len(shape))):
                got, want = nb.repeat(a, count, axis=axis), np.repeat(x, count, axis=axis)
                assert same_bits(got, want), (shape, count, axis)
        for part in (np.s_[::-1], np.s_[::3], np.s_[..., ::-2], np.s_[..., 1:]):
            assert same_bits(a[part].copy(), x[part].copy()), (shape, part)
            assert same_bits(a[part].T.copy(), x[part].T.copy()), (shape, part)
        b, y = nb.zeros(shape, a.dtype), np.zeros(shape, x.dtype)
        b[..., ::2], y[..., ::2] = a[..., : (shape[-1] + 1) // 2], x[..., : (shape[-1] + 1) // 2]
        assert same_bits(b, y), shape


def test_copies_of_truth_values_that_are_other_bytes():
    x = np.arange(3000, dtype=np.uint8).view("?")
    want = x.view("u1") != 0
    a = nb.asarray(x)
    assert same_bits(nb.repeat(a, 3), np.repeat(want, 3))
    assert same_bits(a[::-1].copy(), want[::-1].copy())


@pytest.mark.parametrize("dtype", ["?", "i1", "f4", "f8", "c16"])
def test_rows_at_indices(dtype):
    rng = np.random.default_rng(5)
    cases = [((50, 64), 0), ((50, 33), 1), ((7, 20, 31), 1), ((7, 20, 31), 0), ((4000,), 0)]
    for shape, axis in cases:
        x = numbers(rng, shape, dtype)
        a = nb.array(x)
        for size in ((200,), (9, 30)):
            index = rng.integers(-shape[axis], shape[axis], size)
            i = nb.array(index)
            nb.synchronize()
            assert same_bits(nb.take(a, i, axis=axis), np.take(x, index, axis=axis)), (shape, axis)
            at = (slice(None),) * axis
            np.testing.assert_array_equal(np.asarray(a[at + (i,)]), x[at + (index,)])
        wrong = index.copy()
        wrong.flat[-1] = shape[axis]
        with pytest.raises(IndexError):
            np.asarray(nb.take(a, nb.array(wrong), axis=axis))


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u4", "i8", "u8"])
def test_integer_powers(dtype):
    rng = np.random.default_rng(6)
    x = numbers(rng, 3000, dtype)
    a = nb.array(x)
    top = np.iinfo(dtype).max
    for e in (0, 1, 3, 4, 15, 16, 17, 63, 64, 127, top):
        if e <= top:
            np.testing.assert_array_equal(np.asarray(a**e), x**e)
    for high in (2, 16, 17, 120, top):
        e = rng.integers(0, high, x.size, dtype=dtype, endpoint=True)
        np.testing.assert_array_equal(np.asarray(a ** nb.array(e)), x**e)


@pytest.mark.parametrize("dtype", ["i1", "i2", "f4", "f8"])
@pytest.mark.parametrize("columns", [31, 64, 65, 130])
def test_neighbours_around_the_edges(columns, dtype):
    """Boxes of one row and one column, which cut the vectors of every row."""

    def step(m, x):
        rows = x + m.roll(x, 1, axis=0) - m.roll(x, -1, axis=0)
        return rows + m.roll(rows, 2, axis=1) * 2 - m.roll(rows, -1, axis=1)

    x = np.random.default_rng(7).integers(0, 2, (40, columns)).astype(dtype)
    a = nb.array(x)
    for _ in range(3):
        a, x = step(nb, a), step(np, x)
    np.testing.assert_array_equal(np.asarray(a), x)
