"""Kernels and functions with declared signatures and options: taken, or refused with a reason."""

import numpy as np
import pytest
from numbus import cuda, jit, njit
from numbus.kernels import CompileError

DTYPES = ["int8", "int32", "uint32", "int64", "uint64", "float32", "float64", "complex64"]


@pytest.mark.parametrize("name", DTYPES)
def test_numbers_become_the_declared_type(name):
    def store(out, v):
        out[0] = v
        out[1] = v + 1

    kernel = cuda.jit(f"void({name}[:], {name})")(store)
    dtype = np.dtype(name)
    for value in (3, 3.7, -1, 2**32 + 5, 1e30, np.float32(2.5), np.int8(-2), True):
        out, wanted = np.zeros(2, dtype), np.zeros(2, dtype)
        kernel[1, 1](out, value)
        with np.errstate(all="ignore"):
            store(wanted, np.asarray(value).astype(dtype)[()])
        assert out.tolist() == wanted.tolist(), value


def test_the_first_signature_that_fits():
    @cuda.jit(["void(int32[:], int32)", "void(float64[:], float64)"])
    def halve(out, v):
        out[0] = v / 2

    for dtype, value, wanted in (("i4", 7.9, 3), ("f8", 7, 3.5)):
        out = np.zeros(1, dtype)
        halve[1, 1](out, value)
        assert out[0] == wanted
    with pytest.raises(TypeError, match=r"\[halve\] no matching signature"):
        halve[1, 1](np.zeros(1, np.float32), 1)
    with pytest.raises(TypeError, match="no matching signature"):
        halve[1, 1](np.zeros(1, np.int32), 1j)


def test_arrays_of_the_device_fit():
    @cuda.jit("void(float32[:, :], float32)")
    def fill(out, v):
        i, j = cuda.grid(2)
        if i < out.shape[0] and j < out.shape[1]:
            out[i, j] = v

    for made in (np.zeros((3, 4), "f4"), cuda.to_device(np.zeros((3, 4), "f4")),
                 cuda.mapped_array((3, 4), np.float32), np.zeros((4, 6), "f4").T[::2]):  # fmt: skip
        fill[1, (8, 8)](made, 2)
        cuda.synchronize()  # nothing else waits for mapped memory
        assert np.asarray(made).tolist() == np.full(made.shape, 2.0).tolist()


def test_compiled_where_declared():
    with pytest.raises(CompileError, match="no method"):

        @cuda.jit("void(uint32[:])")
        def bad(out):
            out.foo()

    with pytest.raises(TypeError, match="returns nothing"):
        cuda.jit("int32(uint32[:])")(lambda out: None)
    with pytest.raises(TypeError, match="wrong number of arguments"):
        cuda.jit("void(uint32[:], int32)")(lambda out: None)


REFUSED = [
    (jit, {"locals": {"x": np.float32}}, NotImplementedError, "locals"),
    (jit, {"forceobj": True}, NotImplementedError, "object mode"),
    (jit, {"looplift": True}, NotImplementedError, "object mode"),
    (jit, {"target": "cuda"}, ValueError, "target"),
    (jit, {"error_model": "c"}, ValueError, "error_model"),
    (cuda.jit, {"extensions": [object()]}, NotImplementedError, "argument handlers"),
]


@pytest.mark.parametrize("decorator, options, error, text", REFUSED)
def test_options_that_would_change_something(decorator, options, error, text):
    with pytest.raises(error, match=text):
        decorator(**options)(lambda x: x)


def test_options_that_say_nothing():
    for options in ({"locals": {}}, {"forceobj": False}, {"target": "cpu"}, {"nogil": True}):
        assert jit(**options)(lambda x: x + 1)(1) == 2
    for options in ({"forceobj": True}, {"nopython": True}):
        with pytest.warns(RuntimeWarning, match="ignored"):
            assert njit(**options)(lambda x: x + 1)(1) == 2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shared", [False, True])
def test_atomics_and_nan(dtype, shared):
    """Python's max(old, value), as in Numba; the nan kinds are np.nanmax and np.nanmin."""

    @cuda.jit
    def update(out, values):
        if shared:
            own = cuda.shared.array(4, dtype)
            for k in range(4):
                own[k] = out[k]
            for k in range(values.size):
                cuda.atomic.max(own, 0, values[k])
                cuda.atomic.min(own, 1, values[k])
                cuda.atomic.nanmax(own, 2, values[k])
                cuda.atomic.nanmin(own, 3, values[k])
            for k in range(4):
                out[k] = own[k]
        else:
            for k in range(values.size):
                cuda.atomic.max(out, 0, values[k])
                cuda.atomic.min(out, 1, values[k])
                cuda.atomic.nanmax(out, 2, values[k])
                cuda.atomic.nanmin(out, 3, values[k])

    nan = float("nan")
    for first in (0.0, nan, -0.0, np.inf):
        for values in ([1, nan, 3], [nan, -1, 2], [nan], [-5, nan], [0.0, -0.0]):
            out = np.full(4, first, dtype)
            wanted = out.copy()
            update[1, 1](out, np.array(values, dtype))
            for v in np.array(values, dtype):
                wanted[0] = max(wanted[0], v)
                wanted[1] = min(wanted[1], v)
                wanted[2] = np.fmax(wanted[2], v)
                wanted[3] = np.fmin(wanted[3], v)
            np.testing.assert_array_equal(out, wanted)


@cuda.jit
def by_branches(out, kinds):
    i = cuda.threadIdx.x
    k = kinds[i]
    if k == 0:
        out[i] = cuda.activemask()
    elif k == 1:
        out[i] = cuda.activemask()
    else:
        for _ in range(k):
            out[i] = cuda.activemask()


@cuda.jit(device=True)
def mask_here():
    return cuda.activemask()


@cuda.jit
def by_calls(out, kinds):
    i = cuda.threadIdx.x
    if kinds[i] == 0:
        out[i] = mask_here()
    else:
        out[i] = mask_here()


@pytest.mark.parametrize("seed", range(4))
def test_active_masks_of_branches(seed):
    kinds = np.random.default_rng(seed).integers(0, 2 + seed // 2, 32)
    bits = [sum(1 << j for j in range(32) if kinds[j] == k) for k in range(3)]
    out = np.zeros(32, np.uint32)
    by_branches[1, 32](out, kinds)
    assert out.tolist() == [bits[k] for k in kinds]
    by_calls[1, 32](out, np.minimum(kinds, 1))
    ones = 0xFFFFFFFF & ~bits[0]
    assert out.tolist() == [bits[0] if k == 0 else ones for k in kinds]


def test_active_masks_stay_apart_in_ptx():
    text, _ = cuda.compile_ptx(by_branches.py_func, "void(uint32[:], int64[:])")
    assert text.count("activemask.b32") >= 3


def test_compile_ptx_options():
    def f(out):
        out[0] = 1

    with pytest.raises(NotImplementedError, match="CPointer"):
        cuda.compile_ptx(f, "void(int32[:])", device=True)
    with pytest.raises(TypeError, match="no such option"):
        cuda.compile_ptx(f, "void(int32[:])", fast=True)
    assert cuda.compile_ptx(f, "void(int32[:])", lineinfo=True)[0]
