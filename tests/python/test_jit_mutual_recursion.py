"""Local functions that call each other, against CPython."""

import numpy as np
import pytest
from numbus import njit
from numbus.kernels import CompileError, UnsupportedError


def parity(n):

    def even(k):
        return True if k == 0 else odd(k - 1)

    def odd(k):
        return False if k == 0 else even(k - 1)

    return (even(n), odd(n))


def captured(n):
    step, total = (1, [0])

    def a(k):
        if k <= 0:
            return 0.5
        total.append(k)
        return b(k - step) + 1

    def b(k):
        if k <= low:
            return 2
        return a(k - step) * 2

    low = 0
    r = a(n)
    step = 2
    return (r, a(n), b(n), total)


def three(n):

    def x(k):
        return k if k < 1 else y(k - 1) + 1

    def y(k):
        return z(k - 1) * 2 if k > 1 else 3

    def z(k):
        return x(k - 1) + y(k - 2)

    return (x(n), y(n), z(n))


def parse(a):

    def term(i):
        v, i = factor(i)
        while i < a.size and a[i] == -2:
            w, i = factor(i + 1)
            v *= w
        return (v, i)

    def expr(i):
        v, i = term(i)
        while i < a.size and a[i] == -1:
            w, i = term(i + 1)
            v += w
        return (v, i)

    def factor(i):
        if a[i] == -3:
            v, i = expr(i + 1)
            return (v, i + 1)
        return (a[i], i + 1)

    return expr(0)[0]


def nested(n):

    def outer(m):

        def e(k):
            return 0 if k == 0 else o(k - 1) + m

        def o(k):
            return 1 if k == 0 else e(k - 1)

        return e(m)

    return outer(n) + outer(n + 1)


def strings(n):

    def p(k):
        return "" if k == 0 else "a" + q(k - 1)

    def q(k):
        return "|" if k == 0 else "b" + p(k - 1)

    return p(n)


def also_self(n):

    def p(k):
        return 1 if k <= 0 else p(k - 1) + q(k - 2)

    def q(k):
        return 2 if k <= 0 else q(k - 2) + p(k - 1)

    return p(n)


def branch(n):
    if n > 2:

        def e(k):
            return 0 if k == 0 else o(k - 1)

        def o(k):
            return 1 if k == 0 else e(k - 1)

        return e(n)
    return -1


def mixed(n):

    def h(k):
        return k * 2

    def e(k):
        return 0 if k <= 0 else o(k - 1) + 1

    def o(k):
        return 1.5 if k <= 0 else e(k - 1)

    return e(h(n))


def conflict(n):
    t = 3

    def e(k):
        return 0 if k <= 0 else o(k - 1) + t

    def o(t):
        return 1 if t <= 0 else e(t - 1)

    return e(n)


def defined_late(n):

    def e(k):
        return 0 if k <= 0 else o(k - 1)

    x = e(n)

    def o(t):
        return 1 if t <= 0 else e(t - 1)

    return x


def args(n):

    def e(k, *, d=1):
        return d if k <= 0 else o(k - 1, d + 1)

    def o(k, d):
        return d * 2 if k <= 0 else e(k - 1, d=d + 1)

    return (e(n), e(n, d=3))


CASES = [
    (parity, 7), (parity, 0), (captured, 5), (three, 6), (nested, 4), (strings, 5), (also_self, 7),
    (branch, 5), (branch, 1), (mixed, 3), (args, 4),
    (parse, np.array([2, -1, 3, -2, -3, 4, -1, 5, -4])),
]  # fmt: skip


@pytest.mark.parametrize("f, x", CASES, ids=[f.__name__ for f, _ in CASES])
def test_as_in_python(f, x):
    got, want = njit(f)(x), f(x)
    assert got == want


def test_not_yet():
    with pytest.raises(UnsupportedError, match="one reads a 't' around them that another has"):
        njit(conflict)(3)
    with pytest.raises(CompileError):
        njit(defined_late)(3)
