"""Lists in compiled functions, sorted and compared, against CPython."""

import random

import numpy as np
import pytest
from numbus import njit
from numbus.kernels import CompileError

WORDS = ["b", "a", "", "ab", "aa", "é", "z", "中", "ba", "B", "a"]


def words_of(seed, n):
    r = random.Random(seed)
    return [r.choice(WORDS) + r.choice(WORDS) for _ in range(n)]


def pairs_of(seed, n):
    r = random.Random(seed)
    return [(r.randint(0, 3), r.choice((0.5, 1.5, -2.0))) for _ in range(n)]


def numbers_of(seed, n):
    r = random.Random(seed)
    return [r.randint(-9, 9) for _ in range(n)]


def ordered(items):
    a = sorted(items)
    b = sorted(items, reverse=True)
    c = [x for x in items]
    c.sort()
    d = [x for x in items]
    d.sort(reverse=True)
    return a, b, c, d, items


def extremes(items):
    return min(items), max(items), min(items[0], items[-1]), max(items[0], items[1], items[-1])


def compared(a, b):
    return a == b, a != b, a < b, a <= b, a > b, a >= b, a == a, a <= a, a < a, a[:2] < a


def found(items, x):
    return x in items, x not in items, items.count(x), [y for y in items if y == x]


@pytest.mark.parametrize("make", [words_of, pairs_of, numbers_of])
def test_as_in_cpython(make):
    f, g, h, k = njit(ordered), njit(extremes), njit(compared), njit(found)
    for seed in range(60):
        items = make(seed, seed % 40 + 1)
        assert f(list(items)) == ordered(list(items))
        if len(items) > 1:
            assert g(items) == extremes(items)
        other = items[: seed % 5 + 1] + make(seed + 1, seed % 4 + 1)
        assert h(items, other) == compared(items, other)
        assert k(items, other[-1]) == found(items, other[-1])


def by_length(items):
    c = [x for x in items]
    c.sort(key=len)
    d = [x for x in items]
    d.sort(key=lambda s: (len(s), s), reverse=True)
    e = sorted(items, key=lambda s: -len(s))
    return c, d, e, min(items, key=len), max(items, key=len), sorted("hello"), max("hello")


def by_second(items):
    c = [x for x in items]
    c.sort(key=lambda p: p[1])
    d = sorted(items, key=lambda p: p[1], reverse=True)
    return c, d, sorted(items, key=lambda p: (p[1], -p[0])), min(items, key=lambda p: p[1])


def by_remainder(items):
    c = [x for x in items]
    c.sort(key=lambda x: x % 3)
    d = sorted(items, key=lambda x: str(x))
    return c, d, sorted(items, key=lambda x: x % 4, reverse=True), sorted((3, 1, 2), key=abs)


@pytest.mark.parametrize(
    "f, make", [(by_length, words_of), (by_second, pairs_of), (by_remainder, numbers_of)]
)
def test_keys(f, make):
    g = njit(f)
    for seed in range(40):
        items = make(seed, seed % 30 + 1)
        assert g(items) == f(items)


def nested(n):
    a = [[n - i, i] for i in range(n)]
    b = [[i % 3] for i in range(n)]
    a.sort()
    b.sort(reverse=True)
    c = [["b", "a"], ["a"], ["a", "c"]]
    d = [n] == [n], [1, 2] < [1, n], [2] >= [n], [1, n] in a
    return a, b, sorted(c), a < b, a == a, max(b), d


def of_dict(n):
    d = {"b": 1, "a": n, "c": 0}
    e = sorted(d.items(), key=lambda p: p[1])
    return sorted(d), sorted(d.items()), e, max(d), min(d.keys())


def of_others(n):
    a = np.array([3.0, -1.0, 2.0])
    b = sorted(i * 7 % 5 for i in range(n))
    return sorted(range(n), key=lambda i: -i), sorted(a, key=abs), b


@pytest.mark.parametrize("f", [nested, of_dict, of_others])
def test_other_lists(f):
    for n in (2, 3, 5, 8):
        assert njit(f)(n) == f(n)


def test_many():
    items = [(i * 7919 % 1000, str(i % 37)) for i in range(3000)]
    f, g = by_second, ordered
    assert njit(f)(items) == f(items)
    assert njit(g)(items) == g(items)


def test_mistakes():
    with pytest.raises(ValueError, match=r"min\(\) arg is an empty sequence"):
        njit(lambda x: min(x[:0]))(["a"])
    for f in (
        lambda n: sorted([(n, "a"), (n, "b")]) < [1],
        lambda n: [1].sort(lambda x: x),
        lambda n: ["a"] < [n],
    ):
        with pytest.raises(CompileError):
            njit(f)(3)
