"""Items of lists of lists: read and written without counting references, and safe where an index or
a value that is computed in between changes the lists.
"""

import copy
import random

import numpy as np
import pytest
from numbus import njit


def replaced(m, i):
    m[i] = [100 * i]
    return 0


def cleared(m):
    while len(m) > 1:
        m.pop()
    return 0


def read_while_it_is_replaced(m):
    return m[1][replaced_(m, 1)] + m[1][0]


def read_while_it_is_cleared(m):
    return m[2][cleared_(m)] + len(m)


def deep(m, i, j):
    t = [m, m]
    return t[1][i][j] + t[-1][i - 1][j] + len(t[0][i])


def text(m, i, j):
    names = []
    for k in range(3):
        names.append([str(k) + "abc", "de"])
    names[i].append("fgh" * i)
    return names[i][j] + names[i - 1][0][1:] + names[i][-1]


def taken(m, i, j):
    row = m[i]
    m[i] = [7, 8, 9]
    inner = [row, m[i]][0][j]
    m[i][j] = inner + 1
    m[i][-1] += m[i][j] * 2
    return row[0], m[i][j]


def rows(m, i, j):
    t = []
    for k in range(3):
        t.append([np.arange(3.0) + k, np.ones(2)])
    r = t[i][0]
    fresh = []
    fresh.append(np.full(3, 5.0))
    t[i] = fresh
    t[i][0][j] = 4.0
    return r.sum() + t[i][0][j] + t[i][0].sum() + t[i - 1][0][0]


def outside(m, i, j):
    return m[i][j + 50]


def far(m, i, j):
    return m[i + 50][j]


def total(m, i, j):
    s = 0
    for a in range(len(m)):
        for b in range(len(m[a])):
            if m[a][b] % 2:
                m[a][b] += i
            s += m[a][b] * j
            m[a][b] = s
    return s


replaced_, cleared_ = njit(replaced), njit(cleared)
COMPILED = {}


def compare(f, *args):
    mine, theirs = copy.deepcopy(args), copy.deepcopy(args)
    compiled = COMPILED.setdefault(f.__name__, njit(f))
    try:
        expected = f(*theirs)
    except (IndexError, ValueError) as e:
        with pytest.raises(type(e)):
            compiled(*mine)
        return
    assert compiled(*mine) == expected and mine == theirs


@pytest.mark.parametrize("f", [deep, text, taken, rows, outside, far, total])
def test_items_of_items(f):
    rng = random.Random(f.__name__)
    for _ in range(20):
        m = [[rng.randrange(50) for _ in range(rng.randrange(1, 4))] for _ in range(3)]
        compare(f, m, rng.randrange(-2, 2), rng.randrange(-1, 2))


@pytest.mark.parametrize("f", [read_while_it_is_replaced, read_while_it_is_cleared])
def test_an_index_that_changes_the_lists(f):
    # A list that nothing else holds any more is read after all, as CPython reads it.
    for _ in range(50):
        m = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
        compare(f, m)
