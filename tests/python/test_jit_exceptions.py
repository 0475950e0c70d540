"""What exceptions of compiled functions are raised with, and what handlers see, against CPython.

PYTEST_DONT_REWRITE: asserts that fail say what CPython says.
"""

import math
import random

import numpy as np
import pytest
from jit_check import made
from numbus import njit
from numbus.kernels import UnsupportedError


class Own(ValueError):
    pass


class Told(Exception):
    def __init__(self, what, count=0):
        super().__init__(what, count)
        self.what = what

    def __str__(self):
        return f"told {self.what}!"


def chain(error):
    """An exception and its causes, as what can be compared."""
    found = []
    while error is not None:
        found.append((type(error), error.args, str(error)))
        error = error.__cause__
    return found


def outcome(f, *args):
    try:
        return f(*args)
    except Exception as error:
        return chain(error)


def same(f, *args):
    want, got = outcome(f, *args), outcome(njit(f), *args)
    assert repr(got) == repr(want), (got, want)


def several(n, x, s):
    if n == 0:
        raise ValueError("two", 3)
    if n == 1:
        raise ValueError(n, x, s)
    if n == 2:
        raise Own(n)
    if n == 3:
        raise Own(x)
    if n == 4:
        raise KeyError(s, n)
    if n == 5:
        raise Own(f"{n} and {s}", x > 1)
    if n == 6:
        raise Own(f"{x:8.3f}|{n:03d}")
    if n == 7:
        raise Own("")
    if n == 8:
        raise Own
    if n == 9:
        raise Own(None)
    if n == 10:
        raise Own("a{b}", (n, (s, x)))
    if n == 11:
        raise Told(s, n)
    if n == 12:
        raise Told("a")
    if n == 13:
        raise Own(n, n + 1, n + 2)
    if n == 14:
        raise Own(x > 2)
    if n == 15:
        raise Own(f"{n}{x}{n}{s}")
    if n == 16:
        raise IndexError(-n, math.inf * x)
    if n == 17:
        raise Own(s)
    if n == 18:
        assert n < 0, s
    if n == 19:
        assert n < 0, n
    if n == 20:
        assert n < 0, (n, x)
    return n


@pytest.mark.parametrize("n", range(22))
def test_arguments(n):
    same(several, n, 2.5, "käse")
    same(several, n, -0.0, "")


def asked(n, x, s):
    try:
        try:
            if n == 0:
                raise ValueError("two", 3)
            if n == 1:
                raise Own(n, x, s)
            if n == 2:
                raise KeyError(s)
            if n == 3:
                raise Own(f"{n} of {s}")
            if n == 4:
                return str([1, 2][n])
            if n == 5:
                return str({1: 2}[n])
            if n == 6:
                return str(n // (n - 6))
            if n == 7:
                return str({s: 2}["other" + s])
            if n == 8:
                raise Own
            if n == 9:
                return str(x ** (n * 1e300))
        except LookupError as e:
            return "lookup " + str(e)
        except Own as e:
            return f"own {e}"
    except ArithmeticError as e:
        return repr(e)
    except Exception as error:
        text = str(error)
        return text + "|" + str(len(text)) + repr(error)
    return "nothing"


@pytest.mark.parametrize("n", range(11))
def test_text(n):
    def f(n, x, s):
        return asked(n, x, s)

    want, got = asked(n, 2.5, "ü"), njit(asked)(n, 2.5, "ü")
    if n == 4:  # the index is told
        assert got.startswith("lookup ")
    elif n == 6:  # CPython's own words differ from version to version
        assert got.startswith("ZeroDivisionError(")
    else:
        assert got == want


def arguments(n, x):
    got = 0.0
    for k in range(n):
        try:
            if k % 3 == 0:
                raise Own(k, x * k)
            raise Own(k * 2, x)
        except Own as e:
            a, b = e.args
            got += a * 100 + b + len(e.args)
    return got


def strings(s):
    try:
        raise Own(s, s + "!", len(s))
    except Own as e:
        return e.args[0] + e.args[1] * e.args[2]


def by_class(n):
    log = []
    for k in range(n):
        try:
            if k % 2:
                raise KeyError(k, "odd")
            raise Own(f"{k} is even")
        except KeyError as e:
            log.append(e.args[1] + str(e.args[0]))
        except Own as e:
            log.append(e.args[0])
    return log


def raiser(n):
    if n > 2:
        raise Own(n, "large")
    return n


def by_call(n):
    try:
        return "fine" + str(raiser(n))
    except Own as e:
        return e.args[1] + str(e.args[0] + 1)


def key(n):
    d = {(1, "a"): 2.5}
    try:
        return str(d[(n, "b")])
    except KeyError as e:
        return e.args[0][1] + str(e.args[0][0])


def test_args():
    same(arguments, 7, 0.5)
    same(strings, "ab")
    same(by_class, 5)
    for n in range(5):
        same(by_call, n)
    same(key, 3)


def several_kinds(n):
    try:
        if n:
            raise Own(n)
        raise Own("text")
    except Own as e:
        return str(e.args[0])


def test_args_of_several_kinds_say_so():
    with pytest.raises(UnsupportedError, match="several kinds"):
        njit(several_kinds)(1)


def changed_cause(n, s):
    try:
        raise Own(s, n) from ValueError("inner", n)
    except Own as e:
        raise e from TypeError(s)


def through_finally(n):
    log = [0]
    try:
        try:
            raise Own("inner", n)
        except Own as e:
            raise KeyError("outer") from e
    finally:
        log.append(n)


def dropped(n):
    for k in range(n):
        try:
            raise Own("a", k) from KeyError("b", k)
        except ValueError:
            pass
    raise Own("last")


@pytest.mark.parametrize("n", [0, 1, 2])
def test_causes(n):
    same(causes, n, "ß")


def causes(n, s):
    if n == 0:
        raise Own("zero") from KeyError(s, n)
    if n == 2:
        raise Own(s) from None
    try:
        raise KeyError(s, n)
    except KeyError as e:
        raise Own("of a key", n, s) from e


def twice(n):
    try:
        return 1.5 // (n - 3)
    except ZeroDivisionError as e:
        try:
            raise Own("first", n) from e
        except Own as f:
            raise ValueError("second") from f


def test_causes_of_causes():
    for f, *args in ((changed_cause, 3, "é"), (through_finally, 3), (dropped, 3)):
        same(f, *args)
    found = outcome(njit(twice), 3)
    assert [k for k, *_ in found] == [ValueError, Own, ZeroDivisionError]
    assert found[1][1] == ("first", 3)


# --- powers of Python's floats

BASES = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 1e200, -1e200, 1e-200, math.inf, -math.inf, math.nan, 3.0]
EXPONENTS = [0, 1, 2, 3, -1, -2, 5, 2**40, -(2**40), 2.0, -2.0, 0.5, 1e3, -1e3, math.inf, math.nan]


def powers(x, y):
    return x**y


def pow_(x, y):
    return pow(x, y)


def square(x):
    return x**2


def cube(x):
    return x**3


def constant():
    return 3.0 ** (2**40)


def constant_pow():
    return pow(3.0, 2**40)


def class_of(f, *args):
    try:
        value = f(*args)
    except (OverflowError, ZeroDivisionError) as error:
        return type(error)
    return "complex" if isinstance(value, complex) else value


def test_powers_that_overflow():
    compiled, compiled_pow = njit(powers), njit(pow_)
    for x in BASES:
        for y in EXPONENTS:
            want = class_of(powers, x, y)
            if want == "complex":
                continue
            for f in (compiled, compiled_pow):
                got = class_of(f, x, y)
                if isinstance(want, type) or isinstance(got, type):
                    assert got is want, (x, y, got, want)
                else:
                    assert math.isclose(got, want, rel_tol=1e-15) or repr(got) == repr(want)
        for f in (square, cube):
            assert repr(class_of(njit(f), x)) == repr(class_of(f, x)) or abs(x) == 2.5
    for f in (constant, constant_pow):
        with pytest.raises(OverflowError):
            njit(f)()
    assert np.isinf(njit(powers)(np.float64(3.0), 2**40))
    assert njit(error_model="numpy")(powers)(3.0, 2**40) == math.inf


# --- generated: raised here, in functions called, caught at random, with arguments of all kinds


def program(seed):
    """The text of a function of (n, x, s) that raises and catches."""
    r = random.Random(seed)
    values = [
        "n",
        "x",
        "s",
        "n + 1",
        "x * 2",
        "s + 'é'",
        "'a{b'",
        "3",
        "-1.5",
        "True",
        "n > 1",
        "(n, s)",
        "(x, (n, n))",
        "f'{n} of {s}'",
        "f'{x}'",
        "len(s)",
    ]
    classes = ["ValueError", "KeyError", "Own", "IndexError", "RuntimeError", "Told"]
    lines = ["def f(n, x, s):", "    log = ['']"]

    def raising(cls):
        count = r.randint(1, 2) if cls == "Told" else r.choice((0, 1, 1, 2, 2, 3, 4))
        args = ", ".join(r.choice(values) for _ in range(count))
        called = count or r.random() < 0.5 or cls == "Told"
        return f"raise {cls}({args})" if called else f"raise {cls}"

    for k in range(r.randint(1, 4)):
        cls = r.choice(classes)
        caught = r.choice((cls, cls, "Exception", "LookupError", "ValueError"))
        lines += ["    try:", f"        if n != {k}:", f"            {raising(cls)}"]
        lines += [f"    except {caught} as e:"]
        what = r.randint(0, 5)
        if what == 0:
            lines += ["        log.append(str(e))"]
        elif what == 1:
            lines += ["        log.append(f'<{e}>' + repr(e))"]
        elif what == 2:
            lines += [f"        {raising(r.choice(classes))} from e"]
        elif what == 3:
            lines += ["        if len(e.args) != 1:", "            log.append(str(len(e.args)))"]
        elif what == 4:
            lines += ["        raise"]
        else:
            lines += ["        log.append('caught')"]
    lines += [f"    if n == {r.randint(0, 3)}:", f"        {raising(r.choice(classes))}"]
    lines += ["    return log"]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("seed", range(60))
def test_generated(seed, tmp_path):
    f = made(program(seed), tmp_path, Own=Own, Told=Told)
    compiled = njit(f)
    for args in ((0, 0.5, "ab"), (1, -0.0, ""), (2, 1e300, "ü€"), (5, math.inf, "z")):
        want, got = outcome(f, *args), outcome(compiled, *args)
        if got[0] and "errors of several kinds" in str(got[0]):
            continue
        assert repr(got) == repr(want), (args, program(seed))
