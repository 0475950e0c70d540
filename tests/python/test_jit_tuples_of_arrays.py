"""An item of a tuple of arrays whose number is known at run time only, against CPython."""

import numpy as np
import pytest
from numbus import njit


def stores(x, y, i):
    t = (x, y)
    z = t[i]
    z[0] = 7
    return z.sum(), x[0], y[0]


def of_an_argument(xs, n):
    s = 0.0
    for i in range(n):
        for j in range(len(xs)):
            s += xs[j][i] * (j + 1)
        xs[i % 2][i] = s
    return s, xs[n % 2]


def made_here(n):
    t = (np.ones(n), np.arange(n) * 2.0, np.zeros(n + 1))
    out = 0.0
    for i in range(3):
        out += t[i].sum() + t[-1 - i].size
        t[i][0] = i
    return out, t[n % 3]


def computed(x, i):
    return (x + 1, x * 2)[i] + (x[::-1], x)[1 - i]


def renamed(x, y, n):
    a, b = x, y
    for i in range(n):
        a, b = (b, a)[i % 2], (x, y)[(i // 2) % 2]
        a[0] += i
    return a, b


CALLS = (
    [(stores, i) for i in (0, 1, -1, 2)]
    + [(of_an_argument, n) for n in (1, 3, 4)]
    + [(made_here, n) for n in (2, 3, 4)]
    + [(computed, i) for i in (0, 1)]
    + [(renamed, n) for n in (0, 1, 2, 5, 6)]
)


@pytest.mark.parametrize(("f", "k"), CALLS)
def test_as_cpython(f, k):
    outcomes = []
    for g in (njit(f), f):
        x, y = np.arange(4.0), np.ones(5)
        given = {stores: (x, y), renamed: (x, y), of_an_argument: ((x, y),), computed: (x,)}
        try:
            outcomes.append((g(*given.get(f, ()), k), x.tolist(), y.tolist()))
        except IndexError:
            outcomes.append("IndexError")
    got, want = outcomes
    if want == "IndexError":
        assert got == want
    else:
        np.testing.assert_equal(got, want)
