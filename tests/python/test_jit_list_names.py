"""Lists of tuples, lists and arrays that several names hold: a change by one is seen by all."""

import numpy as np
import pytest
from jit_check import check


def pushes(items):
    items.append((3, 4.0))


def same(items):
    return items


def unpacked(x):
    a = [(0, x)]
    b, n = a, 1
    b[0] = (-n, 0.5)
    return a


def plain(x):
    a = [(0, x)]
    b = a
    b[0] = (1, 2.0)
    return a, b


def in_tuple(x):
    a = [(0, x)]
    t = (a, 1)
    t[0].append((1, x))
    return t, a


def in_loop(x):
    a = [(0, x)]
    for b in (a, a):
        b.append((1, x))
    return a


def chosen(x):
    a, c = [(0, 1)], [(1, 0), (2, 0)]
    b = a if x > 0 else c
    b.append((3, 4))
    return a, c


def in_list(x):
    a = [(0, x)]
    b = [a, a]
    b[0].append((3, 4.0))
    return a, len(b)


def added(x):
    a = [(0, x)]
    b = a
    b += [(5, 6.0)]
    return a


def repeated(n):
    a = [n, 2]
    b = a
    b *= 3
    return a


def repeated_item(n):
    a = [[n, 2], [3]]
    b = a[0]
    a[0] *= 2
    return a, b


def given(x):
    a = [(0, x)]
    pushes(a)
    return a


def got(x):
    a = [(0, x)]
    b = same(a)
    b.append((1, 2.0))
    return a


def closed_over(x):
    a = [(1, x)]

    def more():
        a.append((3, x))

    more()
    return a


def two_lengths(x):
    a = [(0, 1.0), (2, 3.0)]
    if x > 0:
        a = [(5, 6.0)]
    b = a
    b[0] = (1, 1.0)
    return a


def deleted(x):
    a = [(1, x), (3, 4.0)]
    b = a
    del b[0]
    return a


def exchanged(x):
    a, b = [(1, x)], [(3, 4.0)]
    a, b = b, a
    a.append((5, 6.0))
    return a, b


def of_arrays(x):
    a = [np.zeros(2), np.ones(3)]
    b = a
    b[0] += x
    a += [np.ones(1)]
    return a, len(b)


def unpacked_later(x):
    rows = [(1, x)]
    more = rows
    more.append((3, 4.0))
    (i, x), (j, y) = rows
    return i, x, j, y


CASES = [unpacked, plain, in_tuple, in_loop, chosen, in_list, added, repeated, repeated_item, given]
CASES += [got, closed_over, two_lengths, deleted, exchanged, of_arrays, unpacked_later]


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_names_of_one_list(function):
    check(function, 3 if function in (repeated, repeated_item) else 0.5)
