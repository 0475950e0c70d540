"""Lists of tuples, lists and arrays that several names hold: a change by one is seen by all."""

import numpy as np
import pytest
from jit_check import check
from numbus import cuda
from numbus.kernels import UnsupportedError


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


def kernel_reads(out):
    v = [3, 1, 2]
    w = v
    out[0] = len(w) + max(v)
    for i, x in enumerate(w):
        out[0] += i * x
    out[1] = v == (3, 1, 2)
    out[2] = isinstance(v, list) and not isinstance(v, tuple)
    out[3] = tuple(v) == (3, 1, 2)


def kernel_adds(out):
    v = [1, 2]
    w = v
    w += [3]
    out[0] = len(v)


def kernel_repeats(out):
    v = [1, 2]
    w = v
    w *= 2
    out[0] = len(v)


def kernel_adds_to_an_item(out):
    v = [[1, 2], [3]]
    w = v[0]
    w += [9]
    out[0] = len(v[0])


def kernel_stores(out):
    v = [1, 2]
    v[0] = 5
    out[0] = v[0]


@pytest.mark.parametrize(
    "kernel", [kernel_reads, kernel_adds, kernel_repeats, kernel_adds_to_an_item, kernel_stores]
)
def test_lists_of_kernels(kernel):
    """They do not change: what would change them is not taken for a tuple's."""
    got, want = np.zeros(4), np.zeros(4)
    if kernel is not kernel_reads:
        with pytest.raises(UnsupportedError, match="lists in a kernel"):
            cuda.jit(kernel)[1, 1](got)
        return
    cuda.jit(kernel)[1, 1](got)
    kernel(want)
    assert got.tolist() == want.tolist()
