"""C functions of ctypes in compiled functions, against the same calls in CPython."""

import ctypes
import math
import pathlib
import shutil
import subprocess

import numpy as np
import pytest
from jit_check import check
from numbus import cuda, njit, prange, vectorize
from numbus.kernels import CompileError, UnsupportedError

C = """
#include <stdint.h>
#include <stdbool.h>
#define OF(T, name) T name(T a, T b) { return (T)(a * 3 - b); }
OF(int8_t, i8) OF(int16_t, i16) OF(int32_t, i32) OF(int64_t, i64)
OF(uint8_t, u8) OF(uint16_t, u16) OF(uint32_t, u32) OF(uint64_t, u64)
OF(float, f32) OF(double, f64)
bool both(bool a, bool b) { return a && b; }
int64_t wide(int8_t a, uint8_t b, int16_t c, uint16_t d, int32_t e, uint32_t f, float g, double h,
             int64_t i, bool j) {
  return a + 2 * b + 3 * c + 5 * d + 7 * (int64_t)e + 11 * (int64_t)f + (int64_t)(g * 4) +
         (int64_t)(h * 8) + i + 1000 * j;
}
static int64_t counted;
int64_t count(void) { return ++counted; }
void scale(double* x, int64_t n, double by) { for (int64_t i = 0; i < n; ++i) x[i] *= by; }
void shift(void* x, int32_t n) { for (int32_t i = 0; i < n; ++i) ((int32_t*)x)[i] += i; }
"""
TYPES = {
    "i8": ctypes.c_int8,
    "i16": ctypes.c_int16,
    "i32": ctypes.c_int32,
    "i64": ctypes.c_int64,
    "u8": ctypes.c_uint8,
    "u16": ctypes.c_uint16,
    "u32": ctypes.c_uint32,
    "u64": ctypes.c_uint64,
    "f32": ctypes.c_float,
    "f64": ctypes.c_double,
    "both": ctypes.c_bool,
}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if not compiler:
        pytest.skip("there is no C compiler")
    folder = pathlib.Path(tmp_path_factory.mktemp("foreign"))
    (folder / "f.c").write_text(C)
    made = folder / "libf.so"
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", made, folder / "f.c"], check=True)
    return ctypes.CDLL(str(made))


def typed(function, result, *arguments):
    function.restype, function.argtypes = result, list(arguments)
    return function


@pytest.mark.parametrize("name", TYPES)
def test_each_type(library, name):
    t = TYPES[name]
    g = typed(library[name], t, t, t)

    def f(a, b):
        return g(a, b)

    rng = np.random.default_rng(11)
    for _ in range(12):
        if name[0] == "f":
            a, b = rng.normal(size=2) * 10.0 ** rng.integers(-3, 6)
            check(f, float(a), float(b))
            check(f, int(a), float(b))
        elif name == "both":
            a, b = rng.integers(0, 2, 2)
            check(f, bool(a), bool(b))
        else:
            # Beyond the type, both take the low bits.
            a, b = (int(v) for v in rng.integers(-(2**40), 2**40, 2))
            check(f, a, b)
            check(f, a % 7, -(b % 5))
            check(f, True, b)


def test_many_arguments(library):
    t = ctypes
    g = typed(library.wide, t.c_int64, t.c_int8, t.c_uint8, t.c_int16, t.c_uint16, t.c_int32,
              t.c_uint32, t.c_float, t.c_double, t.c_int64, t.c_bool)  # fmt: skip

    def f(a, b, x):
        return g(a, a, a, a, a, a, x, x, b, a > 0) + g(b, b, b, b, b, b, 0.5, -x, a, False)

    rng = np.random.default_rng(12)
    for _ in range(15):
        a, b = (int(v) for v in rng.integers(-(2**31), 2**31, 2))
        check(f, a, b, float(rng.normal()))


def test_calls_happen_each_time_and_in_order(library):
    g = typed(library.count, ctypes.c_int64)

    @njit
    def f(n):
        s = 0
        for _ in range(n):
            g()
            s = s * 10 + g()
        return s

    first = g()
    got = f(3)
    want = 0
    for k in range(3):
        want = want * 10 + first + 2 * (k + 1)
    assert got == want and g() == first + 7


def test_arrays(library):
    pointer = typed(library.scale, None, ctypes.POINTER(ctypes.c_double), ctypes.c_int64,
                    ctypes.c_double)  # fmt: skip
    address = typed(library.shift, None, ctypes.c_void_p, ctypes.c_int32)

    @njit
    def f(x, k):
        before = x[1]
        pointer(x.ctypes, x.size, 2.0)
        made = x + 1.0
        pointer(made.ctypes, made.size, 3.0)
        address(k.ctypes.data, k.size)
        address(k.ctypes, k.size)
        return before, x[1], made

    x, k = np.arange(5.0), np.arange(5, dtype=np.int32)
    before, after, made = f(x, k)
    assert (before, after) == (1.0, 2.0)
    assert made.tolist() == [3.0 * (2.0 * v + 1.0) for v in range(5)]
    assert x.tolist() == [2.0 * v for v in range(5)] and k.tolist() == [3 * v for v in range(5)]

    def g(k):
        address(k.ctypes.data, 3)
        address(k.ctypes, 2)
        return k

    check(g, np.arange(5, dtype=np.int32))


def test_by_address_and_by_prototype(library):
    there = ctypes.cast(library.f64, ctypes.c_void_p).value
    kind = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)
    by_address, by_name = kind(there), kind(("f64", library))
    check(lambda a: by_address(a, 1.0), 2.5)
    check(lambda a: by_name(a, 1.0), 2.5)


def test_in_parallel_loops_ufuncs_and_other_functions():
    cos = typed(ctypes.CDLL(None).cos, ctypes.c_double, ctypes.c_double)

    @njit
    def one(v):
        return cos(v)

    @njit(parallel=True)
    def f(x):
        r = np.empty_like(x)
        for i in prange(x.size):
            r[i] = one(x[i]) + cos(0.0)
        return r

    x = np.linspace(-3, 3, 1000)
    want = np.array([math.cos(v) for v in x])
    assert (f(x) == want + 1.0).all()
    u = vectorize(lambda v: cos(v))
    assert (np.asarray(u(x)) == want).all()
    v = vectorize(["float64(float64)"])(lambda v: cos(v))
    assert (np.asarray(v(x)) == want).all()


def test_another_function_of_the_same_name_is_another(library):
    t = ctypes.c_int64
    g = typed(library.i64, t, t, t)

    @njit
    def f(a):
        return g(a, 1)

    assert f(5) == 14
    g = typed(ctypes.CDLL(None).labs, t, t)
    f2 = njit(lambda a: g(a))
    assert f2(-5) == 5 and f(5) == 14


def refused(f, *args):
    with pytest.raises(CompileError) as error:
        njit(f)(*args)
    return str(error.value)


def test_what_is_refused(library):
    d = ctypes.c_double
    bare = ctypes.CDLL(None).cosh
    assert "argtypes" in refused(lambda: bare(1.0))
    callback = ctypes.CFUNCTYPE(d, d)(lambda v: v)
    assert "Python function" in refused(lambda: callback(1.0))
    locked = typed(ctypes.PyDLL(None).sinh, d, d)
    assert "lock" in refused(lambda: locked(1.0))
    errno = typed(ctypes.CDLL(None, use_errno=True).tanh, d, d)
    assert "errno" in refused(lambda: errno(1.0))
    checked = typed(ctypes.CDLL(None).tan, d, d)
    checked.errcheck = lambda result, function, arguments: 0.0
    assert "errcheck" in refused(lambda: checked(1.0))
    text = typed(ctypes.CDLL(None).strlen, ctypes.c_size_t, ctypes.c_char_p)
    assert "c_char_p" in refused(lambda: text("a"))

    class Own(ctypes.c_double):
        pass

    own = typed(ctypes.CDLL(None).atan, d, Own)
    assert "Own" in refused(lambda: own(1.0))
    gives = typed(ctypes.CDLL(None).malloc, ctypes.c_void_p, ctypes.c_size_t)
    assert "c_void_p" in refused(lambda: gives(8))

    t = ctypes.c_int64
    g = typed(library.i64, t, t, t)
    assert "argument 2 of i64() is an integer; got" in refused(lambda: g(1, 2.0))
    assert "2 arguments" in refused(lambda: g(1))
    refused(lambda: g(1, None))
    refused(lambda: g(1, b=2))
    s = typed(library.scale, None, ctypes.POINTER(d), t, d)
    assert "float64" in refused(lambda x: s(x.ctypes, 3, 1.0), np.arange(3))
    refused(lambda x: s(x, 3, 1.0), np.ones(3))
    refused(lambda x: s(x.ctypes.data, 3, 1.0), np.ones(3))
    with pytest.raises(UnsupportedError):

        @cuda.jit
        def kernel(r):
            r[0] = g(1, 2)

        kernel[1, 1](np.zeros(1))
