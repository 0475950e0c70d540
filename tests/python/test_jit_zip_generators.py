"""zip() and enumerate() of generators in compiled functions, dict.fromkeys() without a value."""

import numpy as np
import pytest
from numbus import njit
from numbus.kernels import UnsupportedError


def halves(n):
    for i in range(n):
        yield i * 0.5


yields = njit(halves)


def numbered(n):
    total = 0.0
    for i, x in enumerate(yields(n)):
        total += i * x
    return total, [(i, x) for i, x in enumerate(yields(n), 10)]


def what_is_left(n):
    g, h = yields(n), yields(n)
    first = [(x, y) for x, y in zip(np.arange(3.0), g)]
    second = [(x, y) for x, y in zip(h, [1, 2])]
    return first, next(g, -1.0), second, next(h, -1.0)


def three_of_one(n):
    g = yields(n)
    s = 0.0
    for x, y, z in zip(g, g, g):
        if x > 2:
            continue
        s += x * y - z
    else:
        s += 100
    return s, next(g, -1.0)


def four(n):
    return list(zip(yields(n), (1, 2, 3), "abcd", yields(5)))


def one(n):
    return [x for (x,) in zip(yields(n))]


def within(n):
    return [(i, x, y) for i, (x, y) in enumerate(zip(yields(n), yields(4)))]


def left_early(n):
    g = yields(n)
    for i, x in enumerate(g):
        if x > 1 or i > 20:
            break
    return next(g, -1.0)


def of_largest(n):
    return max(zip(yields(n + 1), yields(5))), sorted(enumerate(yields(n)))


ALL = [numbered, what_is_left, three_of_one, four, one, within, left_early, of_largest]


@pytest.mark.parametrize("f", ALL)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 6, 9])
def test_as_cpython(f, n, monkeypatch):
    got = njit(f)(n)
    monkeypatch.setitem(globals(), "yields", halves)
    assert got == f(n)


def test_more_than_four():
    @njit
    def f():
        return list(zip(yields(1), yields(1), yields(1), yields(1), yields(1)))

    with pytest.raises(UnsupportedError, match="more than four"):
        f()


def keys(n):
    unique = list(dict.fromkeys([3, n, 3, 1]))
    d = dict.fromkeys("abca")
    d["x"] = None
    e = dict.fromkeys([n, 1])
    e[n + 5] = 2.5
    return unique, d["a"], len(d), e, dict.fromkeys((n, 2))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_fromkeys(n):
    assert njit(keys)(n) == keys(n)
