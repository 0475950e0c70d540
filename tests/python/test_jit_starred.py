"""`*` in lists and sets that are written in compiled functions; errors that name a text."""

import random
import sys

import numpy as np
import pytest
from numbus import njit
from numbus.kernels import UnsupportedError

# Displays are drawn from these pieces: what follows a star, and plain elements.
ITEMS = ("*a", "*b", "*t", "*range(n)", "*[x + 1 for x in a]", "*s", "*reversed(a)", "n", "7")


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("brackets", ("[]", "{}"))
def test_displays_as_in_python(tmp_path, monkeypatch, seed, brackets):
    rng = random.Random(seed)
    lines = []
    for k in range(4):
        chosen = rng.choices(ITEMS, k=rng.randrange(1, 5))
        chosen.insert(rng.randrange(len(chosen) + 1), "*a")
        text = ", ".join(chosen)
        lines.append(f"def f{k}(a, b, t, s, n):\n    return {brackets[0]}{text}{brackets[1]}\n")
    name = f"starred_{seed}_{'list' if brackets == '[]' else 'set'}"
    (tmp_path / f"{name}.py").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(str(tmp_path))
    module = __import__(name)
    given = [4, 5], [9], (1, 2), {3}, rng.randrange(3)
    for k in range(4):
        function = getattr(module, f"f{k}")
        assert njit(function)(*given) == function(*given), lines[k]
    del sys.modules[name]


def grows(a):
    def more():
        a.append(9)
        return 5

    return [*a, more(), *a]


def loops(n):
    total = 0
    rows = [0]
    for k in range(n):
        rows = [*rows, k]
        total += len([*rows, *rows])
    return rows, total


def mixed(x):
    return [*x, 1.5], [0.5, *x]


def texts(s):
    return [*s, "end"], [*s.split(",")]


def unpacks(a):
    first, *rest = [*a, 3]
    return first, rest


def test_what_is_evaluated_when():
    assert njit(grows)([1]) == grows([1])
    assert njit(loops)(4) == loops(4)
    assert njit(mixed)([1, 2]) == mixed([1, 2])
    assert njit(mixed)(np.array([1, 2])) == mixed([1, 2])
    assert njit(texts)("b,c") == texts("b,c")
    assert njit(unpacks)([1, 2]) == unpacks([1, 2])


def test_not_yet_in_tuples_and_calls():
    for f in (lambda a: (*a, 1), lambda a: max(*a)):
        with pytest.raises(UnsupportedError, match=r"\* of anything but a tuple"):
            njit(f)([1, 2])


def read_int(s):
    return int(s)


def read_based(s):
    return int(s, 3)


def read_float(s):
    return float(s)


def shown(s):
    return repr(s)


WRONG = ["a\nb", "it's", 'say "no"', "'\"", "\\", "\t\r\x00\x7f\x80\xa0\xad", ""]
WRONG += ["é\u200b\U0001f600", "\ufeff\ue000\U0010ffff", "x" * 300, "'" + "y" * 198 + "\n"]
WRONG += ["999\u0378"]


@pytest.mark.parametrize("function", (read_int, read_based, read_float))
def test_errors_name_the_text_as_python_does(function):
    compiled = njit(function)
    for text in WRONG:
        with pytest.raises(ValueError) as expected:
            function(text)
        with pytest.raises(ValueError) as found:
            compiled(text)
        assert str(found.value) == str(expected.value)


def test_repr_of_all_characters():
    compiled = njit(shown)
    characters = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    for first in range(0, len(characters), 1 << 16):
        text = "".join(characters[first : first + (1 << 16)])
        assert compiled(text) == repr(text)
