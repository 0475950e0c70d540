"""Operators in compiled functions on values of all classes: CPython's answer, or a message."""

import itertools
import linecache
import math
import warnings

import numpy as np
import pytest
from numbus import njit
from numbus.kernels import CompileError, UnsupportedError

OPERATORS = "+ - * % << < == != in".split() + ["not in"]
# Names are arguments: an int, an int64, a float, an array.
SEQUENCES = ["[1, 2]", "[1.5]", "[]", "(1, 2)", "(1.5,)", "()", "[[1, 2]]", "[(1, 2)]", "((1, 2),)"]
OTHERS = ["'a'", "None", "range(2)"]
NUMBERS = ["i", "n", "x", "1j", "np.float32(2)"]
ARRAYS = ["a", "np.arange(2)", "np.array(3)"]
ARGUMENTS = (1, np.int64(1), 2.5, np.array([1, 2]))


def same(got, want):
    if isinstance(want, (tuple, list)) or isinstance(got, (tuple, list)):
        return type(got) is type(want) and len(got) == len(want) and all(map(same, got, want))
    if want is None or got is None:
        return got is want
    if isinstance(got, str) or isinstance(want, str):
        return type(got) is type(want) and got == want
    if np.shape(got) != np.shape(want):
        return False
    return np.allclose(got, want, rtol=1e-14, atol=0, equal_nan=True)


def outcome(function):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*ARGUMENTS)
        except Exception as error:
            return error


def check(text, lines=""):
    source = f"def f(i, n, x, a):\n{lines}    return {text}\n"
    file = f"<operators {lines}{text}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    names = {"np": np, "math": math}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        exec(compile(source, file, "exec"), names)
    got, want = outcome(njit(names["f"])), outcome(names["f"])
    if isinstance(got, UnsupportedError):
        return False
    if isinstance(got, CompileError):
        # What is told while compiling has no answer in CPython either.
        return isinstance(want, (TypeError, ValueError, LookupError, AttributeError)) or text
    if isinstance(got, Exception) or isinstance(want, Exception):
        return isinstance(want, type(got)) or text
    return same(got, want) or text


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("left", ["sequence", "other"])
def test_right_or_told(operator, left):
    """Sequences and what is no number on one side or both; a sum of lists has one type."""
    lefts = SEQUENCES if left == "sequence" else OTHERS
    every = SEQUENCES + OTHERS + NUMBERS + ARRAYS
    pairs = list(itertools.product(lefts, every)) + list(itertools.product(every, lefts))
    checked = {f"{a} {operator} {b}": check(f"{a} {operator} {b}") for a, b in dict.fromkeys(pairs)}
    assert not [text for text, fine in checked.items() if isinstance(fine, str)]
    assert sum(map(bool, checked.values())) > len(checked) // 5  # not all are "not yet"


USES = ["-{0}", "+{0}", "~{0}", "{0}[0]", "{0}[n]", "{0}[True]", "{0}[()]", "{0}[None]", "{0}[...]",
        "{0}[a]", "{0}[[0, 0]]", "{0}.shape", "{0}.real", "{0}.T", "{0}.size", "abs({0})",
        "sorted({0})", "sum({0})", "any({0})", "min({0})", "math.floor({0})", "np.round({0})",
        "np.sort({0})", "len({0})", "bool({0})"]  # fmt: skip


@pytest.mark.parametrize("use", USES)
def test_uses(use):
    """What may be done with lists, tuples, numbers and arrays."""
    every = [*SEQUENCES, *NUMBERS, *ARRAYS, "'ab'", "None", "np.zeros((2, 2))"]
    checked = [check(use.format(v)) for v in every]
    assert not [text for text in checked if isinstance(text, str)]


@pytest.mark.parametrize("value", "i|x|n|1j|[1, 2]|[1.5]|[[1, 2]]|a|a * 0.5".split("|"))
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float32"])
def test_in_place(dtype, value):
    """An array takes what NumPy casts into it, of its own shape."""
    for change in ("v += {0}", "v[:1] += {0}", "v /= {0}", "np.add(v, {0}, v)", "v[1] += {0}"):
        if dtype == "bool" and "/" in change:
            continue
        made = f"v = np.ones(2, np.{dtype.replace('bool', 'bool_')})"
        lines = f"    {made}\n    {change.format(value)}\n"
        assert not isinstance(check("v", lines), str), (change, lines)


def test_a_list_in_an_empty_list():
    def f():
        v = []
        v.append([])
        return v

    assert njit(f)() == [[]]
    for text in ("*[(1, 2), (3, 4)]", "*[]"):
        lines = f"    v = [{text}]\n    v.append(v[0])\n    p, *q = v\n"
        assert not isinstance(check("p", lines), str)


def test_roots_by_a_constant_exponent():
    root = njit(lambda x: x**0.5)
    for x in (0.0, -0.0, math.inf, -math.inf, math.nan, 2.0, 0.25, 1e-320, 1e308):
        want = math.sqrt(x) + 0.0 if x >= 0 else abs(x)
        assert repr(root(x)) == repr(want), x
    with pytest.raises(ValueError, match="fractional"):
        root(-2.0)
    for dtype in (np.float16, np.float32, np.float64):
        got = njit(lambda x: x[0] ** 0.5)(np.array([2.0], dtype))
        assert got == float(np.sqrt(dtype(2.0)))
        x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, 2.0, 7.0, 0.25], dtype)
        with np.errstate(all="ignore"):
            want = x**0.5
        got = njit(lambda x: x**0.5)(x)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(np.signbit(got[:2]), np.signbit(want[:2]))
