"""Functions that SciPy calls back: a compiled form has the results and effects of CPython."""

import pickle
import subprocess
import sys
import textwrap

import numbus as nb
import numpy as np
import pytest
from numbus import loops
from numbus.loops import background, callbacks
from numbus.loops import run as runtime
from scipy import integrate, optimize

from tests.loops.grow_callbacks import callbacks_script
from tests.loops.run import differences


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    """Functions are compiled at their first call."""
    loops.install()
    runtime.configure(False)
    monkeypatch.setattr(background, "RAISES", True)
    monkeypatch.setattr(callbacks, "_states", {})
    yield
    runtime.configure(False)


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.timeout(60)
def test_random_callbacks(seed):
    found, _ = differences(callbacks_script(seed), 1, nb if seed % 4 == 3 else np)
    assert not found


def check(text, compiled=True):
    """A script does the same; `f` is compiled in it, or not. Gives its state."""
    text = "import math\nfrom scipy import integrate, optimize\n" + textwrap.dedent(text)
    callbacks._states.clear()
    found, _ = differences(text, 1)
    assert not found
    (state,) = [s for code, s in callbacks._states.items() if code.co_name in ("f", "<lambda>")]
    assert bool(state.made) is compiled
    return state


def test_quad_takes_functions_of_its_caller():
    check("""
        w = 1.5
        def f(x, a, n):
            s = 0.0
            for k in range(n):
                s += math.exp(-a * x) * math.cos(w * k * x)
            return s
        r = [integrate.quad(f, 0, 2, args=(a, 4)) for a in (0.5, 1.5, 2.5)]
        w = 2.5
        r.append(integrate.quad(f, 0, math.inf, args=(0.25, 2), limit=80))
        r.append(integrate.quad(f, -1, 1, args=(0.25, 2), weight="cauchy", wvar=0.1))
        r.append(integrate.quad(f, 0, 2, args=(np.float64(0.25), 2), points=[0.5]))
    """)


def test_closures_and_lambdas_are_given_their_own_numbers():
    check("""
        def one(k):
            return integrate.quad(lambda x: math.sin(k * x) / (1 + x), 0, 1)
        r = [one(k) for k in (1, 2, 3.5, 2.5, 2)]
    """)
    check("""
        def two(k):
            def f(x, n=k, m=2):
                return n * x ** m
            return integrate.quad(f, 0, 1)
        r = [two(k) for k in (1.5, 2.5, 3.5)]
    """)


def test_what_a_function_reads_may_be_rebound_between_calls():
    check("""
        sine = math.sin
        def g(u):
            return u * 2.0
        def f(x):
            return sine(x) + g(x) * w
        w, r = 2.0, []
        for k in range(8):
            r.append(integrate.quad(f, 0, 1))
            if k == 2:
                sine = math.cos
            if k == 4:
                w = 3
            if k == 6:
                def g(u):
                    return u + 1.0
    """)


@pytest.mark.parametrize("change", [
    "g.__defaults__ = (g.__defaults__[0] + 1,)", "g.__code__ = h.__code__", "other[0](k)",
    "f.__code__ = (lambda x: g(x) + k).__code__", "f.__defaults__ = (k,)",
])  # fmt: skip
def test_functions_that_are_called_may_become_others(change):
    text = f"""
        def made():
            m = 2.0
            def inner(x):
                return m * x
            def change(k):
                nonlocal m
                m = k + 0.5
            return inner, change
        inner, *other = made()
        def g(x, a=2.0):
            return a * x + inner(x)
        def h(x, a=3.0):
            return a - x
        def f(x, b=0.25):
            return g(x) + b
        results = []
        for k in range(5):
            results.append(integrate.quad(f, 0, 1)[0])
            results.append(optimize.brentq(lambda x: f(x) - 1.0, -9, 9))
            if k > 1:
                {change}
        """
    text = "from scipy import integrate, optimize\n" + textwrap.dedent(text)
    found, _ = differences(text, 1)
    assert not found


@pytest.mark.parametrize("call", [
    "integrate.quad(f, 0, 1, limit=400000, epsabs=0, epsrel=2e-14)",
    "integrate.odeint(lambda y, t: [math.sin(t * 1e3)], [1.0], range(400), mxstep=100000)",
])  # fmt: skip
def test_threads_and_signals_are_let_in(call):
    text = f"""
        import math, signal, threading, time
        from scipy import integrate
        def f(x):
            return math.sin(1 / (x * x + 1e-12)) + (0.0 if x < 0.3 else 1.0)
        import warnings
        warnings.simplefilter("ignore")
        integrate.quad(f, 0, 1)
        turns, done = 0, False
        def other():
            global turns
            while not done:
                turns += 1
                time.sleep(0.002)
        thread = threading.Thread(target=other, daemon=True)
        thread.start()
        start = time.perf_counter()
        {call}
        took = time.perf_counter() - start
        done = True
        thread.join()
        assert took > 0.2, took
        assert turns > took / 0.05, (turns, took)
        class Stopped(Exception):
            pass
        def stop(number, frame):
            raise Stopped
        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        start = time.perf_counter()
        try:
            {call}
        except Stopped:
            took = time.perf_counter() - start
        else:
            took = 99.0
        assert took < 0.2, took
        """
    program = (
        "import numbus\nfrom numbus import loops\nloops.install()\n"
        "from numbus.loops import run\nrun.configure(True, 1)\n"
        f"text = {textwrap.dedent(text)!r}\nimport ast\n"
        "code = compile(text, '<script>', 'exec')\n"
        "exec(loops.compiled(ast.parse(text), text, '<script>', code), {'__name__': 'script'})\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.mark.parametrize("body", [
    "return math.sqrt(0.5 - x)", "return 1 / (x - 0.5)", "return (int(x * 1e9) + 2) ** 4",
    "return [x][7]", "return math.log(x - 0.75) if x > 0.5 else nothing",
])  # fmt: skip
def test_exceptions_have_the_lines_of_the_function(body):
    text = f"""
        def f(x):
            {body}
        r = [integrate.quad(f, 0, 0.25) for _ in range(3)]
        for _ in range(3):
            r.append(integrate.quad(f, 0, 1))
    """
    check(text, compiled="[" not in body and "nothing" not in body)


@pytest.mark.parametrize("body", [
    "count.append(x)\n    return x", "count[0] += 1\n    return x", "y[0] = 3.0\n    return y[0]",
])  # fmt: skip
def test_functions_with_effects_are_left_alone(body):
    check(f"""
count = [0]
def f(x, y=(1.0,)):
    {body}
r = []
for _ in range(3):
    try:
        r.append(integrate.quad(f, 0, 1))
    except TypeError:
        r.append(0)
    """, compiled=False)  # fmt: skip


def test_a_rare_effect_happens_as_often_as_in_cpython():
    check("""
        told = []
        def f(x):
            if x > 0.9:
                told.append(x)
            return x * x
        r = [integrate.quad(f, 0, b) for b in (0.5, 1.0, 0.8, 2.0)]
    """)


@pytest.mark.parametrize("result", ["[b, -w * a]", "(b, -a)", "np.array([b, a * t])", "[b, 0]"])
def test_right_sides_of_differential_equations(result):
    check(f"""
        w = 2.5
        def f(t, y):
            a, b = y
            return {result}
        r = [integrate.solve_ivp(f, (0, 1), [1.0, k], rtol=1e-6).y.tolist() for k in (0.5, 2)]
        q = integrate.odeint(f, [1.0, 0.5], [0, 0.5, 1.0], tfirst=True).tolist()
    """)
    check(f"""
        def f(t, y, w, n=2):
            a, b = y[0], y[1] * n
            return {result}
        r = [integrate.solve_ivp(f, (0, 1), [1.0, 0.5], args=(k,)).y.tolist() for k in (0.5, 2)]
    """)


def test_zeros_and_what_is_nan():
    check("""
        def f(x, c):
            return x ** 3 - c if x < 3.0 else (x - x) * 1e308 * 1e308 * 1e308
        r = []
        for c in (1.0, 8, 3.5):
            r.append(optimize.brentq(f, 0, 2.75, args=(c,), full_output=True))
            r.append(optimize.root_scalar(f, bracket=[0.0, 2.5], args=(c,)).function_calls)
        r = repr(r)
    """)
    check("""
        def f(x):
            return x - 1.0 if x < 2.0 else x * 1e308 * 1e308 * 0.0
        r = []
        for b in (1.5, 3.0, 1.75):
            try:
                r.append(optimize.ridder(f, 0, b))
            except ValueError as e:
                r.append((str(e), e._function_calls))
    """)


def test_systems_of_equations_count_their_calls():
    check("""
        def f(p, c):
            x, y = p
            return [x * x + y * y - c, x - y * y * y]
        r = [optimize.fsolve(f, [1.0, 1.0], args=(c,), full_output=True) for c in (2, 3.5, 4)]
        r = repr(r + [optimize.root(f, [1.0, 1.0], args=(2.5,)).nfev])
        q = repr(optimize.leastsq(f, [1.0, 1.0], args=(2.5,), full_output=True))
    """)


@pytest.mark.parametrize("method", ["Nelder-Mead", "BFGS", "Powell"])
def test_what_is_minimised(method):
    check(
        f"""
        def f(p, c):
            return (p[0] - c) ** 2 + c * (p[1] - p[0] * p[0]) * (p[1] - p[0] * p[0])
        m = [optimize.minimize(f, [0.5, 1.5], args=(c,), method={method!r}) for c in (2.0, 3.0)]
        r = [(x.fun, x.x.tolist(), x.nfev) for x in m]
    """,
        compiled=False,
    )  # fmt: skip - a power of NumPy's
    check(f"""
        def f(p, c):
            return (p[0] - c) * (p[0] - c) + abs(p[1] - p[0])
        m = [optimize.minimize(f, [0.5, 1.5], args=(c,), method={method!r}) for c in (2.0, 3.0)]
        r = [(x.fun, x.x.tolist(), x.nfev) for x in m]
    """)


def test_who_watches_sees_each_call():
    check("""
        import sys
        def f(x):
            return x * x
        r = []
        for traced in (False, True, False):
            calls = []
            sys.setprofile((lambda *of: calls.append(of[1])) if traced else None)
            r.append(integrate.quad(f, 0, 1))
            r.append(optimize.brentq(f, 0, 0) if traced else 0)
            sys.setprofile(None)
            r.append(calls.count("call") > 20)
    """)


def test_scipy_looks_as_it_did():
    assert type(integrate._quadpack._qagse).__name__ == "builtin_function_or_method"
    assert integrate.quad.__module__ == "scipy.integrate._quadpack_py"
    assert optimize.minimize.__module__ == "scipy.optimize._minimize"


def test_a_callback_is_sent_as_the_function():
    made = callbacks.Callback(abs, abs, (None, "number"), None, [], None, False)
    assert pickle.loads(pickle.dumps(made)) is abs
    assert made.__wrapped__ is abs
    assert sys.getrefcount(made) == 2


@pytest.mark.parametrize(
    "call",
    [
        "integrate.quad(f, 0, 2)",
        "optimize.brentq(f, -3, 3)",
        "optimize.minimize(lambda v: f(v[0]), [0.5])",
        "optimize.root_scalar(f, bracket=[-3, 3])",
        "integrate.solve_ivp(lambda t, y: [f(t)], (0, 1), [0.5]).y",
        "integrate.odeint(lambda y, t: f(t), 0.5, [0, 0.5, 1])",
    ],
)
def test_results_of_float32(call):
    text = f"""
import numpy as np
from scipy import integrate, optimize
def f(x):
    return np.float32(x) * np.float32(1.3) - np.float32(0.1)
r = repr({call})
"""
    found, _ = differences(text, 1)
    assert not found
