"""Globals and closures of compiled functions: constants as they are when it is compiled."""

import gc
import linecache
import sys
import threading
import types
import weakref

import numbus as nb
import numpy as np
import pytest
from numbus import cuda, guvectorize, njit, stencil, vectorize
from numbus.kernels import UnsupportedError

N = 1
PAIR = (1, 2.5)
NESTED = ((1, 2), (3.0, (4, 5)))
TABLE = np.arange(4.0)
LABEL = "one"


def inner(x):
    return x + N


compiled_inner = njit(inner)


def plus(x):
    return x + N


def through(x):
    return inner(x) * 2


def through_compiled(x):
    return compiled_inner(x) * 2


def module_of(name, value):
    module = types.ModuleType(name)
    module.value = value
    return module


SETTINGS = module_of("settings", 3)


def from_module(x):
    return x + SETTINGS.value


def looked_up(i):
    return TABLE[i]


def labelled(x):
    return x + 1 if LABEL == "one" else x + 2


def paired(x):
    return PAIR[0] * x + PAIR[1] + NESTED[1][1][0]


def factorial(n):
    return N if n < 2 else n * factorial(n - 1)


def even(n):
    return N if n == 0 else odd(n - 1)


def odd(n):
    return -N if n == 0 else even(n - 1)


def defaults(x, y=7):
    return x + y


CASES = [
    (plus, "N", [1, 2, 2.5, True, 1 + 2j, np.float32(3), np.int8(4), -0.0, float("nan")], (3,)),
    (through, "N", [1, 2, 0.5], (3,)),
    (through_compiled, "N", [1, 2, 0.5], (3,)),
    (
        looked_up,
        "TABLE",
        [np.arange(4.0), np.arange(4.0) * 2, np.arange(4), np.ones(3, "f4")],
        (2,),
    ),
    (labelled, "LABEL", ["one", "two", "one"], (3,)),
    (paired, "PAIR", [(1, 2.5), (2, 2.5), (2, 3.5), (2.0, 3.5)], (3,)),
    (paired, "NESTED", [((1, 2), (3.0, (4, 5))), ((1, 2), (3.0, (6, 5)))], (3,)),
    (factorial, "N", [1, 2, 1.5], (5,)),
    (even, "N", [1, 2, 1.5], (6,)),
    (odd, "N", [1, 2, 1.5], (6,)),
]


@pytest.mark.parametrize("function, name, values, args", CASES)
def test_compiled_again(monkeypatch, function, name, values, args):
    for value in [*values, values[0]]:
        monkeypatch.setattr(sys.modules[__name__], name, value)
        # Called by CPython, the compiled function inside keeps what it was compiled with.
        wanted = (through if function is through_compiled else function)(*args)
        got = njit(function)(*args)
        assert np.array_equal(got, wanted, equal_nan=True), (value, got, wanted)
        assert isinstance(got, complex) == isinstance(wanted, complex)


def test_attributes_of_modules(monkeypatch):
    for value in (3, 4, 4.5):
        monkeypatch.setattr(SETTINGS, "value", value)
        assert njit(from_module)(1) == 1 + value


def test_defaults_and_closures():
    def make(k):
        def scaled(x, by=k):
            return x * k + by

        return scaled

    for k in (2, 3, 2.5, 2):
        assert njit(make(k))(5) == make(k)(5)
    assert njit(defaults)(1) == 8
    defaults.__defaults__ = (9,)
    try:
        assert njit(defaults)(1) == 10
    finally:
        defaults.__defaults__ = (7,)


def test_an_array_changed_in_place(monkeypatch):
    table = np.arange(4.0)
    monkeypatch.setattr(sys.modules[__name__], "TABLE", table)
    assert njit(looked_up)(1) == 1
    table[1] = 50
    assert njit(looked_up)(1) == 50
    table.dtype = np.int64  # the same bytes mean other numbers
    assert njit(looked_up)(1) == table[1]


def test_shapes_of_global_arrays(monkeypatch):
    def described():
        return TABLE.ndim, TABLE.size, TABLE.sum()

    for value in (np.array(3.5), np.ones((2, 3)), np.ones((3, 2), order="F"), np.zeros((0, 2))):
        monkeypatch.setattr(sys.modules[__name__], "TABLE", value)
        assert njit(described)() == (value.ndim, value.size, value.sum())


def test_one_dispatcher_keeps_what_it_has_compiled(monkeypatch):
    """As Numba: a compiled combination of types stays; another one sees the globals of then."""
    f = njit(plus)
    assert f(1) == 2
    monkeypatch.setattr(sys.modules[__name__], "N", 10)
    assert f(1) == 2 and f(1.0) == 11.0


def test_kernels_see_the_globals_of_the_moment(monkeypatch):
    def kernel(out):
        out[0] = inner(1)

    out = np.zeros(1)
    for value in (1, 2, 1):
        monkeypatch.setattr(sys.modules[__name__], "N", value)
        cuda.jit(kernel)[1, 1](out)
        assert out[0] == 1 + value


def test_functions_of_elements_see_the_globals_of_the_moment(monkeypatch):
    def add(x):
        return x + N

    def rows(x, out):
        for i in range(x.size):
            out[i] = x[i] + N

    def beside(a):
        return a[-1] + N

    x = np.arange(4.0)
    for value in (1, 2, 1):
        monkeypatch.setattr(sys.modules[__name__], "N", value)
        assert vectorize(add)(x).tolist() == (x + value).tolist()
        assert vectorize(add)(nb.asarray(x)).tolist() == (x + value).tolist()
        g = guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")(rows)
        assert g(x).tolist() == (x + value).tolist()
        assert stencil(beside)(x)[1:].tolist() == (x[:-1] + value).tolist()


def test_equal_closures_share_one_function():
    from numbus.kernels._resolve import program

    def make(k):
        def f(x):
            return x + k

        return f

    njit(make(1))(1)
    before = len(program.functions)
    for _ in range(5):
        assert njit(make(1))(1) == 2
    assert len(program.functions) == before


def test_functions_are_not_kept_alive():
    class Large:
        pass

    def make():
        held = Large()
        kept.append(weakref.ref(held))

        def f(x):
            return x + 1

        f.held = held
        return njit(f)

    kept = []
    f = make()
    assert f(1) == 2
    del f
    gc.collect()
    assert kept[0]() is None


MASKED = np.ma.masked_array([1.0, 2.0], [False, True])
RECORDS = np.zeros(2, [("x", "f8")])


def of_masked():
    return MASKED.sum()


def of_records():
    return RECORDS[0]


@pytest.mark.parametrize("function", [of_masked, of_records])
def test_not_yet_as_globals(function):
    """What would lose a part is told with its line."""
    with pytest.raises(UnsupportedError, match="not yet") as error:
        njit(function)()
    assert error.value.line == function.__code__.co_firstlineno + 1
    with pytest.raises(UnsupportedError, match="not yet"):

        @cuda.jit
        def kernel(out):
            out[0] = MASKED[0]

        kernel[1, 1](np.zeros(1))


def test_several_threads_compile_at_once():
    """Threads that call a new function together get its result, and it is compiled once."""
    text = """
def f{0}(x):
    total = 0.0
    for i in range(x.shape[0]):
        total += np.median(x[i:]) + np.sort(x)[0] + g{0}(x)
    return total
def g{0}(x):
    return np.argsort(x)[0] + f0(x[:0]) * 0.0
def f0(x):
    return 1.0
"""
    for seed in range(1, 6):
        file = f"<threads {seed}>"
        lines = text.format(seed)
        linecache.cache[file] = (len(lines), None, lines.splitlines(True), file)
        names = {"np": np}
        exec(compile(lines, file, "exec"), names)
        f, got, start = njit(names[f"f{seed}"]), [], threading.Barrier(8)

        def run(f=f, got=got, start=start):
            start.wait()
            got.append(f(np.arange(6.0)))

        threads = [threading.Thread(target=run) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert got == [names[f"f{seed}"](np.arange(6.0))] * 8
        assert len(f.signatures) == 1


def test_renamed_function():
    """Its source is found by the name that it was written under."""

    def written(x):
        return x + N

    written.__name__ = written.__qualname__ = "shown"
    assert njit(written)(2) == 2 + N


def test_several_threads_launch_a_new_kernel():
    for seed in range(4):

        def kernel(out, seed=seed):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = i + N + seed

        k, got, start = cuda.jit(kernel), [], threading.Barrier(6)

        def run(k=k, got=got, start=start):
            out = np.zeros(64)
            start.wait()
            k[1, 64](out)
            got.append(out)

        threads = [threading.Thread(target=run) for _ in range(6)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert len(got) == 6 and all((g == np.arange(64) + N + seed).all() for g in got)
