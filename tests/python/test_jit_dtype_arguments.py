"""Element types as arguments of compiled functions: NumPy's classes and dtypes, Numba's types."""

import numpy as np
import pytest
from numbus import cuda, njit
from numbus.kernels import types

NUMBERS = "bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split()
NAMES = [*NUMBERS, "complex64", "complex128"]


def made(x, d):
    a = np.zeros(3, d)
    b = np.array([1, 2], dtype=d)
    c = x.astype(d)
    e = np.empty_like(x, dtype=d)
    e[...] = d(1)
    return a, b, c, e, np.full((2, 2), 3, d), np.ones_like(x, dtype=d), x.sum(dtype=d)


def with_default(n, dtype=np.float64):
    return np.arange(n).astype(dtype)


@pytest.mark.parametrize("name", NAMES)
def test_classes_give_numpys_types(name):
    d, x = getattr(np, name), np.array([0.0, 1.0, 2.0])
    for got, want in zip(njit(made)(x, d), made(x, d), strict=True):
        np.testing.assert_array_equal(got, want, strict=isinstance(got, np.ndarray))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("how", ["dtype", "numba"])
def test_dtypes_and_numbas_types_are_the_same(name, how):
    d = np.dtype(name.strip("_")) if how == "dtype" else getattr(types, name)
    got = njit(with_default)(4, d)
    np.testing.assert_array_equal(got, with_default(4, getattr(np, name)), strict=True)


def test_default_keyword_and_tuple():
    f = njit(with_default)
    assert f(2).dtype == np.float64 and f(2, dtype=np.int8).dtype == np.int8
    pair = njit(lambda n, ds: (np.zeros(n, ds[0]), np.ones(n, ds[1])))(2, (np.int8, np.float32))
    assert [a.dtype for a in pair] == [np.int8, np.float32]
    assert len(f.signatures) == 2 and "dtype(int8)" in str(f.signatures)


def test_passed_on_and_compared():
    inner = njit(lambda d: np.zeros(2, d))
    outer = njit(lambda d, x: (inner(d), inner(x.dtype), d == np.float32))
    for d in (np.float32, np.int16):
        a, b, same = outer(d, np.ones(2, np.int8))
        assert a.dtype == d and b.dtype == np.int8 and same == (d is np.float32)


def test_kernel():
    @cuda.jit
    def kernel(a, d):
        a[cuda.grid(1)] = d(1.5)

    a = np.zeros(3)
    kernel[1, 3](a, np.int8)
    kernel[1, 1](a, np.float32)
    cuda.synchronize()
    assert a.tolist() == [1.5, 1.0, 1.0]


@pytest.mark.parametrize("d", [np.datetime64, np.dtype("U3"), np.dtype([("a", "i4")])])
def test_other_types_are_refused(d):
    with pytest.raises(TypeError, match="not available in Numbus"):
        njit(with_default)(2, d)
