"""Arguments at the limits of compiled functions: the answer of NumPy or an error, and an end."""

import itertools
import linecache
import math
import subprocess
import sys

import numpy as np
import pytest
from numbus import njit
from numbus.kernels import CompileError, UnsupportedError

NAN, INF = math.nan, math.inf
FLOATS = [NAN, INF, -INF, 0.0, -1.0, 1.0, 0.5, 2.5, 1e-300, 1e300, 5e-324, 1e18]
COUNTS = [0, -1, 1, 3, 10**9]
# Where NumPy's own methods never end, or give numbers that have wrapped.
BEYOND = {
    "vonmises": lambda mu, kappa: kappa > 1e15,
    "zipf": lambda a: a >= 1025,
    "noncentral_chisquare": lambda df, nonc: nonc > 1e18 and df <= 1,
    "negative_binomial": lambda n, p: p < 1e-200 or not 0 < n <= 1e18,
    "binomial": lambda n, p: isinstance(n, float) and not abs(n) < 1e15,
    "hypergeometric": lambda good, bad, sample: max(good, bad) >= 10**9,
}
DISTRIBUTIONS = {
    **dict.fromkeys(["chisquare", "exponential", "geometric", "logseries", "pareto", "poisson"], 1),
    **dict.fromkeys(["power", "rayleigh", "standard_gamma", "standard_t", "weibull", "zipf"], 1),
    **dict.fromkeys(["beta", "binomial", "f", "gamma", "gumbel", "laplace", "logistic"], 2),
    **dict.fromkeys(["lognormal", "negative_binomial", "noncentral_chisquare", "normal"], 2),
    **dict.fromkeys(["uniform", "vonmises", "wald"], 2),
    **dict.fromkeys(["hypergeometric", "triangular"], 3),
}


def compiled(text, name="f"):
    file = f"<limits {hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names = {"np": np, "math": math}
    exec(compile(text, file, "exec"), names)
    return njit(names[name]), names[name]


def outcome(f, *args):
    try:
        return f(*args)
    except (MemoryError, TypeError) as error:  # NumPy's are classes of their own
        return MemoryError if isinstance(error, MemoryError) else TypeError
    except Exception as error:
        return type(error)


def parameters(name, count):
    if name == "hypergeometric":
        return itertools.product([0, -1, 1, 3, 10**9 - 1], repeat=3)
    if count == 3:
        return itertools.product([NAN, INF, 0.0, -1.0, 1.0, 2.5], repeat=3)
    return itertools.product(FLOATS, repeat=count)


def distributions():
    """Run in a process of its own, which a hang ends."""
    import faulthandler
    import warnings

    warnings.simplefilter("ignore")
    seed, _ = compiled("def f(): np.random.seed(7)\n")
    for name, count in DISTRIBUTIONS.items():
        args = ", ".join("abc"[:count])
        f, _ = compiled(f"def f({args}): return np.random.{name}({args})\n")
        for given in parameters(name, count):
            faulthandler.dump_traceback_later(20, exit=True)
            seed()
            ours = outcome(f, *given)
            beyond = BEYOND.get(name)
            if beyond and beyond(*given):
                continue
            np.random.seed(7)
            theirs = outcome(getattr(np.random, name), *given)
            if isinstance(ours, type) or isinstance(theirs, type):
                assert ours is theirs, (name, given, ours, theirs)
            else:
                assert np.allclose(ours, theirs, rtol=1e-9, equal_nan=True), (name, given, ours)
        faulthandler.cancel_dump_traceback_later()
    print("all of them")


def test_distributions_of_special_parameters():
    text = "import sys; sys.path.insert(0, sys.argv[1]); import test_jit_limits as t"
    run = subprocess.run(
        [sys.executable, "-c", f"{text}; t.distributions()", str(__file__).rpartition("/")[0]],
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert run.returncode == 0 and "all of them" in run.stdout, run.stderr[-2000:]


WHOLE = {"gcd": 2, "lcm": 2, "factorial": 1, "comb": 2, "perm": 2, "isqrt": 1}


@pytest.mark.parametrize("name", WHOLE)
def test_integer_functions(name):
    args = ", ".join("ab"[: WHOLE[name]])
    f, plain = compiled(f"def f({args}): return math.{name}({args})\n")
    values = [0, 1, 5, 12, 20, True, 3037000499, 2**62, 2**63 - 1, -1, -7]
    odd = [NAN, INF, 2.0, 2.5, 1j, np.float32(4), np.float64(2)]
    for given in itertools.product(values + odd, repeat=WHOLE[name]):
        if name in ("comb", "perm", "factorial") and any(
            isinstance(v, int) and v > 30 for v in given
        ):
            continue
        theirs = outcome(plain, *given)
        if isinstance(theirs, int) and not -(2**63) <= theirs < 2**63:
            continue
        assert outcome(f, *given) == theirs, given


@pytest.mark.parametrize("name", ["gcd", "lcm"])
def test_integer_functions_of_arrays(name):
    f, plain = compiled(f"def f(a, b): return np.{name}(a, b)\n")
    for a, b in [(6, 4), (NAN, 1), (2.5, 1), (np.array([6, 9]), 4), (np.array([1.0, NAN]), 2)]:
        assert np.array_equal(outcome(f, a, b), outcome(plain, a, b)), (a, b)


def test_powers_of_a_modulus():
    f, plain = compiled("def f(a, b, m): return pow(a, b, m)\n")
    large = 2**61 - 1
    values = [0, 1, 2, 3, 10, -3, 97, large - 1, 2**62, 2**63 - 1]
    for a, b in itertools.product(values, [0, 1, 2, 5, -1, -3, large, 2**63 - 1]):
        for m in (1, 2, 7, -7, 97, 1000, large, -large, 2**63 - 1, 0):
            assert outcome(f, a, b, m) == outcome(plain, a, b, m), (a, b, m)


@pytest.mark.parametrize("made", ["np.zeros", "np.ones", "np.empty"])
@pytest.mark.parametrize(
    "shape", ["n", "(n,)", "(n, 3)", "(3, n)", "(n, n)", "(2, n, n)", "(n, 0)"]
)
def test_memory_that_is_not_there(made, shape):
    f, plain = compiled(f"def f(n): return {made}({shape}).size\n")
    for n in (-(2**63), -1, 0, 5, 10**15, 2**61, 2**63 - 1):
        ours, theirs = outcome(f, n), outcome(plain, n)
        # NumPy tells sizes that no address reaches from those that no machine has.
        if theirs is ValueError and n > 0:
            theirs = MemoryError
        if "0" in shape and n > 0:
            theirs = 0  # no elements, whose product of extents NumPy still refuses where it wraps
        assert ours == theirs, n
    assert outcome(compiled(f"def f(): return {made}(10 ** 15).size\n")[0]) is MemoryError


def test_lists_that_do_not_fit():
    f, plain = compiled("def f(n): return len([1, 2] * n) + len(n * [0.5])\n")
    for n in (2, 0, -1, -(2**63), 1000):
        assert f(n) == plain(n)
    for n in (2**45, 2**58, 2**60, 2**61, 2**62, 2**63 - 1):
        assert outcome(f, n) is MemoryError
    empty, _ = compiled("def f(n): return len([0 for i in range(0)] * n)\n")
    assert empty(2**63 - 1) == 0


def test_differences_of_any_order():
    for axis in (-3, -2, -1, 0, 1, 2):
        f, plain = compiled(f"def f(a, n): return np.diff(a, n, {axis})\n")
        for a in (np.arange(5.0) ** 2, np.arange(6).reshape(2, 3) ** 2, np.zeros(0)):
            for n in (-2, -1, 0, 1, 2, 9):
                ours, theirs = outcome(f, a, n), outcome(plain, a, n)
                if ours is np.exceptions.AxisError:  # looked at first, and where n is 0
                    assert not -a.ndim <= axis < a.ndim
                    continue
                same = ours is theirs if isinstance(theirs, type) else np.array_equal(ours, theirs)
                assert same, (a, n, axis, ours, theirs)
    f, plain = compiled("def f(a, n, axis): return np.diff(a, n, axis)\n")
    for a in (np.arange(5.0) ** 2, np.arange(6.0).reshape(2, 3) ** 2):
        for axis in range(-a.ndim, a.ndim):
            np.testing.assert_array_equal(f(a, 1, axis), plain(a, 1, axis))


def test_arrays_in_list_items():
    def stored(n):
        a = np.zeros(3)
        xs = [a, np.ones(3)]
        xs[0] = np.full(3, 2.0) * n
        xs[1] = xs[0] + xs[1]
        xs[-1] += 5
        ys = [a]
        ys[0] += 1
        for i in range(n):
            xs[i % 2] = np.arange(3.0) + i
            xs.append(xs[0] * i)
        xs[2][1] = 7
        return xs, ys, a

    for n in (1, 2, 7):
        ours, theirs = njit(stored)(n), stored(n)
        for o, t in zip(ours[0] + ours[1] + [ours[2]], theirs[0] + theirs[1] + [theirs[2]]):
            assert o.tolist() == t.tolist()


def test_items_of_a_list_that_does_not_grow():
    def swapped(x):
        xs = [x, x * 2]
        xs[0] = x * 3
        xs[1] += 1
        return xs

    x = np.arange(3.0)
    assert [a.tolist() for a in njit(swapped)(x)] == [a.tolist() for a in swapped(x)]


SLICES = [None, 0, 1, 2, 3, 5, -1, -2, -4, -9, 9, 2**63 - 1, -(2**63)]


def test_slices_of_tuples():
    values = (1, 2.5, (3, 4), 5)
    for size in (4, 1, 0):
        lines = []
        for start, stop in itertools.product(SLICES, SLICES):
            for step in (None, 1, 2, 3, -1, -2, -3, 9, -9, 2**63 - 1, -(2**63) + 1):
                parts = ["" if p is None else str(p) for p in (start, stop, step)]
                lines.append(f"t[{':'.join(parts)}]")
        for k in range(0, len(lines), 300):
            some = lines[k : k + 300]
            f, plain = compiled(f"def f(t): return ({', '.join(some)})\n")
            assert f(values[:size]) == plain(values[:size])


def test_slices_of_tuples_that_are_not_constant():
    for text in ("t[::0]", "t[::n]", "t[n:]", "t[:1.5]"):
        f, _ = compiled(f"def f(t, n): return {text}\n")
        with pytest.raises(CompileError):
            f((1, 2, 3), 1)


def test_zip_of_nothing():
    def f():
        n = 0
        for _ in zip():
            n += 1
        return n, list(zip((1, 2), (3, 4))), len(list(zip((), (1,))))

    assert njit(f)() == (0, [(1, 3), (2, 4)], 0)
    assert njit(lambda: [v for v in zip()])() == []
    with pytest.raises(UnsupportedError, match="an empty list"):
        njit(lambda: (1, [v for v in zip()]))()


# zip and its kin are no tuples: CPython refuses these, and so do compiled functions.
ITERATORS = ["zip(x, x)", "enumerate(x)", "map(abs, x)", "np.ndindex(2, 2)", "np.ndenumerate(x)"]
USES = ["{0}[0]", "len({0})", "{0} + (1,)", "{0} * 2", "{0} == {0}", "({0}, 1)", "{0}", "[{0}]"]


@pytest.mark.parametrize("made", ITERATORS)
@pytest.mark.parametrize("use", USES)
def test_iterators_are_no_tuples(made, use):
    f, _ = compiled(f"def f(x): return {use.format(made)}\n")
    with pytest.raises(CompileError) as error:
        f(np.arange(3.0))
    assert error.value.line == 1


def test_a_function_that_always_raises():
    text = """
def never(x):
    raise ValueError("never")
def unless(x):
    if isinstance(x, float):
        raise TypeError("a float")
def f(x):
    if x > 2:
        never(x)
    unless(x)
    return x
"""
    f, plain = compiled(text)
    for x in (1, 3, 1.5, 3.5):
        assert outcome(f, x) == outcome(plain, x), x


def test_decorators_of_inner_functions():
    def f(x):
        @twice
        def g(v):
            return v + 1

        return g(x)

    def twice(function):
        return lambda v: function(function(v))

    with pytest.raises(CompileError, match="decorator") as error:
        njit(f)(1)
    assert error.value.line == f.__code__.co_firstlineno + 1


def test_defaults_of_inner_functions():
    text = """
N = 5
def f(x):
    def g(v, k=N, *, m=N + 1):
        return v * k + m
    return g(x) + (lambda v, k=N: v - k)(x)
"""
    f, plain = compiled(text)
    assert f(3) == plain(3)
