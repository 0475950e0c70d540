"""Sets as arguments and results of compiled functions, and frozensets, against CPython."""

import random

import numpy as np
import pytest
from jit_check import made
from numbus import njit
from numbus.kernels import UnsupportedError

ALLOWED = frozenset({1, 5, 9})
WORDS = frozenset(("a", "bc", "käse"))
MIXED = frozenset((1, 2.5, "x"))


def both(f, *makers):
    """What a function gives, and what it leaves its sets as."""
    want_args, got_args = [m() for m in makers], [m() for m in makers]
    want, got = f(*want_args), njit(f)(*got_args)
    assert got == want and type(got) is type(want)
    assert got_args == want_args
    return got


def changed(s, k):
    s.add(k)
    s.discard(1)
    s |= {k + 1}
    return len(s), 2 in s, sorted(s)


def words(s):
    total = 0
    for w in s:
        total += len(w)
    s.add("new")
    return total


def algebra(a, b):
    return a | b, a & b, a - b, a ^ b, a <= b, a == b, a.isdisjoint(b)


def tuples(s):
    r = 0.0
    for a, b in s:
        r += a * b
    return r, (1, 2.5) in s


def passed(s):
    return s


def through(s, n):
    return passed(passed(s)), n


def cleared(s):
    s.clear()
    return 0


def other(s):
    t = s.copy()
    t.add(77)
    return t


def test_arguments():
    both(changed, lambda: {1, 2, 3}, lambda: 8)
    both(words, lambda: {"a", "bcd", "é"})
    both(algebra, lambda: {1, 2, 3}, lambda: {2, 9})
    both(algebra, lambda: {"a"}, lambda: {"b", "a"})
    both(algebra, lambda: {1.5}, lambda: {-0.0, 2.5})
    both(tuples, lambda: {(1, 2.5), (2, 0.5)})
    both(cleared, lambda: {1, 2})
    both(other, lambda: {1, 2})


def test_the_same_set_comes_back():
    s = {1, 2}
    assert njit(passed)(s) is s
    t, n = njit(through)(s, 3)
    assert t is s and n == 3

    @njit
    def twice(a, b):
        a.add(10)
        return len(b)

    assert twice(s, s) == 3 and s == {1, 2, 10}


def test_items_that_stay_are_the_same_objects():
    w = "".join(["long ", "word"])
    s = {w}
    njit(words)(s)
    assert s == {"long word", "new"} and any(x is w for x in s)


def test_it_is_seen_where_the_function_raises():
    @njit
    def f(s):
        s.add(5)
        raise ValueError("after")

    s = {1}
    with pytest.raises(ValueError, match="after"):
        f(s)
    assert s == {1, 5}


def test_what_is_refused():
    f = njit(passed)
    for given, words_ in (
        (set(), "an empty set"),
        ({1, "a"}, "a set with items of several types"),
        ({1j}, "a set of this type"),
        (frozenset({1}), "frozenset"),
    ):
        with pytest.raises(TypeError, match=words_):
            f(given)


def looked(n, s):
    return n in ALLOWED, n not in ALLOWED, s in WORDS, n in frozenset((3, 5)), s in MIXED


def test_frozensets():
    compiled = njit(looked)
    for n in (1, 3, 5, -1):
        for s in ("a", "käse", "x", ""):
            assert compiled(n, s) == looked(n, s)
    with pytest.raises(UnsupportedError, match="frozenset"):
        njit(lambda x: len(frozenset({x})))(1)


def program(seed):
    """Statements over sets a, b that are arguments, and a log."""
    r = random.Random(seed)
    lines = ["def f(a, b, k):", "    log = [0]"]
    for _ in range(r.randint(3, 9)):
        x, y = r.choice(("ab", "ba", "aa", "bb"))
        lines.append("    " + r.choice([
            f"{x}.add(k)", f"{x}.discard(k)", f"{x} |= {y}", f"{x} &= {y}",
            f"{x}.update([k, k + 2])",
            f"{x} ^= {y}", f"{x} -= {y}", f"log.append(len({x} | {y}))", f"log.append(k in {x})",
            f"log.append(sum({x}))", f"log.append({x} <= {y})", f"k += len({x})",
            f"log.append(len({x}.union({y})))", f"{x}.difference_update({{k}})",
        ]))  # fmt: skip
    return "\n".join([*lines, "    return log, a, b, k"]) + "\n"


@pytest.mark.parametrize("seed", range(40))
def test_generated(seed, tmp_path):
    text = program(seed)
    f = made(text, tmp_path)
    compiled = njit(f)
    r = random.Random(seed)
    for _ in range(4):
        a = {r.randrange(9) for _ in range(r.randint(1, 6))}
        b = {r.randrange(9) for _ in range(r.randint(1, 6))}
        k = r.randrange(9)
        ours = set(a), set(b)
        got, want = compiled(*ours, k), f(a, b, k)
        assert [float(x) for x in got[0]] == [float(x) for x in want[0]], text
        assert got[1:] == want[1:] and ours == (a, b), text
        assert got[1] is ours[0] and got[2] is ours[1]


def test_no_memory_is_left():
    import gc
    import sys

    w = "".join(["a", "bc"])
    s = {w, "d"}
    f = njit(words)
    f(s)
    before = sys.getrefcount(w)
    for _ in range(50):
        f(s)
    gc.collect()
    assert sys.getrefcount(w) == before


def test_arrays_beside_sets():
    @njit
    def f(x, s):
        s.add(int(x.sum()))
        return x[1:], s

    x, s = np.arange(4.0), {1}
    y, t = f(x, s)
    assert t is s and s == {1, 6} and np.shares_memory(x, y)
