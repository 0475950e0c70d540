"""Sets in compiled functions, against CPython; their order is compared sorted."""

import random

import numpy as np
import pytest
from numbus import cuda, njit
from numbus.kernels import CompileError, UnsupportedError


def made(n):
    a = set()
    for i in range(n):
        a.add(i * 7 % 5)
    b = {i % 3 for i in range(n)}
    c = {1, 2, n}
    d = set([3, n, 3])
    e = {"a", "b" * n}
    f = {(i % 2, i % 3 * 0.5) for i in range(n) if i != 1}
    g = set("hello")
    h = set(range(n))
    return a, b, c, d, e, f, g, h, len(a), len(f), bool(b), not c


def changed(n):
    a = {1, 2, 3}
    a.add(n)
    a.discard(1)
    a.discard(77)
    a.remove(2)
    b = a.copy()
    b.update([5, 6])
    b.update({7, n})
    c = {5, n, 9}
    d = b.copy()
    d |= c
    e = b.copy()
    e &= c
    f = b.copy()
    f -= c
    g = b.copy()
    g ^= c
    h = b.copy()
    h.intersection_update(c)
    h.symmetric_difference_update([1, 5])
    b.clear()
    return a, b, c, d, e, f, g, h


def operators(n):
    a = {i * 3 % 7 for i in range(n)}
    b = {i * 5 % 11 for i in range(n // 2 + 1)}
    c = a.union(b), a.intersection(b), a.difference(b), a.symmetric_difference([0, 3, n])
    return a | b, a & b, a - b, a ^ b, c, a & a, a - a, a ^ a


def compared(n):
    a = {i for i in range(n)}
    b = {i for i in range(4)}
    c = a == b, a != b, a <= b, a < b, a >= b, a > b, a.issubset(b), a.issuperset([0])
    return c, a.isdisjoint({9, 10}), a.isdisjoint(b), a == 3, a == {0: 1}, isinstance(a, set)


def asked(n):
    a = {1, 5, n}
    b = {"x", "y" * n}
    return n in a, 2 in a, 5 not in a, "yy" in b, "z" not in b, (n in {1, 2, 3})


def looped(n):
    a = {i * i % 10 for i in range(n)}
    s = 0
    for x in a:
        s += x
    t = [x for x in a]
    t.sort()
    u = {x: x + 1 for x in a}
    return s, t, sorted(a), sorted(a, reverse=True), sum(a), sorted(u.keys()), sorted(list(a))


def extremes(n):
    a = {i * 3 % 7 for i in range(n + 1)}
    return min(a), max(a), any(a), all(a)


def popped(n):
    a = {i * 3 for i in range(n)}
    s = 0
    while a:
        s += a.pop()
    return s, len(a)


def pop_of_nothing(n):
    a = {n}
    a.pop()
    return a.pop()


def removed(n):
    a = {1, 2, 3}
    a.remove(n)
    return a


def strings_removed(n):
    a = {"a", "bb"}
    a.remove("b" * n)
    return a


def changes_in_loop(n):
    a = {1, 2, 3}
    for x in a:
        if x == n:
            a.add(x + 10)
    return a


def shared(n):
    a = {n}
    b = a
    b.add(2)
    c = [{1}, {n}]
    c[0].add(n)
    d = {1: {n}}
    d[1].add(5)
    e = (a, n)
    return len(a), len(b), len(c[0]), len(d[1]), len(e[0])


def helper(a, x):
    a.add(x)
    return len(a)


def passed(n):
    a = {9}
    k = helper(a, n)
    return k, helper(a, 3), a


def unique_words(n):
    seen = set()
    out = []
    for w in "a b a c b a d".split()[:n]:
        if w not in seen:
            seen.add(w)
            out.append(w)
    return out


def caught(n):
    a = {1, 2}
    try:
        a.remove(n)
    except KeyError:
        return -1
    return len(a)


FUNCTIONS = [f for f in list(globals().values()) if getattr(f, "__module__", "") == __name__]
FUNCTIONS = [f for f in FUNCTIONS if f is not helper]


def outcome(f, n):
    try:
        return f(n)
    except (KeyError, RuntimeError, ValueError) as error:
        return type(error), error.args[0] if isinstance(error, KeyError) else None


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_as_in_cpython(f):
    g = njit(f)
    for n in range(9):
        if f is extremes and n == 0:
            continue
        assert outcome(g, n) == outcome(f, n), n


def test_random_changes():
    @njit
    def f(keys, kinds):
        a = {0}
        b = {0}
        a.clear()
        log = []
        for i in range(len(keys)):
            k = keys[i]
            kind = kinds[i]
            if kind < 4:
                a.add(k)
            elif kind < 7:
                a.discard(k)
            elif kind == 7:
                b = a ^ b
            elif kind == 8:
                a, b = b, a
            elif kind == 9:
                a -= b
            log.append(len(a) * 1000 + (k in a) + 2 * (k in b))
        return log, a, b

    r = random.Random(5)
    for seed in range(20):
        size = 10 ** (seed % 3 + 1)
        keys = np.array([r.randint(-size, size) for _ in range(2000)])
        kinds = np.array([r.randint(0, 40 if seed % 2 else 9) for _ in range(2000)])
        assert f(keys, kinds) == f.py_func(keys, kinds)


NOT_YET = [
    (lambda n: {1, 2.5}, "keys of two types"),
    (lambda n: {1} | {"a"}, "together"),
    (lambda n: {1j}, "keys of the type complex"),
    (lambda n: print({n}), "printing a set"),
    (lambda n: {1, 2}.union([1], [2]), "of 2 arguments"),
]


@pytest.mark.parametrize("f, words", NOT_YET, ids=[w for _, w in NOT_YET])
def test_not_yet(f, words):
    with pytest.raises(UnsupportedError, match=words):
        njit(f)(3)


def test_mistakes():
    for f in (lambda n: {n}[0], lambda n: {n} + {1}, lambda n: {n}.append(1), lambda n: {n} < 3):
        with pytest.raises(CompileError):
            njit(f)(3)

    @cuda.jit
    def kernel(x):
        x[0] = len({1, 2})

    with pytest.raises(UnsupportedError, match="sets in a kernel"):
        kernel[1, 1](np.zeros(3))
