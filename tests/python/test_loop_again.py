"""Entries of a loop that are like earlier ones, and those that seem so."""

import numbus as nb
import numpy as np
import pytest

from tests.loops.checking import check, installed  # noqa: F401 - a fixture

CALLS = {
    "the same": "a, b, 2.0; a, b, 3.0; a, b, 4.0; b, a, 5.0",
    "another type": "a, b, 2.0; a, b, 2.0; a, b, 2; a, b, True; a, b, 2.5; a, b, 1 << 70; a, b, 2",
    "NaN": "a, b, 2.0; a, b, 2.0; a, b, float('nan'); a, b, float('inf')",
    "another dtype": "a, b, 2.0; a, b, 2.0; k, b, 2.0; a, k, 2.0; a, b, 2.0; k, k, 2.0",
    "more axes": "a, b, 2.0; a, b, 2.0; a, m, 2.0; a, b, 2.0",
    "one array": "a, b, 2.0; a, b, 2.0; a, a, 2.0; a, b, 2.0; a, a, 2.0; b, b, 2.0",
    "shared memory": "a, b, 2.0; a, b, 2.0; a, a[1:], 2.0; a[1:], a, 2.0; a, b, 2.0",
    "views": "a, b, 2.0; a, b, 2.0; a[::-1], b, 2.0; a, b[::2], 2.0; a[:3], b, 2.0",
    "not enough": "a, b, 2.0; a, b, 2.0; a, b[:5], 2.0; a, b[:0], 2.0; a[:0], b, 2.0",
    "lists": "a, b, 2.0; a, b, 2.0; [1.5] * 9, b, 2.0; a, b.tolist(), 2.0; a, [1] * 9, 2.0",
    "no arrays": "a, b, 2.0; a, b, 2.0; a, None, 2.0; a, b, 'x'; a, b, np.float64(2)",
}


OURS = "the same", "another type", "one array", "shared memory"


@pytest.mark.parametrize(
    ("calls", "library"), [*[(c, np) for c in CALLS], *[(c, nb) for c in OURS]]
)
def test_calls(calls, library):
    check(f"""
        def f(a, b, x):
            s = 0
            for i in range(len(a)):
                a[i] = a[i] * 0.5 + b[i] * x
                s += i
            return s, i
        a, b, m = np.arange(9.0), np.arange(9.0) + 1, np.arange(18.0).reshape(9, 2)
        k = np.arange(9)
        out = []
        for given in {[tuple(c.strip().split(", ")) for c in CALLS[calls].split(";")]}:
            given = [eval(g) for g in given]
            try:
                out.append(f(*given))
            except (TypeError, IndexError, OverflowError, ValueError, UnboundLocalError) as e:
                out.append(str(type(e)))
            out.append([str(x) for x in (*a, *b, *k)])
        """, library=library)  # fmt: skip


NUMBERS = ["True", "1.5 - 2j", "np.bool_(True)", "np.float32(1.25)", "np.uint8(7)"]


@pytest.mark.parametrize("x", NUMBERS)
def test_kinds_of_numbers(x):
    """Of names that are read, and of those that are assigned to, at entries that are alike."""
    check(f"""
        def read(a, n, x):
            s = 0
            for i in range(n):
                s = s + x
                a[i] = i
            return s, i
        def assigned(a, n, x, y):
            for i in range(n):
                x = y
                y = x
                a[i] = a[i] + i
            return x, y, i
        a, out = np.zeros(5), []
        for _ in range(4):
            out.append(read(a, 5, {x}))
            out.append(assigned(a, 5, {x}, {x}))
        """)


def test_arrays_that_may_not_be_written_and_names_that_mean_something_else():
    made = check("""
        import math
        class Other:
            sqrt = staticmethod(lambda x: x + 0.5)
        def f(a, n):
            for i in range(n):
                a[i] = root(a[i]) + math.sqrt(i) + abs(scale)
            return i
        a, out, scale, root = np.arange(1.0, 7), [], 2, math.fabs
        def run():
            try:
                out.append(f(a, 6))
            except ValueError as e:
                out.append(str(e))
            out.append(a.tolist())
        run(); run(); run()
        a.flags.writeable = False
        run()
        a.flags.writeable = True
        run()
        root = math.sqrt
        run(); run()
        root = lambda x: x - 1
        run()
        root, scale = math.fabs, -2.5
        run(); run()
        a = a.reshape(3, 2)[:, 0]
        run()
        a = np.arange(1.0, 7)
        abs = round
        run()
        del abs
        run()
        saved, math = math, Other
        run(); run()
        math = saved
        run()
        math.sqrt, before = math.exp, math.sqrt
        run()
        math.sqrt = before
        run()
        """)
    assert any(loop.plans for loop in made)


def test_no_value_of_the_program_is_kept():
    made = check("""
        import weakref
        class Array(np.ndarray):
            pass
        def f(a, b):
            s = 0.0
            for i in range(a.size):
                s += a[i] * b[i]
            return s
        out = []
        for _ in range(4):
            a, b = np.ones(6), np.ones((2, 6))[1]
            gone = weakref.ref(a), weakref.ref(b)
            out.append(f(a, b))
            del a, b
            out.append([g() is None for g in gone])
        """)
    assert any(loop.plans for loop in made)
