"""Names that are None where a function is called with them first, and hold a value later on."""

import itertools

import numpy as np
import pytest
from jit_check import made
from numbus import njit
from numbus.kernels import CompileError

VALUES = {
    "int": ("i + 1", ["{} + 1", "abs({}) * 2", "min({}, 3)", "[k for k in range({})]", "-{}"]),
    "float": ("i * 0.5", ["{} / 2", "int({} * 4)", "{} > 0.25", "{} ** 2", "max({}, 0.5)"]),
    "item": ("a[i]", ["{} * 2", "{} == a[1]", "a + {}", "int({}) + 1"]),
    "str": ("'ab' * i", ["{} + 'c'", "{}.upper()", "len({})", "[c for c in {}]", "'a' in {}"]),
    "tuple": ("(i, 2.5)", ["{}[0] + {}[1]", "len({})", "{} + (1,)", "{} == (1, 2.5)"]),
    "list": ("[i, 3]", ["{}[0]", "len({}) + sum({})", "{} + [4]", "[k + 1 for k in {}]"]),
    "array": ("a * i", ["{}[1]", "{} + a", "{}.sum()", "len({})"]),
}
CALLS = {
    "direct": "def g(x, a):\n    return {}\n",
    "nested": "def h(x, a):\n    return {}\ndef g(x, a):\n    y = x\n    return h(y, a)\n",
    "by name": "def g(a, x):\n    return {}\n",
    "in a tuple": "def h(t, a):\n    x, k = t\n    return {}\n"
    "def g(x, a):\n    return h((x, 1), a)\n",
}
CASES = [(k, e, how) for k, (_, all_) in VALUES.items() for e in all_ for how in CALLS]


def outcome(f, *args):
    try:
        return f(*args)
    except (TypeError, AttributeError) as error:
        return type(error)


def same(x, y):
    if isinstance(x, (list, tuple)):
        return type(x) is type(y) and len(x) == len(y) and all(map(same, x, y))
    return type(np.asarray(x).tolist()) is type(np.asarray(y).tolist()) and np.array_equal(x, y)


@pytest.mark.parametrize("kind, expression, how", CASES)
def test_called_with_what_is_none_first(kind, expression, how, tmp_path):
    call = "g(a=a, x=o)" if how == "by name" else "g(o, a)"
    text = (
        CALLS[how].format(expression.replace("{}", "x"))
        + "def f(n, a, first):\n    o = None\n    found = []\n    for i in range(n):\n"
        + f"        if i >= first:\n            found.append({call})\n"
        + f"        o = {VALUES[kind][0]}\n    return found\n"
    )
    f = made(text, tmp_path)
    compiled = njit(f)
    a = np.array([1.0, 2.0, 0.5, 4.0])
    for n, first in ((4, 1), (3, 2)):
        want, got = f(n, a, first), compiled(n, a, first)
        assert len(want) == len(got) > 0 and all(map(same, want, got)), (want, got)
    # Where it is None at run time, Python's error comes; == has no quarrel with None.
    want, got = outcome(f, 4, a, 0), outcome(compiled, 4, a, 0)
    assert want is got or all(map(same, want[1:], got[1:])), (want, got)


def add_one(x):
    return x + 1


def never_more_than_none(n):
    o = None
    for _ in range(n):
        o = None
    return add_one(o)


def test_what_stays_none_is_an_error_with_its_line():
    with pytest.raises(CompileError, match=r"does not work on None and int[\s\S]*in add_one"):
        njit(never_more_than_none)(3)


NUMBERS = [2, 2.5, True, np.int8(2), np.float32(2.5), np.bool_(True), np.int64(2)]


def compared(x, y, there):
    o = None
    if there:
        o = x
    e, d = o == y, y != o
    return e + e, d + d, ~e, (o == None) + True, (None != o) + True  # noqa: E711


@pytest.mark.parametrize("x, y", list(itertools.product(NUMBERS, NUMBERS)))
def test_equality_has_numpys_bool_where_numpys_numbers_are(x, y):
    want, got = compared(x, y, True), njit(compared)(x, y, True)
    assert tuple(np.asarray(v).item() for v in want) == got
    # One type: where there is none, it is that of the comparison.
    kind = type(x == y)
    e, d = kind(False), kind(True)
    assert njit(compared)(x, y, False)[:3] == tuple(
        np.asarray(v).item() for v in (e + e, d + d, ~e)
    )
