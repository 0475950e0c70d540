"""`python -m numbus` begins without NumPy and the core, and has all of them once somebody asks."""

import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest


def run(folder, text, *options, modules=(), loops_after=None, **environment):
    """What a script prints under the runner; modules: (name, text) of files beside it."""
    for name, of in (*modules, ("script.py", text)):
        (folder / name).write_text(textwrap.dedent(of))
    given = [*options, str(folder / "script.py")]
    more = {} if loops_after is None else {"NUMBUS_LOOPS_AFTER": str(loops_after)}
    done = subprocess.run([sys.executable, "-m", "numbus", *given], capture_output=True, text=True,
                          env={**os.environ, **more, **environment}, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


LIGHT = """
    import sys
    loaded = lambda: sorted({"numpy", "numbus._core", "numbus._namespace"} & set(sys.modules))
"""


def test_a_script_of_pure_python_loads_nothing(tmp_path):
    assert run(tmp_path, LIGHT + """
    import time
    def f(n):
        s = 0
        for i in range(n):
            s += type(i) is int
        return s
    start = time.perf_counter()
    print(f(1000), time.perf_counter() > start, loaded())
    """) == ["1000 True []"]  # fmt: skip


@pytest.mark.parametrize("after", [None, 1])
def test_a_hot_loop_is_compiled(tmp_path, after):
    count = 30_000_000 if after is None else 1000
    printed = run(tmp_path, LIGHT + f"""
    def f(n):
        s = 0
        for i in range(n):
            s = (s * 3 + i) % 1000003
        return s
    a = f({count})
    loop = sys.modules["numbus.loops.loop"]
    print(a, loaded(), sum(of.entries for of in loop._loops))
    """, loops_after=after, NUMBUS_CACHE_DIR=str(tmp_path / "cache"))  # fmt: skip
    s = 0
    for i in range(count if after else 0):
        s = (s * 3 + i) % 1000003
    assert printed[0].endswith(" 1") and "numpy" in printed[0]
    assert after is None or printed[0].split()[0] == str(s)


def test_a_loop_loads_what_compiles_it(tmp_path):
    printed = run(tmp_path, LIGHT + """
    def f(n):
        s = 0
        for i in range(n):
            s ^= i
        return s
    print(loaded(), f(100), f(100), loaded())
    """, loops_after=1, NUMBUS_CACHE_DIR=str(tmp_path / "cache"))  # fmt: skip
    assert printed == ["[] 0 0 ['numbus._core', 'numbus._namespace', 'numpy']"]


def test_names_of_numpy_and_of_the_package(tmp_path):
    assert run(tmp_path, LIGHT + """
    print(loaded())
    import numpy as np
    a = np.ones(3)
    print(type(a) is np.ndarray, type(3) is int, float(a.sum()), "2" < np.__version__)
    print(loaded())
    """) == ["['numbus._core', 'numbus._namespace', 'numpy']", "True True 3.0 True",
             "['numbus._core', 'numbus._namespace', 'numpy']"]  # fmt: skip
    assert run(tmp_path, """
    import sys
    import numbus
    print("sum" in vars(numbus), "ones" in dir(numbus), numbus.__doc__[:6], type(numbus).__name__)
    from numbus import *
    from numbus.linalg import norm
    print(float(norm(ones(4))), numbus.compat.__name__, hasattr(numbus, "none_of_these"))
    """) == ["True True Numbus module", "2.0 numbus.compat False"]  # fmt: skip


def test_the_package_by_a_name_that_is_made_up_late(tmp_path):
    assert run(tmp_path, LIGHT + """
    name = "num" + "bus"
    module = __import__("importlib").import_module(name)
    print(module.__name__, float(module.ones(3).sum()), type(module).__name__)
    print("fft" in dir(module), module.random.__name__)
    """) == ["numbus 3.0 module", "True numbus.random"]  # fmt: skip


def test_pickles_of_arrays(tmp_path):
    import pickle

    import numbus as nb

    data = pickle.dumps(nb.arange(4.0) * 2)
    assert run(tmp_path, LIGHT + f"""
    import pickle
    a = pickle.loads({data!r})
    print(a.tolist(), loaded())
    """)[0].startswith("[0.0, 2.0, 4.0, 6.0] ['numbus._core'")  # fmt: skip


@pytest.mark.parametrize("name", ["numbers", "random", "inspect", "queue", "decimal"])
def test_modules_of_the_program_that_are_called_as_some_of_python(tmp_path, name):
    loaded = subprocess.run([sys.executable, "-c", f"import sys; print({name!r} in sys.modules)"],
                            capture_output=True, text=True, check=True).stdout  # fmt: skip
    if loaded.strip() == "True":
        pytest.skip("this interpreter's site packages import it at the start")
    printed = run(tmp_path, f"""
    import {name}
    def f(n):
        s = 0
        for i in range(n):
            s += i
        return s
    print({name}.mine, [f(k) for k in (10, 100, 1000)])
    """, modules=[(f"{name}.py", "mine = 5\n")], loops_after=1)  # fmt: skip
    assert printed == ["5 [45, 4950, 499500]"]
    late = run(tmp_path, f"""
    def f(n):
        s = 0
        for i in range(n):
            s += i
        return s
    print([f(k) for k in (10, 100, 1000)])
    import sys
    sys.modules.pop("{name}", None)
    import {name}
    print({name}.mine)
    """, modules=[(f"{name}.py", "mine = 5\n")], loops_after=1)  # fmt: skip
    assert late == ["[45, 4950, 499500]", "5"]


def test_threads_that_ask_at_the_same_time(tmp_path):
    assert run(tmp_path, """
    import threading
    found = []
    def work():
        import numpy as np
        from numpy.linalg import norm
        found.append(float(np.sum(np.ones(5))) + float(norm(np.ones(4))))
    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    print(found)
    """) == [str([7.0] * 8)]  # fmt: skip


def test_warnings_that_are_errors(tmp_path):
    assert run(tmp_path, """
    import warnings
    warnings.simplefilter("error")
    def f(n):
        s = 0
        for i in range(n):
            s += i
        return s
    print([f(k) for k in (10, 100, 1000)], len(warnings.filters) > 0, warnings.filters[0][0])
    """, loops_after=1) == ["[45, 4950, 499500] True error"]  # fmt: skip


def test_those_who_ask_every_module(tmp_path):
    assert run(tmp_path, LIGHT + """
    import inspect, pickle, unittest, warnings
    class T(unittest.TestCase):
        def test(self):
            with self.assertWarns(UserWarning):
                warnings.warn("a")
    done = unittest.TextTestRunner(stream=open("/dev/null", "w")).run(T("test"))
    print(done.wasSuccessful(), len(pickle.dumps([1, 2.5, sys.path])) > 9, loaded())
    """) == ["True True []"]  # fmt: skip


def test_processes(tmp_path):
    assert run(tmp_path, """
    import multiprocessing, os, sys
    def work(n):
        s = 0
        for i in range(n):
            s += i
        import numpy as np
        return s, type(np.ones(2)) is np.ndarray, "numbus._core" in sys.modules
    if __name__ == "__main__":
        for kind in ("fork", "spawn"):
            with multiprocessing.get_context(kind).Pool(2) as pool:
                print(pool.map(work, [10, 100]))
    """, loops_after=1) == ["[(45, True, True), (4950, True, True)]"] * 2  # fmt: skip


def test_handlers_of_signals_that_were_set_before(tmp_path):
    assert run(tmp_path, """
    import os, signal
    seen = []
    signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    import numpy as np
    os.kill(os.getpid(), signal.SIGINT)
    a = float(np.ones(5).sum())
    signal.signal(signal.SIGINT, lambda *_: seen.append(2))
    os.kill(os.getpid(), signal.SIGINT)
    print(a, seen)
    """) == ["5.0 [1, 2]"]  # fmt: skip


needs_ctrl_c = pytest.mark.skipif(
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN, reason="SIGINT is ignored, as under nohup"
)


@needs_ctrl_c
def test_ctrl_c_while_modules_load_is_not_lost(tmp_path):
    module = textwrap.dedent("""
        import os, signal, time
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
        except BaseException as error:  # as the initialisation of extension modules does
            raise ImportError("not loaded") from error
        loaded = True
    """)
    folder = tmp_path / "elsewhere"  # the program's own folder is not looked at
    folder.mkdir()
    (folder / "interrupted_module.py").write_text(module)
    assert run(tmp_path, """
    import signal, sys
    from numbus import _late
    before = signal.getsignal(signal.SIGINT)
    try:
        print(_late.load_aside("interrupted_module"))
    except KeyboardInterrupt:
        print("stopped", sys.modules["interrupted_module"].loaded)
    print(signal.getsignal(signal.SIGINT) is before, _late.load_aside("no_such_module"))
    """, PYTHONPATH=str(folder)) == ["stopped True", "True False"]  # fmt: skip


@needs_ctrl_c
@pytest.mark.parametrize("cache", ["first", "again"])
@pytest.mark.parametrize("sets", ["", "signal.signal(2, signal.default_int_handler)"])
def test_ctrl_c_in_a_loop_that_was_compiled_late(tmp_path_factory, tmp_path, cache, sets):
    """Also in one whose code is on disk, and where the program has set the handler."""
    kept = tmp_path_factory.getbasetemp() / f"kept{bool(sets)}"
    assert run(tmp_path, f"""
    import os, signal, threading
    {sets}
    def f(n):
        s = 0
        for i in range(n):
            s = (s * 3 + i) % 1000003
        return s
    pid = os.getpid()
    if os.fork() == 0:
        import time
        time.sleep(1.5)
        os.kill(pid, signal.SIGINT)
        os._exit(0)
    try:
        f(10**12)
    except KeyboardInterrupt:
        print("stopped")
    """, NUMBUS_CACHE_DIR=str(kept)) == ["stopped"]  # fmt: skip


@pytest.mark.parametrize("more", ["", "import numpy as np"])
def test_cycles_that_the_program_leaves_are_collected(tmp_path, more):
    assert run(tmp_path, f"""
    import gc
    {more}
    class Node:
        def __del__(self):
            print("gone")
    a = Node()
    a.itself = a
    def f(n):
        s = 0
        for i in range(n):
            s += i
        return s
    print([f(k) for k in (10, 100, 1000)])
    del a
    gc.collect()
    print("end")
    """, loops_after=1) == ["[45, 4950, 499500]", "gone", "end"]  # fmt: skip


def test_strict_and_reports(tmp_path):
    (tmp_path / "script.py").write_text("print(5)\n")
    done = subprocess.run([sys.executable, "-m", "numbus", "--report", "--strict",
                           str(tmp_path / "script.py")], capture_output=True, text=True,
                          check=True)  # fmt: skip
    assert done.stdout == "5\n" and "no fallbacks to NumPy" in done.stderr
    assert np.__version__
