"""Local functions that call themselves, and functions that exec() has made, against CPython."""

import linecache

import numpy as np
import pytest
from numbus import njit
from numbus.kernels import CompileError, UnsupportedError


def factorial(n):
    least = 2

    def f(k):
        if k < least:
            return 1
        return k * f(k - 1)

    least = 1
    return f(n), f(0)


def walk(a):
    out = [0]

    def go(i, depth=0):
        if i >= a.size:
            return 0.0
        out.append(depth)
        return a[i] + go(2 * i + 1, depth + 1) + go(2 * i + 2, depth=depth + 1)

    return go(0), out


def fill(a, n):
    def paint(i, j):
        if i < 0 or j < 0 or i >= n or j >= n or a[i, j] != 0:
            return 0
        a[i, j] = 7
        return 1 + paint(i + 1, j) + paint(i - 1, j) + paint(i, j + 1) + paint(i, j - 1)

    return paint(1, 1), a.sum()


def hanoi(n):
    moves = [(0, 0)]

    def move(k, a, b, c):
        if k == 0:
            return
        move(k - 1, a, c, b)
        moves.append((a, c))
        move(k - 1, b, a, c)

    move(n, 0, 1, 2)
    return moves


def gcd_all(xs):
    def gcd(a, b):
        return a if b == 0 else gcd(b, a % b)

    total = 0
    for k in range(len(xs) - 1):
        total = total * 10 + gcd(xs[k], xs[k + 1])
    return total


def strings(s):
    def turned(t):
        if len(t) < 2:
            return t
        return turned(t[1:]) + t[0]

    return turned(s), turned(s + "!")


def with_comprehension(n):
    scale = 3

    def count(k):
        if k <= 0:
            return 1
        return sum([count(k - i) for i in range(1, scale)])

    return count(n)


def caught(n):
    def down(k):
        if k < 0:
            return k
        if k == 0:
            raise ValueError("end", n)
        return down(k - 1)

    try:
        return str(down(n))
    except ValueError as e:
        return str(e)


def in_a_function_inside(n):
    def outer(m):
        def inner(k):
            return 0 if k <= 0 else m + inner(k - 1)

        return inner(m)

    return outer(n) + outer(n + 1)


CASES = [
    (factorial, 6), (walk, np.arange(7.0)), (hanoi, 3), (gcd_all, [12, 18, 27, 6]),
    (strings, "abé"), (with_comprehension, 6), (caught, 4), (in_a_function_inside, 3),
]  # fmt: skip


@pytest.mark.parametrize(("f", "arg"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_against_cpython(f, arg):
    got, want = njit(f)(arg), f(arg)
    assert repr(got) == repr(want).replace("np.float64(21.0)", "21.0")


def test_arrays_change():
    a, b = np.zeros((4, 4), int), np.zeros((4, 4), int)
    a[2], b[2] = 1, 1
    assert njit(fill)(a, 4) == fill(b, 4) and (a == b).all()


def test_without_end():
    def endless(n):
        def f(k):
            if k < 0:
                return 0
            return f(k + 1)

        return f(n)

    with pytest.raises(RecursionError):
        njit(endless)(1)


def given_away(n):
    def f(k):
        return 1 if k < 2 else k * f(k - 1)

    return applied(f, n)


def applied(f, n):
    return f(n) + 1


def computed_default(n):
    def f(k, by=n + 1):
        return 1 if k < 2 else by * f(k - 1)

    return f(n)


def test_not_yet():
    with pytest.raises(UnsupportedError, match="not yet"):
        njit(computed_default)(4)


def test_given_to_another_function():
    try:
        got = njit(given_away)(5)
    except UnsupportedError:
        return
    assert got == 121


def test_made_by_exec_with_its_source_in_linecache():
    text = "def f(x):\n    def g(k):\n        return 0 if k < 1 else k + g(k - 1)\n"
    text += "    return x * 2, g(x)\n"
    name = "<made 1>"
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    space = {}
    exec(compile(text, name, "exec"), space)
    assert njit(space["f"])(4) == (8, 10)
    exec("def f(x):\n    return x", space)
    with pytest.raises(CompileError, match="source"):
        njit(space["f"])(1)
