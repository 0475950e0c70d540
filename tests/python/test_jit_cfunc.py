"""Functions that C calls: cfunc, and carray and farray over the pointers that they are given."""

import ctypes
import linecache
import threading

import numpy as np
import pytest
from numbus import cuda, njit
from numbus.kernels import CompileError, carray, cfunc, farray, types


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


# --- without Python on the way ---


NUMBERS = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split()
OF_C = {"bool": ctypes.c_bool, "float32": ctypes.c_float, "float64": ctypes.c_double} | {
    n: getattr(ctypes, f"c_{n}") for n in NUMBERS[1:9]
}


@pytest.mark.parametrize("seed", range(40))
def test_random_parameters(seed):
    """Registers of both kinds, and the stack: each parameter has a weight of its own."""
    rng = np.random.default_rng(seed)
    named = [str(t) for t in rng.choice(NUMBERS, int(rng.integers(1, 22)))]
    result = str(rng.choice(["int64", "float64", "float32", "int16", "uint32"]))
    values = []
    for t in named:
        if t.startswith("float"):
            values.append(float(rng.integers(-99, 99)) / 4)
        elif t == "bool":
            values.append(bool(rng.integers(2)))
        else:
            low, high = max(np.iinfo(t).min, -(2**20)), min(np.iinfo(t).max, 2**20)
            values.append(int(rng.integers(low, high, endpoint=True)))
    weights = [int(w) for w in rng.integers(-9, 9, len(named))]
    names = [f"x{k}" for k in range(len(named))]
    terms = " + ".join(f"np.float64({n}) * {w}" for n, w in zip(names, weights, strict=True))
    source = f"def f({', '.join(names)}):\n    return {terms}\n"
    file = f"<cfunc {seed}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    scope = {"np": np}
    exec(compile(source, file, "exec"), scope)
    expected = scope["f"](*values)
    if "int" in result:
        low, high = np.iinfo(result).min, np.iinfo(result).max
        if not low <= expected <= high:
            result = "float64"
    signature = f"{result}({', '.join(n.replace('bool', 'boolean') for n in named)})"
    f = cfunc(signature)(scope["f"])
    kind = ctypes.CFUNCTYPE(OF_C[result], *[OF_C[n] for n in named])
    assert kind(f.address)(*values) == np.dtype(result).type(expected)


def test_registers_that_hold_more():
    """A caller leaves what it likes above a narrow argument."""

    @cfunc("int64(int8, uint16, boolean, int32)")
    def f(a, b, c, d):
        return a + b * 2 + c * 100000 + d * 1000000

    wide = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 4)(f.address)
    dirty = 0x1234567800000000
    assert wide(dirty | 0xAB00 | 0xFB, dirty | 0x10003, dirty | 0x100, dirty | 0xFFFFFFFF) == (
        -5 + 6 + 0 - 1000000
    )


def test_errors_are_written(capfd, monkeypatch):
    seen = []
    monkeypatch.setattr("sys.unraisablehook", lambda u: seen.append((u.exc_value, u.object)))

    @cfunc("float64(int64)")
    def f(n):
        if n > 2:
            raise ValueError(f"{n} is too many")
        x = np.zeros(3)
        return x[n + 1] + 10 // int(n)

    assert f.ctypes(1) == 10.0 and not seen
    assert f.ctypes(3) == 0.0 and f.ctypes(0) == 0.0 and f.ctypes(2) == 0.0
    kinds = [type(e) for e, _ in seen]
    assert kinds == [ValueError, ZeroDivisionError, IndexError]
    assert str(seen[0][0]) == "3 is too many" and "'f', which C called" in seen[0][1]

    @cfunc("void(int64)")
    def shows(n):
        print("n is", n)

    shows.ctypes(4)
    assert "n is 4" in capfd.readouterr().out

    @cfunc("int64(int64)")
    def deep(n):
        return deep_down(n)

    assert deep.ctypes(1) == 0 and type(seen[-1][0]) is RecursionError


@njit("int64(int64)")
def deep_down(n):
    return 0 if n < 0 else deep_down(n + 1) + 1


def test_threads_without_pythons_lock():
    """Several threads of C's run it at the same time, which Python's lock would not let them."""

    @cfunc("float64(float64, int64)")
    def slow(x, n):
        s = 0.0
        for i in range(n):
            s += np.sin(x + i)
        return s

    want = slow.ctypes(0.5, 1000)
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(slow.ctypes(0.5, 1000))) for _ in range(8)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [want] * 8


def test_within_compiled_code():
    """C calls it while compiled code runs that has called C: an error is its own."""
    libc = ctypes.CDLL(None)

    @cfunc("int32(CPointer(int64), CPointer(int64))")
    def order(a, b):
        return 1 if a[0] > b[0] else -1 if a[0] < b[0] else 0

    qsort = libc.qsort
    qsort.argtypes = [ctypes.POINTER(ctypes.c_int64), ctypes.c_size_t, ctypes.c_size_t,
                      ctypes.c_size_t]  # fmt: skip
    qsort.restype = None
    address = order.address

    @njit
    def sorts(x):
        qsort(x.ctypes, x.size, 8, address)
        return x[0]

    x = np.random.default_rng(4).integers(-99, 99, 50)
    want = np.sort(x)
    assert sorts(x) == want[0] and (x == want).all()


def test_results_are_cast():
    assert cfunc("int32(float64)")(lambda x: x * 2).ctypes(1.75) == 3
    assert cfunc("boolean(int64)")(lambda x: x).ctypes(4) is True
    assert cfunc("float32(int64)")(lambda x: x).ctypes(4) == 4.0
    with pytest.raises(CompileError, match="returns"):
        cfunc("void(float64)")(lambda x: x)
    with pytest.raises(CompileError, match="returns"):
        cfunc("float64(float64)")(lambda x: None)

    def sometimes(x):
        if x > 1:
            return x

    for make in (cfunc("float64(float64)"), lambda f: cuda.compile(f, "float64(float64)")):
        with pytest.raises(CompileError, match="this returns None"):
            make(sometimes)
