"""What compiled loops read and write: rows, tuples, memory of Python's, attributes."""

import subprocess
import sys

import numbus as nb
import numpy as np
import pytest

from tests.loops.run import AFTER
from tests.python.test_loops import check, installed

__all__ = ["installed"]  # which every test here uses, too


@pytest.mark.parametrize("after", AFTER)
def test_names_of_rows(after):
    made = check("""
        def f(m, a, t):
            s = 0.0
            for k in range(60):
                for row in m:
                    for x in row:
                        s += x
                    row[k % 3] += 1
                for j, q in enumerate(a):
                    s += q[1] * len(q)
                    q[0] = s
                p, r = t[k % 2], m[k % 2]
                s += p[-1] - r[1]
                if k == 31:
                    print(row, q, p, r)  # the very rows
                    r.append(k)
                    m[0], m[1] = m[1], m[0]
                if k == 50:
                    r = None
            return s, row, q, r is None, p
        out = [f([[1, 2, 3], [4, 5, 6]], np.arange(6.0).reshape(2, 3), [(1, 2), (3, 4)])]
        m = [[0] * 4 for _ in range(5)]
        for i in range(200):
            r = m[i % 5]
            r[i % 4] += i
        kept = r is m[4]
        try:
            for i in range(200):
                r = m[i % 7]
                r[3] = i
        except IndexError as e:
            out.append((str(e), i, r))
        """, after, entered=True)  # fmt: skip
    assert sum(m.entries for m in made) > (3 if after < 50 else 0)


@pytest.mark.parametrize("after", AFTER)
def test_tuples_and_memory_of_pythons(after):
    check("""
        import array
        t, b, d = (3, 5, 8), bytearray(20), array.array("d", [0.5] * 9)
        h, s = array.array("h", [1, 2, 3]), array.array("f", [0.1] * 4)
        n, out = 0, []
        for i in range(300):
            b[i % 20] = (b[i % 20] * 7 + t[i % 3]) % 256
            d[i % 9] += t[-1] * s[i % 4]
            s[i % 4] = d[i % 9] / 3
            n += b[i % 7]
        for x, size in ((b, 20), (h, 3)):
            try:
                for i in range(70000):
                    x[i % size] = i
            except (ValueError, OverflowError) as e:
                out.append((type(e).__name__, str(e), i))
        try:
            for i in range(90):
                t[i % 3] = 1
        except TypeError as e:
            out.append(str(e))
        b.append(3)  # nothing holds its memory any more
        d.append(1.0)
        """, after, entered=True)  # fmt: skip


@pytest.mark.parametrize("after", AFTER)
def test_attributes_of_objects(after):
    check("""
        class A:
            few = 3
            def __init__(self):
                self.n, self.x, self.m = 50, [0.5, 1.5], [[1, 2], [3, 4]]
            def run(self):
                s = 0.0
                for i in range(self.n):
                    self.x[i % 2] += self.few
                    s += self.x[0] * self.m[i % 2][1] + len(self.m)
                    if i == 33:
                        self.n = 2.5
                        self.x = self.x[::-1]
                    for v in self.x:
                        s -= v
                return s, self.n, self.x
        class Slots:
            __slots__ = ("n",)
        class Counted(A):
            asked = 0
            @property
            def few(self):
                Counted.asked += 1
                return 2
        class Hidden(A):
            def __getattribute__(self, name):
                log.append(name)
                return super().__getattribute__(name)
        log, s = [], Slots()
        s.n, total = 7, 0
        for i in range(120):
            total += s.n * A.few
        out = [A().run(), Counted().run(), Counted.asked, len(log)]
        out += [Hidden().run(), len(log)]
        """, after, entered=True)  # fmt: skip


@pytest.mark.parametrize("after", AFTER)
def test_ranges_that_are_reversed(after):
    check("""
        out = []
        for i in reversed(range(150)):
            for k in reversed(range(i % 5, 9, i % 3 + 1)):
                out.append(k)
                if k == 7 and i == 66:
                    print(i, k)
            for k in reversed(range(0)):
                out.append(100)
            for k in reversed(range(5, i % 3, -2)):
                out.append(-k)
        of = reversed(range(100))
        n = 0
        for i in of:
            n += i
        out.append(list(of))
        def f(reversed):
            n = 0
            for i in reversed(range(90)):
                n = n * 3 % 1000 + i
            return n
        out.append(f(lambda x: x))
        """, after, entered=True)  # fmt: skip


@pytest.mark.parametrize("after", AFTER)
def test_functions_that_call_themselves(after):
    made = check("""
        def fib(n):
            return n if n < 2 else fib(n - 1) + fib(n - 2)
        def power(x, n):
            if n == 0:
                return 1.0
            h = power(x, n // 2)
            return h * h * (x if n % 2 else 1.0)
        def search(a, x, lo, hi):
            if lo >= hi:
                return lo
            m = (lo + hi) // 2
            return search(a, x, m + 1, hi) if a[m] < x else search(a, x, lo, m)
        def fact(n):
            return 1 if n == 0 else n * fact(n - 1)
        def even(n):
            return True if n == 0 else odd(n - 1)
        def odd(n):
            return False if n == 0 else even(n - 1)
        def several(n):
            return 0.5 if n == 0 else several(n - 1) if n % 2 else n
        def f():
            def own(n):
                return 1 if n < 3 else own(n - 1) + own(n - 3)
            n, t, a = 0, 0.0, list(range(0, 700, 7))
            for k in range(70):
                n += fib(k % 13) + search(a, k * 9, 0, len(a)) + own(k % 12)
                t += power(1.01, k)
            for k in range(60):
                n += fact(k % 23) % 1000
            for k in range(60):
                n += even(k)
                t += several(k)
            return n, t
        out = [f()]
        """, after, entered=True)  # fmt: skip
    assert sum(m.entries for m in made) > 1


def test_functions_that_call_themselves_too_often():
    check("""
        def deep(n):
            return 0 if n == 0 else 1 + deep(n - 1)
        def ever(n):
            return ever(n + 1) + 1
        def f(n):
            s = 0
            for k in range(200):
                s += deep(k * 2)
            return s if n == 0 else f(n - 1)
        out = [f(0), f(300)]
        try:
            for k in range(90):
                ever(k) if k > 80 else deep(k)
        except RecursionError as e:
            out.append((k, type(e).__name__))
        """, 2, entered=True)  # fmt: skip


@pytest.mark.parametrize("library", [np, nb])
@pytest.mark.parametrize("after", AFTER)
def test_functions_of_numpy_and_math(after, library):
    check("""
        import math
        out, s, n = [], np.float64(0.0), 0
        for i in range(150):
            v = np.sqrt(i) + np.floor(i * 0.37) - np.abs(1.5 - i) + np.maximum(i * 0.5, 30.0)
            s = s + np.minimum(v, np.float64(55.0)) * np.trunc(v / 3)
            n += round(i * 0.5) + math.gcd(i * 6, 84) + round(i)
            s += math.degrees(i) - math.radians(v) + math.pow(i + 0.5, 0.25)
            y = np.minimum(i, 7)
        for bad in (-1.0, float("nan"), float("inf")):
            for i in range(60):
                v = np.sqrt(bad if i == 44 else 2.0)
            out.append(v)
            for i in range(60):
                v = np.maximum(bad if i > 44 else 0.0, -0.0)
            out.append(v)
        try:
            for i in range(60):
                n += round(2.5 if i < 50 else math.nan)
        except ValueError as e:
            out.append((str(e), i))
        """, after, library, entered=True)  # fmt: skip


@pytest.mark.parametrize("after", AFTER)
def test_lists_that_give_up_their_last_items(after):
    made = check("""
        def f(stack, seen):
            n = 0
            while stack:
                v = stack.pop()
                n = (n * 3 + v) % 1000003
                if v < 40 and not seen[v]:
                    seen[v] = True
                    stack.append(v + 1)
                    stack.append(2 * v)
                if n == 77:
                    print(stack)
            return n, stack, seen
        out = [f([1, 5, 9], [False] * 40)]
        l, total = [0.5 * k for k in range(90)], 0.0
        held = l[80]
        try:
            while True:
                total += l[-1]
                l.pop()
                l.pop()
                l.append(total) if len(l) % 7 == 0 else None
        except IndexError as e:
            out.append((str(e), l, total, held))
        class Pile:
            def __init__(self):
                self.given = 0
            def __eq__(self, other):
                raise TypeError("compared")
            def pop(self):
                self.given += 1
                return self.given
        p, n = Pile(), 0
        for k in range(90):
            v = p.pop()
            n += v
        """, after, entered=True)  # fmt: skip
    assert sum(m.entries for m in made) > 0


@pytest.mark.parametrize("after", AFTER)
def test_a_loop_over_none(after):
    """Seed 909096 of the generator: it was taken for a while loop."""
    check("""
        r, out = None, []
        try:
            for i in r:
                out.append(i)
        except TypeError as e:
            out.append(str(e))
        """, after)  # fmt: skip


def test_what_changes_in_long_lists_is_written_back(tmp_path):
    """Bools of long lists are copied; a float that others hold keeps its number."""
    script = """
n = 100_000
b, f = [False] * n, [0.5 * k for k in range(n)]
held = f[::7]
for k in range(3):
    for i in range(n):
        b[i] = i % 3 == k
        f[i] += 1.5
assert b == [i % 3 == 2 for i in range(n)] and all(type(x) is bool for x in b)
assert held == [0.5 * k for k in range(0, n, 7)]
assert f == [0.5 * k + 4.5 for k in range(n)]
print("fine")
"""
    (tmp_path / "long.py").write_text(script)
    options = [sys.executable, "-m", "numbus", "--report", str(tmp_path / "long.py")]
    done = subprocess.run(options, capture_output=True, text=True)
    assert done.stdout == "fine\n", done.stderr


@pytest.mark.parametrize("after", AFTER)
def test_names_that_mean_something_else(after):
    """A list that is not there, an index that an earlier target changes, names within a class."""
    check("""
        def absent(n):
            s = 0
            for i in range(n):
                s += i & 3
                if s < 0:
                    nowhere.pop()
                if s < -1:
                    later.append(i)
            return s
        def targets(n, library):
            x, m = [0, 0], library([[0] * 2, [0] * 2])
            for i in range(n):
                x[0] = 0
                x[0], m[x[0]][1] = 1, i
            for i in range(n):
                x[1] = 0
                x[1] = m[x[1]][0] = i & 1
            return x, m
        class Mangled:
            def __init__(self):
                self.__limit = 3
                setattr(self, "__limit", 100)
            def sum(self, n):
                s = 0
                for i in range(n):
                    s += self.__limit
                return s
        import numpy
        out = [absent(300), targets(300, list), targets(300, numpy.array), Mangled().sum(300)]
        try:
            for i in range(300):
                if i == 250:
                    nowhere.pop()
        except NameError as e:
            out.append((i, str(e)))
        """, after)  # fmt: skip


@pytest.mark.parametrize("exponent", ["1", "2", "3", "7", "2.0", "5.0", "64"])
def test_powers_of_negative_floats(exponent):
    made = check(f"""
        values = [0.5 * k - 3.0 for k in range(13)] + [-0.0, 0.0, -1e-300, 1e200, -1e200, 1.1e-5]
        out = [0.0] * len(values)
        for i in range(13):
            out[i] = values[i] ** {exponent}
        for i in range(len(values)):
            if values[i] ** {exponent} < 0.0:
                out[i] = -(values[i] ** {exponent})
    """, entered=True)  # fmt: skip
    assert not made[0].exits


@pytest.mark.parametrize("head", ["", "__slots__ = 'n', 's'", "n = 3"])
def test_attributes_are_assigned(head):
    check(
        f"""
        class Counter:
            {head or "pass"}
            def run(self, k):
                for i in range(k):
                    self.n += i
                    if i % 3:
                        self.s, self.n = self.n * 0.5, self.n - 1
        c = Counter()
        c.n, c.s = 2, 1.5
        for _ in range(3):
            c.run(20)
        r = c.n, c.s
        c.n = 2 ** 62
        c.run(9)
        r += c.n, c.s
        """,
        entered=True,
    )


@pytest.mark.parametrize("change", [
    "b = a", "b = Watched()", "b = Fixed()", "b = Lazy()", "del a.n", "a = sys", "a = Thing",
])  # fmt: skip
def test_attributes_whose_assignment_is_no_plain_one(change):
    check(f"""
        import sys
        log = []
        class Thing:
            n = 4
        class Watched(Thing):
            def __setattr__(self, name, x):
                log.append((name, x))
                object.__setattr__(self, name, x)
        class Fixed(Thing):
            __slots__ = ()
            n = property(lambda self: 7, lambda self, x: log.append(x))
        class Lazy:
            def __getattr__(self, name):
                return 3
        a, b = Thing(), Thing()
        a.n = b.n = 0
        {change}
        try:
            for i in range(9):
                a.n += 1
                b.n = a.n + b.n
        except AttributeError as e:
            log.append(str(e))
        r = getattr(a, "n", None), getattr(b, "n", None), list(vars(b))
    """)
