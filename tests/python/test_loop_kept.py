"""Loops whose code is on disk: they begin without NumPy and the core's arrays, and do the same."""

import os
import subprocess
import sys
import textwrap

import pytest
from numbus.loops import kept, marks

from tests.loops.checking import check, installed  # noqa: F401 - a fixture
from tests.loops.grow import script
from tests.loops.run import AFTER, differences

HEAD = """
import array, math, sys
def told():
    print("numpy" in sys.modules, file=sys.stderr)
"""
SCRIPTS = {
    "numbers": """
        def f(n, x):
            s, t, z, b = 0, 0.5, 1 + 0j, False
            for i in range(n):
                s += i & 7
                t = math.sin(t) + x
                z = z * z * 0.5 - x
                b = not b
                if abs(z) > 2:
                    z = 0.5j
            return s, t.hex(), z, b
        print(f(1000, 0.25), f(1001, 2))
    """,
    "lists": """
        def f(n):
            a, b, c = list(range(n)), [k * 0.5 for k in range(n)], [False] * n
            m = [[k * j for j in range(5)] for k in range(7)]
            grown, keep = [1], [a[k] for k in range(n)]
            for i in range(n):
                a[i] += a[-i]
                b[n - 1 - i] *= 1.5
                c[i] = a[i] % 3 == 1
                m[i % 7][i % 5] -= i
                grown.append(a[i])
                if i % 9 == 8:
                    grown.pop()
            return a, b, c, m, grown, keep
        print(f(50), f(300))
    """,
    "long bools": """
        def f(n):
            p = [True] * n
            count = 0
            for i in range(2, n):
                if p[i]:
                    count += 1
                    for j in range(i * i, n, i):
                        p[j] = False
            return count, p[-9:]
        print(f(100), f(50000))
    """,
    "made lists": """
        def f(n):
            row, before = [1.5, 2.5], [1] * 9
            for i in range(n):
                q = [k + i for k in before]
                row = [0.5] * (i % 5 + 1)
                before, q = q, before
                before[0] = q[1] - len(row)
                s = q
            return before, row, s is q, q
        print(f(30), f(500))
    """,
    "memory": """
        def f(n):
            a, b = array.array("b", range(100)), array.array("d", [0.5]) * 100
            c, d, u = bytearray(range(100)), bytes(range(100)), array.array("H", [9]) * 100
            for i in range(n):
                b[i % 100] += d[i % 100]
                c[i % 100] = c[(i * 7) % 100]
                a[i % 100] = d[(i * 3) % 100]
                u[i % 100] += a[i % 100]
            return a, b, c, u
        print(f(1000))
    """,
    "functions and objects": """
        K = 3
        def g(x, y=2):
            return x * y + K if x % 2 else h(x)
        def h(x):
            return x // 3
        class C:
            def __init__(self):
                self.count, self.rows = 0, [[1, 2], [3, 4]]
            def part(self, i):
                return self.rows[i % 2][1] + K
            def run(self, n):
                s = 0
                for i in range(n):
                    s += g(i) + self.part(i)
                    self.count += 1
                return s
        c = C()
        print(c.run(500), c.count)
        K = 4.5
        print(c.run(500), c.count)
    """,
    "what is left": """
        def f(n, d):
            s = 1
            l = [1] * 40
            for i in range(n):
                s = s * 3 + i
                l[i % 40] = s // (d - i)
            return s
        for d in (10**9, 500):
            try:
                print(f(600, d))
            except ZeroDivisionError as e:
                print(e, e.__traceback__.tb_next.tb_lineno)
        def g(l, n):
            for i in range(n):
                l[i] += 1
        l = [2] * 70
        try:
            g(l, 100)
        except IndexError as e:
            print(e, e.__traceback__.tb_next.tb_lineno, l)
    """,
    "other types later": """
        def f(n, x):
            while n > 0:
                n -= 1
                x += x * 0.5 if x < 1e9 else -x
            return x
        print(f(100, 2), f(100, 2.5), f(100, True), f(100, 1j.real))
    """,
}  # fmt: skip
AFTERWARDS = """
import numpy
def last(a, n):
    s = 0
    for i in range(n):
        s += a[i] * 2
    return s
print(last(numpy.arange(90), 90), type(last(numpy.arange(90), 90)), last([3] * 90, 90))
"""


def _ran(path, cache, *options, **environment):
    env = {**os.environ, "NUMBUS_CACHE_DIR": str(cache), **environment}
    command = [sys.executable, *options, str(path)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True, timeout=120)
    return done.stdout, done.stderr.split()


@pytest.mark.parametrize("name", SCRIPTS)
def test_second_runs(name, tmp_path):
    path = tmp_path / "script.py"
    text = HEAD + textwrap.dedent(SCRIPTS[name]) + "told()\nimport later_of_kept\n"
    path.write_text(text)
    (tmp_path / "later_of_kept.py").write_text(AFTERWARDS)
    wanted, _ = _ran(path, tmp_path)
    loads = []
    for _ in range(2):
        found, told = _ran(path, tmp_path, "-m", "numbus", NUMBUS_LOOPS_AFTER="3")
        assert found == wanted
        loads.append(told)
    assert loads == [["True"], ["False"]]


def test_a_loop_around_is_entered(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(HEAD + textwrap.dedent("""
        def f(n):
            p = [True] * n
            count = 0
            for i in range(2, n):
                if p[i]:
                    count += 1
                    for j in range(i * i, n, i):
                        p[j] = False
            return count
        print([f(2_000_000) for _ in range(6)])
        told()
        """))  # fmt: skip
    for _ in range(2):
        found, told = _ran(path, tmp_path, "-m", "numbus")
        assert found == f"{[148933] * 6}\n"
    assert told == ["False"]


@pytest.mark.parametrize("seed", range(0, 60, 3))
def test_random_scripts_twice(seed, monkeypatch):
    monkeypatch.setattr(kept, "made_by", ["tests of kept loops"])
    for _ in range(2):
        found, _ = differences(script(seed), AFTER[seed % 3])
        assert not found


def test_keys_tell_loops_apart(monkeypatch):
    monkeypatch.setattr(kept, "made_by", ["tests of keys"])
    for constant in ("1", "2", "1.0", "True"):
        for name in ("s", "t"):
            for function in ("i + 1", "i + 2", "g(i)"):
                check(
                    f"def g(i):\n    return i * {constant}\n"
                    f"def f(i):\n    return {function}\n"
                    f"s = t = 0\nfor i in range(50):\n    {name} += {constant} * f(i)\n",
                    entered=True,
                )


def test_arrays_are_not_kept(monkeypatch):
    stored = []
    monkeypatch.setattr(kept, "made_by", ["tests of arrays"])
    monkeypatch.setattr(kept._kept, "store", lambda key, value: stored.append(key))
    check("a = np.arange(50)\ns = 0\nfor i in range(50):\n    s += a[i]\n", entered=True)
    assert not stored
    check("a = [1] * 50\ns = 0\nfor i in range(50):\n    s += a[i]\n", entered=True)


def test_reasons_are_kept(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(HEAD + textwrap.dedent("""
        def f(n):
            s = 0
            for i in range(n):
                s += len(str(i))
            return s
        print(f(3_000_000))
        told()
        """))  # fmt: skip
    told = [_ran(path, tmp_path, "-m", "numbus") for _ in range(2)]
    assert told == [("19888890\n", ["True"]), ("19888890\n", ["False"])]


def test_loops_with_code_are_looked_at_soon(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(textwrap.dedent("""
        import gc, sys
        loop = sys.modules["numbus.loops.loop"]
        count = lambda: gc.get_stats()[0]["collections"]
        def f(n):
            s = 0
            for i in range(n):
                s += i & 5
            return s
        def g(n):
            for i in range(n):
                n += i
            return n
        before = count()
        print(f(9_000_000), g(5))
        # What is loaded meanwhile has nothing of the program's collected sooner.
        print("no more" if count() == before else "more", end="[")
        print([this.is_marked for this in loop._loops])
        """))  # fmt: skip
    marked = [_ran(path, tmp_path, "-m", "numbus")[0] for _ in range(2)]
    assert "no more" in marked[1]
    path.write_text("k = 1\n" + path.read_text().replace("i & 5", "i | 5"))
    marked.append(_ran(path, tmp_path, "-m", "numbus")[0])
    assert [m.split("[")[-1] for m in marked] == [
        "False, False]\n",
        "True, False]\n",
        "False, False]\n",
    ]


def test_marks(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBUS_CACHE_DIR", str(tmp_path))
    assert not marks.noted("/a/b.py")
    for text in ("for i in a:", "while x:", "for i in a:", "f\udc80"):
        marks.note("/a/b.py", text)
        assert marks.number_of(text) in marks.noted("/a/b.py")
    assert len(marks.noted("/a/b.py")) == 3 and not marks.noted("/a/c.py")
    marks.note("<string>", "while x:")
    assert not marks.noted("<string>")
    (file,) = tmp_path.iterdir()
    before = file.read_bytes()
    for damaged in (b"", b"\xff" * 99, before.replace(b"loops", b"others"), b"\n" * 99):
        file.write_bytes(damaged)
        assert not marks.noted("/a/b.py")
    marks.note("/a/b.py", "while x:")
    assert marks.noted("/a/b.py") == {marks.number_of("while x:")}
    file.unlink()
    file.mkdir()
    marks.note("/a/b.py", "while x:")
    assert not marks.noted("/a/b.py") and [*tmp_path.iterdir()] == [file]
    monkeypatch.setenv("NUMBUS_CACHE", "0")
    file.rmdir()
    marks.note("/a/b.py", "while x:")
    assert not [*tmp_path.iterdir()]


def test_loops_that_are_soon_over_are_left_to_the_next_run(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(HEAD + textwrap.dedent("""
        loop = sys.modules["numbus.loops.loop"]
        def g(n):
            s = 0
            while n:
                n -= 1
                s += n & 5
            return s
        print(sum(g(50_000) for k in range(40)))
        told()
        print(sum(this.entries for this in loop._loops) > 0, file=sys.stderr)
        """))  # fmt: skip
    runs = [_ran(path, tmp_path, "-m", "numbus") for _ in range(3)]
    assert [found for found, _ in runs] == ["5000000\n"] * 3
    assert runs[0][1] == ["False", "False"]
    assert runs[1][1][0] == "True" and runs[2][1] == ["False", "True"]


def test_long_loops_with_code_are_entered_at_their_first_item(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(textwrap.dedent("""
        import sys
        loop = sys.modules["numbus.loops.loop"]
        def f(n, s):
            for i in range(n):
                s += i & 5
            return s
        def g(n, s):
            for i in range(n):  # which may be over soon
                s += i & 5
                if s < 0:
                    break
            return s
        s = int(sys.argv[1]) if len(sys.argv) > 1 else 0.5
        print(f(5_000_000, s), g(5_000_000, s), f(3, s), g(3, -9), end=" ")
        print([(this.known, this.items < 9) for this in loop._loops])
        """))  # fmt: skip
    found = [_ran(path, tmp_path, "-m", "numbus")[0]]
    found += [_ran(path, tmp_path, "-m", "numbus")[0]]
    text = path.read_text().replace("else 0.5", "else 1")  # of which there is no code
    path.write_text(text)
    found += [_ran(path, tmp_path, "-m", "numbus")[0]]
    assert found == [
        "12500000.5 12500000.5 1.5 -9 [(False, False), (False, False)]\n",
        "12500000.5 12500000.5 1.5 -9 [(True, True), (False, False)]\n",
        "12500001 12500001 2 -9 [(True, False), (False, False)]\n",
    ]
