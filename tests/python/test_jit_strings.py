"""Strings in compiled functions, known while compiling or not, at all positions of a program."""

import linecache
import subprocess
import sys

import numpy as np
import pytest
from jit_check import equal
from numbus import njit
from numbus.kernels import CompileError, UnsupportedError

# Values that are or hold a string, as expressions of x (a float) and n (an integer).
STRINGS = {
    "constant": "'abc'",
    "empty": "''",
    "accented": "'é\\u4e2d'",
    "quoted": "'it\\'s'",
    "number": "f'{x}'",
    "numbers": "f'{x} and {n}'",
    "constant_part": "f'a{n}b'",
    "no_part": "f'abc'",
    "repr": "f'{n!r}'",
    "debug": "f'{n=}'",
    "format": "f'{x:.2f}'",
    "nested": "f'{n}{f\"{x}\"}'",
    "choice": "('a' if n > 2 else 'b')",
    "sum": "'a' + 'b'",
    "product": "'ab' * n",
    "percent": "'%d' % n",
    "item": "'abc'[n]",
    "slice": "'abc'[::2]",
    "global_": "WORD",
    "global_tuple": "WORDS",
    "str": "str(n)",
    "upper": "'abc'.upper()",
    "joined": "','.join(('a', 'b'))",
    "bytes": "b'abc'",
}
# Where such a value may be.
POSITIONS = {
    "result": "return {0}",
    "tuple": "return (n, {0})",
    "nested_tuple": "return (n, (x, {0}))",
    "list": "return [{0}]",
    "list_of_two": "return [{0}, {0}]",
    "mixed_list": "return [{0}, n]",
    "list_of_tuples": "return [(n, {0})]",
    "appended": "y = [{0}]\n    y.append({0})\n    return y",
    "comprehension": "return [{0} for i in range(n)]",
    "tuple_of_comprehension": "return [{0} for i in (1, 2)]",
    "named_tuple": "return Pair(n, {0})",
    "replaced": "return Pair(n, x)._replace(second={0})",
    "variable": "y = {0}\n    return y",
    "variable_in_tuple": "y = {0}\n    return y, n",
    "unpacked": "y, z = {0}, n\n    return y",
    "branch": "y = {0}\n    if n > 1:\n        y = {0}\n    return y",
    "loop": "y = {0}\n    for i in range(n):\n        y = {0}\n    return y",
    "length": "return len({0})",
    "characters": "k = 0\n    for c in {0}:\n        k += 1\n    return k",
    "equal": "return {0} == 'abc'",
    "unequal": "return {0} != WORD",
    "ordered": "return {0} < 'b'",
    "is_": "return {0} is None",
    "inside": "return 'a' in {0}",
    "in_tuple": "return {0} in ('abc', 'b')",
    "truth": "return 1 if {0} else 2",
    "not_": "return not {0}",
    "and_": "return {0} and n",
    "or_": "return {0} or n",
    "added": "return {0} + 'a'",
    "multiplied": "return {0} * 2",
    "first": "return {0}[0]",
    "ends": "return {0}[::-1]",
    "item_of_tuple": "return ({0}, 'b')[n]",
    "item_known": "return ({0}, n)[1]",
    "argument": "return given({0}, n)",
    "back": "return back({0})",
    "inner": "def f(s):\n        return s\n    return f({0})",
    "lambda_": "return (lambda s: n)({0})",
    "default": "def f(s={0}):\n        return s\n    return f()",
    "generator": "k = 0\n    for s in words({0}):\n        k += len(s)\n    return k",
    "zipped": "return [p for p in zip((1, 2), ({0}, {0}))]",
    "enumerated": "return [p for p in enumerate(({0}, {0}))]",
    "largest": "return max({0}, 'b')",
    "sorted_": "return sorted(({0}, 'b'))",
    "array": "return np.array([{0}, 'b'])",
    "stored": "y = np.zeros(2)\n    y[0] = {0}\n    return y",
    "number": "return float({0})",
    "whole": "return int({0})",
    "starred": "a, *b = ({0}, n, n)\n    return b",
    "starred_string": "a, *b = (n, n, {0})\n    return b",
    "compared_tuple": "return ({0}, n) == ('abc', n)",
    "counted": "return ('abc', 'b').count({0})",
    "found": "return ('abc', 'b', '').index({0})",
    "returned_by_two": "if n > 1:\n        return {0}\n    return 'abc'",
    "sum_of_tuples": "return (n, {0}) + (x,)",
    "times_tuple": "return ({0},) * 2",
    "reversed_": "return reversed((n, {0}))[0] if False else [v for v in reversed((n, {0}))]",
    "isinstance_": "return isinstance({0}, int), isinstance({0}, tuple), isinstance({0}, str)",
    "in_dtype": "return np.zeros(2, {0})",
    "conditional": "return ({0} if n > 1 else {0})",
    "deleted": "y = {0}\n    del y\n    return n",
    "expression": "{0}\n    return n",
    "walrus": "if (y := {0}):\n        return n\n    return 0",
}

HEAD = """
from collections import namedtuple
import numpy as np
WORD = "abc"
WORDS = ("abc", "b")
Pair = namedtuple("Pair", "first second")
def given(s, n):
    return n + 1
def back(s):
    return (s, 1)
def words(s):
    yield s
    yield s
def f(x, n):
    """


def program(name, body):
    text = HEAD + body + "\n"
    file = f"<strings {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names = {}
    exec(compile(text, file, "exec"), names)
    return names["f"]


@pytest.mark.parametrize("position", POSITIONS)
def test_right_or_not_yet(position):
    """Every kind of string at every position: CPython's answer, or an error that names the line."""
    right = 0
    for kind, string in STRINGS.items():
        f = program(f"{kind} {position}", POSITIONS[position].format(string))
        try:
            ours = njit(f)(2.5, 1)
        except CompileError as error:  # told while compiling, with the line
            assert error.line is not None, (kind, error)
            continue
        except Exception as error:
            if "not yet" in str(error):
                continue
            with pytest.raises(type(error)):
                f(2.5, 1)
            continue
        try:
            theirs = f(2.5, 1)
        except Exception as error:
            raise AssertionError(f"{kind}: {ours!r}, but CPython raises {error!r}") from None
        assert type(ours) is type(theirs) or isinstance(theirs, (np.generic, tuple)), (kind, ours)
        equal(ours, theirs, 0)
        right += 1
    if position in ("length", "expression", "argument", "equal", "unequal", "lambda_"):
        assert right > 3  # constants are known


def test_printed(capsys):
    def f(x, n):
        print(f"{x} and {n}!", n, f"{'inside'}", f"a{f'{n}'}b")
        print(("one", 2), "it's", sep="-", end=";\n")

    f(2.5, 1)
    wanted = capsys.readouterr().out
    njit(f)(2.5, 1)
    assert capsys.readouterr().out == wanted


def test_messages():
    def f(n):
        if n > 1:
            raise ValueError(f"n is {n}")
        raise KeyError("constant")

    for n in (1, 2):
        with pytest.raises((ValueError, KeyError)) as ours:
            njit(f)(n)
        with pytest.raises(type(ours.value)) as theirs:
            f(n)
        assert ours.value.args == theirs.value.args


# Other values that are special while compiling, at the same positions.
VALUES = {
    "empty_list": "[]",
    "empty_tuple": "()",
    "list_of_lists": "[[1], [2, 3]]",
    "list_of_empty": "[[]]",
    "list_of_empty_tuple": "[()]",
    "list_of_none": "[None]",
    "mixed_list": "[1, (2, 3)]",
    "list": "[1, 2]",
    "none": "None",
    "with_none": "(n, None)",
    "ellipsis": "...",
    "dtype": "np.float64",
    "slice": "slice(1, 2)",
    "range": "range(n)",
    "lambda": "(lambda v: v + 1)",
    "function": "given",
    "module": "np",
    "class": "Pair",
    "exception": "ValueError",
    "array": "np.ones(2)",
    "computed": "(np.ones(2) + x)",
    "view": "np.ones(4)[::2]",
    "arrays": "(np.ones(2), np.zeros(1))",
    "zip": "zip((1, 2), np.ones(2))",
    "uint64": "9223372036854775808",
}


def special(kind):
    """Differences of one kind of value at all positions; run in a process of its own."""
    wrong = []
    for position, body in POSITIONS.items():
        f = program(f"{kind} {position}", body.format(VALUES[kind]))
        print(position, flush=True)
        try:
            ours = njit(f)(2.5, 1)
        except CompileError as error:
            assert error.line is not None, (position, error)
            continue
        except Exception as error:
            ours = error
        try:
            theirs = f(2.5, 1)
        except Exception as error:
            theirs = error
        if isinstance(theirs, Exception) or isinstance(ours, Exception):
            if type(ours) is not type(theirs) and not isinstance(ours, Exception):
                wrong.append((position, ours, theirs))
            continue
        try:
            equal(ours, theirs, 0)
        except (AssertionError, TypeError, ValueError, KeyError):
            wrong.append((position, ours, theirs))
    print("wrong:", wrong)


@pytest.mark.parametrize("kind", VALUES)
def test_special_values_are_right_or_refused(kind):
    text = "import sys; sys.path.insert(0, sys.argv[1]); import test_jit_strings as t"
    run = subprocess.run(
        [sys.executable, "-c", f"{text}; t.special('{kind}')", str(__file__).rpartition("/")[0]],
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert run.stdout.endswith("wrong: []\n"), run.stdout[-1500:] + run.stderr[-500:]


WORDS = ["''", "'a'", "'abc'", "'b'", "'é\\u4e2d'", "f'a{1 + 1}{True}'", "'ab' * 2 + 'c'"]


@pytest.mark.parametrize("word", WORDS)
def test_constants_are_known(word):
    """What follows from constants alone is as CPython has it."""
    for body in (
        "s = {0}\n    return len(s[0]) + len(s[-1]), s[0] == s[-1]",
        "s = {0}\n    return s[:2] == 'ab', s[::-1] == 'cba', len(s[1:-1]), s[-9:9:2] + '' == s",
        "s = {0}\n    t = s + 'b' + s * n_\n    return len(t), t == 'abcbabc', 'ca' in t, t > s",
        "s = {0}\n    return [s < w for w in ('a', 'é', '')], s <= 'abc', s >= 'b', 'b' != s > ''",
        "s = {0}\n    return s == n, n != s, (s,) == s, bool(s), not s, 1 if s else 2",
        "s = {0}\n    s += '!'\n    return len(f'{{s}}-{{s[0]}}'), (s, n)[0] == s",
        "s = {0}\n    raise ValueError(s + '{{0}} {{' + f'{{s}}{{{{1}}}}')",
    ):
        body = body.format(word).replace("n_", "2")
        f = program(f"{word} {body}", body)
        try:
            want = f(2.5, 1)
        except Exception as error:
            with pytest.raises(type(error)) as ours:
                njit(f)(2.5, 1)
            assert str(ours.value) == str(error)
            continue
        got = njit(f)(2.5, 1)
        equal(got, want, 0)


@pytest.mark.parametrize("text", ["'a' + n", "n + 'a'", "'a' - 'b'", "'a' < n", "n in 'a'", "-'a'"])
def test_mistakes(text):
    f = program(text, f"return {text}")
    with pytest.raises(TypeError):
        f(2.5, 1)
    with pytest.raises(CompileError) as ours:
        njit(f)(2.5, 1)
    assert not isinstance(ours.value, UnsupportedError) and ours.value.line is not None
