"""Loops of scripts that are compiled as they run: what they leave behind is what CPython leaves."""

import inspect
import os
import re
import signal
import subprocess
import sys
import textwrap
import time

import numbus as nb
import numpy as np
import pytest
from numbus.loops import numbers, select
from numbus.loops import run as runtime

from tests.loops.checking import check, installed  # noqa: F401 - a fixture
from tests.loops.grow import script
from tests.loops.run import AFTER, differences, execute

FAILED = 1214716, 1233753, 1500033, 1500057, 1500217


@pytest.mark.parametrize("seed", [*range(40), *FAILED])
def test_random_scripts(seed):
    library = nb if seed % 4 == 3 else np
    found, _ = differences(script(seed), AFTER[seed % 3], library)
    assert not found


def test_loops_that_are_given_up_run_nothing_of_the_program():
    check("""
        class Lazy:
            @property
            def __class__(self):
                raise RuntimeError("not connected yet")
        db = Lazy()
        def count(words):
            t = 0
            for w in words:
                t += 1
            return t
        x = sum(count(("a", "b", "c")) for _ in range(60000))
        del db
        """)  # fmt: skip


def test_int_that_leaves_int64_goes_on_in_python():
    made = check("""
        def f(n):
            s = 1
            for i in range(n):
                s = s * 3 + i
            return s, i
        x = f(200)
        """, entered=True)  # fmt: skip
    assert made[0].exits


def test_exception_in_the_middle_has_the_lines_of_python():
    check("""
        def f(a, n):
            t = 0.0
            for i in range(n):
                for j in range(n):
                    if i == 5:
                        t += a[i + j * 4]
                    t += 1.0 / (i - 7 + j)
            return t
        def g():
            return f([1.0] * 20, 12)
        g()
        """, entered=True)  # fmt: skip


def test_return_break_and_continue():
    check("""
        out = []
        def f(n, m):
            k = 0
            for i in range(n):
                j = 0
                while True:
                    j += 1
                    if j % 3 == 0:
                        continue
                    if j > m:
                        break
                    k += i * j
                if k > 500:
                    return k, i, j
            return k
        for m in (1, 5, 9):
            out.append(f(20, m))
        """, entered=True)  # fmt: skip


def test_names_that_hold_nothing_stay_so():
    made = check("""
        def f(n):
            for i in range(n):
                if i == 50:
                    late = 1
                if i > 90 and i < 60:
                    never = 2
            try:
                return never
            except UnboundLocalError as e:
                return late, str(e)
        x = f(80)
        """, entered=True)  # fmt: skip
    assert made


def test_module_of_loops_has_no_other_names():
    text = "s = 0\nfor i in range(100):\n    s += i\nnames = sorted(globals())\n"
    assert "_numbus" not in execute(text, np, "<script>", True)["names"]["names"].replace(
        "__numbus", "_numbus"
    )
    check(text, entered=True)


def test_names_of_builtins_are_not_bound():
    check("""
        for i in range(60):
            if i == 100:
                max = 3
        bound = "max" in globals()
        for i in range(60):
            if i == 40:
                min = i
            if i > 50:
                min += 1
        """, entered=True)  # fmt: skip


def test_functions_that_are_differentiated():
    text = """
        def f(a):
            s = 0.0
            for i in range(40):
                s = s + a[i] * a[i]
            return s
        g = np.grad(f)(np.arange(40.0))
        """
    made = check(text, library=nb, entered=False)
    assert made


DOMAINS = {"acosh": (1, 1e3), "asin": (-1, 1), "acos": (-1, 1), "atanh": (-1, 1), "sqrt": (0, 9)}
DOMAINS |= {name: (1e-9, 1e5) for name in ("log", "log2", "log10")}


@pytest.mark.parametrize("name", [*sorted(numbers.C_FUNCTIONS), "sqrt", "fabs"])
def test_functions_are_those_of_python(name):
    low, high = DOMAINS.get(name, (-300, 300))
    made = check(f"""
        import math, random
        r = random.Random(5)
        a = [r.uniform({low}, {high}) for k in range(3000)]
        b = [0.0] * 3000
        def f():
            for i in range(3000):
                b[i] = math.{name}(a[i])
        f()
        """, entered=True)  # fmt: skip
    assert not any(m.exits for m in made)


@pytest.mark.parametrize("text", ["a[i] ** p", "a[i] // p", "a[i] % p", "int(a[i] * 1e6) / 7"])
def test_operators_are_those_of_python(text):
    made = check(f"""
        import random
        r = random.Random(5)
        a = [r.uniform(1e-9, 300) for k in range(3000)]
        b, out = [0.0] * 3000, []
        def f(p):
            for i in range(3000):
                b[i] = {text}
        for p in (2, 0.5, 1.7, 0.3, -1.5, 2.0):
            f(p)
            out.append(list(b))
        """, entered=True)  # fmt: skip
    assert not any(m.exits for m in made)


def test_step_of_zero():
    check("""
        def f(n):
            k = 0
            for i in range(n):
                for j in range(i):
                    k += j
                if i == 30:
                    for j in range(0, i, 0):
                        k += 1
            return k
        f(60)
        """, entered=True)  # fmt: skip


def test_types_that_change_in_the_middle():
    check("""
        out = []
        def f(n, k):
            x = 0
            for i in range(n):
                if i == k:
                    x = x + 0.5
                x = x + 1
                if i == k + 3:
                    x = None
                if i == k + 4:
                    x = 3
            return x
        for k in (0, 1, 2, 10, 200):
            out.append(f(60, k))
        """, entered=True)  # fmt: skip


def test_lists_keep_their_items_and_aliases():
    check("""
        def f(n):
            a = [1000 + i for i in range(n)]
            b = a
            items = list(a)
            for i in range(n):
                if i % 2:
                    a[i] += b[i - 1]
            return a, b is a, [x is y for x, y in zip(a, items)]
        x = f(100)
        """, entered=True)  # fmt: skip


@pytest.mark.parametrize("library", [np, nb], ids=["numpy", "numbus"])
def test_arrays_that_overlap(library):
    on_host = library is np or nb.zeros(1).device == "cpu"
    check("""
        def f(n):
            a = np.arange(n + 1.0)
            b = a[1:]
            for i in range(n):
                b[i] = a[i] * 0.5 + b[i]
            return a
        x = f(100)
        """, library=library, entered=on_host)  # fmt: skip


def test_warnings_are_numpys():
    check("""
        def f(a):
            s = a[0] * 0.0
            for i in range(60):
                s = s + a[i] / (a[i] - 30.0)
            return s
        x = f(np.arange(60.0))
        """, entered=True)  # fmt: skip


def test_nothing_is_compiled_while_somebody_traces():
    text = "def f():\n    s = 0\n    for i in range(200):\n        s += i\n    return s\nx = f()\n"
    first = len(runtime._loops)
    sys.setprofile(lambda *a: None)
    try:
        execute(text, np, "<script>", True, 2)
    finally:
        sys.setprofile(None)
    assert not any(m.entries for m in runtime._loops[first:])


def test_nothing_is_compiled_beside_other_threads():
    check("""
        import threading
        stop = [0]
        done = threading.Event()
        def other():
            done.wait(0.05)
            stop[0] = 1
        t = threading.Thread(target=other)
        t.start()
        n = 0
        while stop[0] == 0:
            n = 1
        t.join()
        del t, done
        """, entered=False)  # fmt: skip


def test_nothing_is_compiled_beside_handlers_of_signals(monkeypatch):
    text = "def f():\n    s = 0\n    for i in range(200):\n        s += i\n    return s\nx = f()\n"
    monkeypatch.setattr(runtime, "_SIGNALS", [signal.SIGUSR1])
    before = signal.signal(signal.SIGUSR1, lambda *a: None)
    try:
        check(text, entered=False)
    finally:
        signal.signal(signal.SIGUSR1, before)
    check(text, entered=True)


def test_a_line_can_be_left_out():
    made = check("s = 0\nfor i in range(100):  # numbus: off\n    s += i\n")
    assert not made


def test_reasons_are_told():
    import ast

    def why(text):
        return select.why_not(ast.parse(textwrap.dedent(text)).body[0])

    assert why("for i in range(3):\n    s += i") is None
    assert "a call of print" in why("for i in range(3):\n    print(i)")
    assert why("for i in range(3):\n    if i == 2:\n        print(i)") is None
    assert why("while i < 3:\n    i += 1\nelse:\n    s = 1") is None
    assert "else" in why("while i < 3:\n    i += 1\nelse:\n    if s:\n        break")
    assert why("for i in x:\n    s += i") is None
    assert "something else" in why("for i in f(x):\n    s += i")


def test_explain_tells_of_loops():
    found = execute(
        textwrap.dedent("""
        def f(a, n):
            for i in range(n):
                a[i] = 0.5 * i
        t = str(np.explain(f, np.zeros(9), 9, ir=True))
    """),
        nb, "<script>", True, 2,
    )  # fmt: skip
    told = found["names"]["t"]
    assert "loop <script>:3 ran compiled, " in told and "def loop(si, sf, a0):" in told
    assert "a ndarray float64[9], " in told and ", n int" in told


def test_command_line(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(
        "def f(n):\n    s = 0.0\n    for i in range(n):\n        s += i * 0.5\n    return s\n"
        "print(f(90_000_000))\n"  # it lasts until the code is there, also on a busy machine
    )
    command = [sys.executable, "-m", "numbus", "--loops", "--report", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["2024999977500000.0"]
    assert f"{path}:3  compiled" in done.stderr


def test_ctrl_c_leaves_a_compiled_loop(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(textwrap.dedent("""
        import signal
        import sys
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
        def f():
            n = 0
            while True:
                n += 1
                if n == 5_000_000:
                    print("far", flush=True)
                if n == 1 << 62:
                    break
        try:
            f()
        except KeyboardInterrupt as e:
            print(e.__traceback__.tb_next.tb_frame.f_locals["n"] > 5_000_000, flush=True)
        """))  # fmt: skip
    command = [sys.executable, "-m", "numbus", "--loops", "--report", str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "far\n"
        time.sleep(1)  # it is entered again meanwhile
        os.kill(process.pid, signal.SIGINT)
        start = time.perf_counter()
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()  # nothing else ends the loop
    assert out == "True\n", err
    assert time.perf_counter() - start < 20
    assert re.search("entered [12]", err), err


SHOWN = """
    import dis
    import inspect
    import pickle
    import sys
    import types
    def work(n):
        s = 0
        for i in range(n):
            s += i
        while s % 7 != 3:
            s += 1
        return s, [inner() for inner in (lambda: s, lambda: i)]
    class K:
        def method(self, n):
            k = 0
            def deep(m):
                t = 0.0
                for i in range(m):
                    t += i * 0.5 + k
                return t
            for j in range(n):
                k += j
            return deep(n), deep
    """


def test_functions_show_the_code_of_their_source(tmp_path):
    """What inspects, disassembles, copies and sends code finds that of the source."""
    path = tmp_path / "script.py"
    path.write_text(textwrap.dedent(SHOWN) + textwrap.dedent("""
        plain = {}
        exec(compile(open(__file__).read().split("plain =")[0], __file__, "exec"), plain)
        before = work(500)[0]
        deep = K().method(50)[1]
        assert work.__code__ == plain["work"].__code__
        assert work.__code__ is work.__code__
        assert work.__code__.co_code == plain["work"].__code__.co_code
        assert K.method.__code__ == plain["K"].method.__code__
        assert deep.__code__ == plain["K"]().method(50)[1].__code__
        assert "numbus" not in dis.code_info(work) + "".join(map(str, dis.get_instructions(deep)))
        assert inspect.getsource(work).startswith("def work(n):")
        assert work(500)[0] == before and deep(3) == plain["K"]().method(50)[1](3)
        import marshal, builtins
        again = types.FunctionType(marshal.loads(marshal.dumps(work.__code__)), {})
        assert again(500)[0] == before
        assert not any("numbus_l" in name or "numbus_a" in name for name in dir(builtins))
        print("shown")
        """))  # fmt: skip
    command = [sys.executable, "-m", "numbus", "--loops", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "shown\n", done.stderr


@pytest.mark.parametrize("how", ["settrace", "setprofile", "cProfile", "monitoring"])
def test_those_who_watch_see_no_frame_of_ours(tmp_path, how):
    """The events of a tracer are those of the script run by CPython."""
    if how == "monitoring" and sys.version_info < (3, 12):
        pytest.skip("Python 3.12 and later")
    path, events = tmp_path / "script.py", {}
    watch = {
        "settrace": "sys.settrace(see)",
        "setprofile": "sys.setprofile(see)",
        "cProfile": "p = cProfile.Profile(); p.enable()",
        "monitoring": "sys.monitoring.use_tool_id(3, 'test')",
    }[how]
    path.write_text(textwrap.dedent(f"""
        import cProfile, pstats, sys
        seen = []
        def see(frame, event, arg):
            name = frame.f_code.co_name
            if frame.f_code.co_filename != __file__:
                name = frame.f_code.co_filename
            if not (event == "c_call" or event == "c_return"):
                seen.append((event, name, frame.f_lineno))
            return see
        def hot(n):
            s = 0
            for i in range(n):
                s += i
                if s == 3:
                    s += len(str(s))
            while s > 5:
                s //= 2
            return s
        hot(300000)
        def main():
            return hot(600)
        {watch}
        main()
        if {how!r} == "cProfile":
            p.disable()
            seen = sorted(k[1:] for k in pstats.Stats(p).stats if "numbus" in k[0])
        else:
            sys.settrace(None)
            sys.setprofile(None)
        seen = [e for e in seen if e[1] in ("main", "hot") or "numbus" in e[1]]
        print(seen)
        """))  # fmt: skip
    for options in (["--no-loops"], ["--loops"]):
        command = [sys.executable, "-m", "numbus", *options, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert not done.stderr
        events[options == ["--loops"]] = done.stdout
    assert events[True] == events[False]
    assert len(events[True]) > 1000 or how != "settrace"


def test_debuggers_stop_in_the_middle_of_a_loop(tmp_path):
    """A debugger that a loop calls sees its names, and steps through its lines."""
    path = tmp_path / "script.py"
    path.write_text(textwrap.dedent("""
        import pdb
        def hot(n):
            s = 0
            for i in range(n):
                s += i
                if i == 2_500_000:
                    pdb.set_trace()
                    s += 1
                s -= 1
            return s
        print("result", hot(3_000_000))
        """))  # fmt: skip
    shown = {}
    for options in (["--no-loops"], ["--loops"]):
        command = [sys.executable, "-m", "numbus", *options, str(path)]
        text = "p i, s\nstep\nstep\nstep\nstep\np i, s\nnext\nnext\ncontinue\n"
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        assert "result" in done.stdout, done.stderr
        shown[options == ["--loops"]] = done.stdout
    assert shown[True] == shown[False]
    assert "(2500000, " in shown[True] and "loops" not in shown[True]


def test_processes_have_the_loops_too(tmp_path):
    """A fork while code is compiled, and in the middle of a program that has compiled some."""
    path = tmp_path / "script.py"
    path.write_text(textwrap.dedent("""
        import os, time
        def hot(n):
            s = 0
            for i in range(n):
                s += i & 3
            return s
        start = time.perf_counter()
        while time.perf_counter() - start < 0.4:
            hot(100_000)
            child = os.fork()
            if not child:
                os._exit(hot(300_000) % 251 == 450_000 % 251)
            assert os.WEXITSTATUS(os.waitpid(child, 0)[1]) == 1
        print("done", hot(4_000_000))
        """))  # fmt: skip
    command = [sys.executable, "-m", "numbus", "--loops", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == "done 6000000\n", done.stderr


def test_functions_are_called_as_they_are_now():
    made = check("""
        import math
        SCALE = 2.0
        def deep(x, k):
            '''What it does.'''
            if x < 0.0:
                raise ValueError(x)
            for j in range(k):
                x = math.sqrt(x) + SCALE
                if x > 1e3:
                    return 0.5
            return x
        def value(a, i, shift):
            w = deep(a[i], i % 3)
            while w > 3.0:
                w *= 0.5
            return w - shift
        def f(a, n):
            s = 0.0
            for i in range(n):
                s += value(a, i % len(a), 0.25)
            return s
        a = [0.5 * v for v in range(40)]
        out = [f(a, 90), f(np.array(a), 90)]
        SCALE = 3
        out.append(f(a, 90))
        deep.__defaults__ = (2,)
        out.append(f(a, 90))
        def deep(x, k):
            return x - k
        out.append(f(a, 90))
        a[7] = -1.0
        deep = value
        try:
            f(a, 90)
        except TypeError as e:
            out.append(str(e))
        """, entered=True)  # fmt: skip
    assert sum(m.entries for m in made) >= 3


def test_functions_read_names_that_the_loop_assigns_to():
    check("""
        scale = 1
        def f(x):
            return x * scale
        def g(x):
            return f(x) + 1
        s = 0
        for i in range(60):
            s += g(i)
            if i == 40:
                scale = 3
        for scale in range(50):
            s += g(scale)
        def h(n):
            global scale
            t = 0
            for i in range(n):
                t += g(i)
                scale = i
            return t
        s += h(60)
        """)  # fmt: skip


def test_functions_fail_where_they_fail():
    check("""
        def ratio(i, j):
            return 1.0 / (i - j)
        def f(n):
            t = 0.0
            for i in range(n):
                t += ratio(i, 77)
            return t
        f(90)
        """, entered=True)  # fmt: skip


def test_cells_of_notebooks(tmp_path):
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("IPython")
    cells = [
        "from __future__ import annotations\nimport numpy as np\n"
        "def f(n: not_there):\n    s = 0\n    for i in range(n):\n        s += i & 7\n    return s",
        "t = 0\nfor i in range(20_000_000):\n    t += i % 5\nprint(t, f(20_000_000))",
        "import inspect\nassert 'numbus' not in str(f.__code__.co_consts)\n"
        "print(inspect.getsource(f).splitlines()[0], f.__annotations__)",
        "for i in range(10):\n    await __import__('asyncio').sleep(0)\n"
        "for j in range(1_000_000):\n    t += f(1)\nt",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    path = tmp_path / "book.ipynb"
    nbformat.write(book, path)
    command = [sys.executable, "-m", "numbus", "--loops", "--report", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "40000000 70000000" in done.stdout, done.stderr
    assert "def f(n: not_there): {'n': 'not_there'}" in done.stdout
    assert done.stderr.count("compiled; entered") >= 2, done.stderr


def test_loops_that_assign_to_no_name():
    check("""
        def f(a, b):
            while a[0] < 50:
                a[0] += 1
                if a[0] == 20:
                    b.append(a[0])
                if a[0] == 45:
                    while b[0] < 60:
                        b[0] += 3
        a, b = [0], [5]
        f(a, b)
        """, entered=True)  # fmt: skip


def test_lists_of_bools_are_used_in_place():
    made = check("""
        def turn(flags, i):
            if flags[i]:
                return 1
            return i
        def f(flags, other, n):
            t = 0
            for i in range(n):
                flags[i] = not other[i - 1]
                other[i // 2] = flags[i] and i % 3 > 0
                t += turn(flags, i) + turn(other, -i)
                if i == 30:
                    flags.append(True)
                    other[5] = None
            return t
        a = [v % 7 == 0 for v in range(200)]
        out = [f(a, a, 90), f(a, a[:], 90), f(a[::2], [True] * 100, 90), a]
        mixed = [True, 5, None, False] * 30
        try:
            f(a, mixed, 100)
            f(mixed, a, 200)
        except IndexError as e:
            out.append(str(e))
        rows = [a[:9], a[9:18]]
        for i in range(50):
            rows[i % 2][i % 9] = not rows[0][i % 5]
        kept = [type(v) for v in a + mixed]
        """, entered=True)  # fmt: skip
    assert sum(m.entries for m in made) > 1


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_processes_of_multiprocessing(tmp_path, method):
    path = tmp_path / "script.py"
    path.write_text(textwrap.dedent(f"""
        import multiprocessing
        def hot(n):
            s = 0
            for i in range(n):
                s += i & 3
            return s
        if __name__ == "__main__":
            with multiprocessing.get_context({method!r}).Pool(2) as pool:
                print(pool.map(hot, [40_000_000, 8, 80_000_000]))
        """))  # fmt: skip
    env = {**os.environ, "NUMBUS_LOOPS_PRINT": "1"}
    command = [sys.executable, "-m", "numbus", str(path)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=90)
    assert done.stdout == "[60000000, 12, 120000000]\n", done.stderr
    assert f"# {path}:5" in done.stderr


def test_programs_deep_in_calls():
    text = """
        import sys
        def f(d, a):
            s = 0
            for i in range(50):
                s += a[i % 3]
                if i == 30:
                    s += len(a)
            return f(d + 1, a) + s if d < 700 else s
        sys.setrecursionlimit(LIMIT)
        try:
            x = f(0, [1, 2, 3])
        except RecursionError as e:
            x = str(e)[:40]
        sys.setrecursionlimit(1000)
        """
    depth = len(inspect.stack())
    for limit in range(depth + 700, depth + 740, 5):
        check(text.replace("LIMIT", str(limit)))
