"""unique and the set functions: lines long enough to be counted, tables, named tuples."""

import numbus as nb
import numpy as np
import pytest

pytestmark = pytest.mark.numbus
INTEGERS = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
OTHERS = "float16 float32 float64 complex64".split()


def line(dtype, n, spread, seed=0):
    """`n` values, some `spread` apart at most around the ends and the middle of the dtype."""
    r = np.random.default_rng(seed)
    t = np.dtype(dtype)
    if t.kind == "b":
        return r.integers(0, 2, n).astype(bool)
    if t.kind in "iu":
        info = np.iinfo(t)
        starts = [info.min, info.max - min(spread, info.max), 0, info.max // 2]
        offsets = r.integers(0, min(spread, info.max), n, endpoint=True).astype(t)
        return offsets + t.type(starts[seed % 4])
    x = (r.integers(-spread, spread, n) / 4).astype(t)
    if t.kind == "f":
        x[:: n // 5 + 1] = np.nan
    return x


def same(got, want):
    got = np.asarray(got)
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", INTEGERS + OTHERS)
@pytest.mark.parametrize("spread", [3, 200, 10_000])
def test_unique_of_long_lines(xp, dtype, spread):
    for seed in range(4):
        x = line(dtype, 1500, spread, seed)
        same(xp.unique(xp.array(x)), np.unique(x))
        got = xp.unique(xp.array(x.reshape(3, -1)), return_counts=True)
        for g, w in zip(got, np.unique(x.reshape(3, -1), return_counts=True), strict=True):
            same(g, w)
        got = xp.unique(xp.array(x.reshape(5, -1)), return_inverse=True, return_counts=True)
        want = np.unique(x.reshape(5, -1), return_inverse=True, return_counts=True)
        for g, w in zip(got, want, strict=True):
            same(g, w)
        got = xp.unique(xp.array(x), True, True, True, equal_nan=False)
        for g, w in zip(got, np.unique(x, True, True, True, equal_nan=False), strict=True):
            same(g, w)


@pytest.mark.parametrize("dtype", INTEGERS + OTHERS)
@pytest.mark.parametrize("other", ["int8", "uint16", "int64", "float32"])
def test_two_long_arrays(xp, dtype, other):
    for seed in range(4):
        x, y = line(dtype, 900, 150, seed), line(other, 600, 90, seed + 1)
        whole = [abs(int(k)) for v in (x, y) if v.dtype.kind in "iu" for k in (v.min(), v.max())]
        if np.result_type(x, y).kind in "fc" and max(whole, default=0) > 2**53:
            continue  # several integers become one float, which NumPy takes for one in both arrays
        p, q = xp.array(x), xp.array(y)
        for name in ("union1d", "intersect1d", "setdiff1d", "setxor1d", "isin"):
            same(getattr(xp, name)(p, q), getattr(np, name)(x, y))
        same(xp.isin(p, q, invert=True), np.isin(x, y, invert=True))
        got = xp.intersect1d(p, q, return_indices=True)
        for g, w in zip(got, np.intersect1d(x, y, return_indices=True), strict=True):
            same(g, w)


def test_values_that_occur_once(xp):
    r = np.random.default_rng(4)
    x, y = r.permutation(2000)[:700], r.permutation(2000)[:600]
    p, q = xp.array(x), xp.array(y)
    for name in ("intersect1d", "setdiff1d", "setxor1d"):
        same(getattr(xp, name)(p, q, True), getattr(np, name)(x, y, True))
    got = xp.intersect1d(p, q, True, True)
    for g, w in zip(got, np.intersect1d(x, y, True, True), strict=True):
        same(g, w)


def test_bytes_of_booleans(xp):
    """A byte that is neither 0 nor 1 is True."""
    x = xp.array((np.arange(600) % 5).astype(np.uint8)).view(bool)
    values, counts = xp.unique(x, return_counts=True)
    assert np.asarray(values).tolist() == [False, True]
    assert np.asarray(counts).tolist() == [120, 480]


def test_slices(xp):
    r = np.random.default_rng(5)
    x = r.integers(0, 2, (6, 4, 3)).astype(np.float32)
    x[0, 0, 0] = x[1, 0, 0] = np.nan
    for axis in (0, 1, 2, -1):
        for flags in ((), (True, True, True), (False, True, False)):
            got, want = xp.unique(xp.array(x), *flags, axis=axis), np.unique(x, *flags, axis=axis)
            got, want = (got, want) if isinstance(want, tuple) else ((got,), (want,))
            for g, w in zip(got, want, strict=True):
                same(g, w)


def test_named_tuples():
    x = np.array([[3, 1], [3, 2]])
    for name in ("unique_all", "unique_counts", "unique_inverse"):
        got, want = getattr(nb, name)(nb.asarray(x)), getattr(np, name)(x)
        assert type(got) is type(want) and got._fields == want._fields
        for g, w in zip(got, want, strict=True):
            same(g, w)
    with pytest.raises(np.exceptions.AxisError):
        nb.unique(nb.asarray(x), axis=2)
    with pytest.raises(ValueError, match="a table; got numbers that are no integers"):
        nb.isin(nb.asarray(x), [0.5], kind="table")


def test_integers_that_a_float_rounds_to_one_number():
    a = np.array([2**64 - 2, 2**64 - 1, 0], np.uint64)
    for b in (np.array([1]), np.array([0, 5]), np.array([1j]), np.array([0.0])):
        got = nb.intersect1d(nb.asarray(a), nb.asarray(b))
        want = np.intersect1d(a, b)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(np.asarray(got), want)
