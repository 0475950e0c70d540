"""Functions that C calls: cfunc, and carray and farray over the pointers that they are given."""

import ctypes

import numpy as np
import pytest
from numbus import njit
from numbus.kernels import carray, cfunc, farray, types


@cfunc("float64(float64, float64)")
def hypot(x, y):
    return (x * x + y * y) ** 0.5


def test_numbers():
    assert hypot.ctypes(3.0, 4.0) == 5.0 and hypot.address > 0 and "hypot" in hypot.native_name
    again = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)(hypot.address)
    assert again(6.0, 8.0) == 10.0
    assert hypot.__wrapped__(3.0, 4.0) == 5.0 and "define" in hypot.inspect_llvm()
    assert njit(lambda x: hypot(x, 4.0) + 1)(3.0) == 6.0


@pytest.mark.parametrize("name", ["int8", "int32", "uint16", "int64", "uint64", "float32"])
def test_types(name):
    t = getattr(types, name)

    @cfunc(t(t, t))
    def added(x, y):
        return x + y

    want = np.dtype(name).type(100) + np.dtype(name).type(27)
    assert added.ctypes(100, 27) == want
    if np.dtype(name).kind != "f":
        most = np.iinfo(name).max
        assert added.ctypes(int(most), 1) == np.iinfo(name).min  # as NumPy's wrap


def test_scipy_takes_it():
    integrate = pytest.importorskip("scipy.integrate")
    from scipy import LowLevelCallable

    @cfunc("float64(float64)")
    def square(x):
        return x * x

    found, _ = integrate.quad(LowLevelCallable(square.ctypes), 0.0, 3.0)
    assert abs(found - 9.0) < 1e-12


def filled(make, order):
    @cfunc(types.void(types.CPointer(types.float64), types.CPointer(types.int32), types.intp))
    def fill(out, k, n):
        a = make(out, (n, n + 1))
        b = make(k, n)
        for i in range(n):
            b[i] = i
            for j in range(n + 1):
                a[i, j] = 10 * i + j
        out[0] = 77.0

    out, k = np.zeros((3, 4), order=order), np.zeros(3, np.int32)
    of = ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_int32)
    fill.ctypes(out.ctypes.data_as(of[0]), k.ctypes.data_as(of[1]), 3)
    want = np.add.outer(10.0 * np.arange(3), np.arange(4.0))
    want[0, 0] = 77
    assert (out == want).all() and k.tolist() == [0, 1, 2]


def test_pointers():
    filled(carray, "C")
    filled(farray, "F")


def test_qsort():
    libc = ctypes.CDLL(None)

    @cfunc("int32(CPointer(int64), CPointer(int64))")
    def order(a, b):
        x, y = carray(a, 1)[0], b[0]
        return 1 if x > y else -1 if x < y else 0

    x = np.random.default_rng(4).integers(-99, 99, 50)
    want = np.sort(x)
    libc.qsort(x.ctypes.data_as(ctypes.c_void_p), 50, 8, order.ctypes)
    assert (x == want).all()


def test_in_python():
    x = np.arange(12.0)
    p = x.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    a, b = carray(p, (3, 4)), farray(x.ctypes.data, (3, 4), np.float64)
    assert (a == x.reshape(3, 4)).all() and (b == x.reshape(3, 4, order="F")).all()
    a[0, 0] = 5
    assert x[0] == 5 and carray(p, 3).shape == (3,)
    with pytest.raises(TypeError, match="what lies at the pointer"):
        carray(x.ctypes.data, 3)


def test_another_dtype_at_a_pointer():
    @cfunc("int64(CPointer(uint8), int64)")
    def total(p, n):
        a = carray(p, n, np.int32)
        return a.sum()

    x = np.arange(5, dtype=np.int32)
    assert total.ctypes(x.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8)), 5) == 10


def test_what_is_refused():
    for signature in ("complex128(float64)", "float64(float64[:])"):
        with pytest.raises(NotImplementedError, match="not yet: a function that C calls"):
            cfunc(signature)(lambda x: x)
    with pytest.raises(TypeError):
        cfunc("float64(float64)", nonsense=1)(lambda x: x)
