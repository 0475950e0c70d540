"""Lists as arguments: Python's, which see what the function did, and numba.typed.List."""

import copy
import pickle

import numpy as np
import pytest
from numbus import cuda, njit, types
from numbus.kernels import UnsupportedError
from numbus.kernels.typed import Dict, List

X = np.arange(3.0)


def changed(l, x):
    l.append(x)
    l[0] = x
    return l


def moved(l):
    l.pop(0)
    l.append(l[0])
    l.reverse()
    return len(l)


def nested(m):
    m[0][1] = 99
    m.append([5])
    m[1].append(3)
    m.append(m.pop(0))
    return m[0], len(m)


def taken(l):
    l.append(l[0] * 2)
    l[1] += 1
    return l.pop(0)


def raising(l):
    l.append(5)
    return l[10]


def sliced(l):
    l[1:2] = [7, 8, 9]
    l[:0] = l
    l[-1:] = []
    l[2:1] = [4]
    l[1:4] = range(2)
    del l[3:5]
    del l[-1:], l[:1]
    l[1:1] = (3, 2)
    return l


def slices_of_arrays(l):
    l[1:] = [l[0], l[0] + 1]
    del l[:1]
    return len(l)


@pytest.mark.parametrize("f, arguments", [
    (changed, ([1, 2], 3)), (changed, ([0.5], 2.5)), (changed, ([True], False)),
    (changed, ([1j, 2j], 3j)), (changed, ([np.int8(3)], np.int8(4))),
    (changed, ([(1, 2.5)], (3, 4.5))),
    (changed, ([(1, X)], (3, X + 1))), (changed, ([[1]], [2, 3])), (moved, ([1.5, 2.5, 3.5],)),
    (moved, ([X, X + 1, X + 2],)), (moved, ([(1, X), (2, X)],)), (nested, ([[1, 2], [3, 4]],)),
    (taken, ([X, X + 1],)), (raising, ([1],)), (sliced, ([1, 2, 3, 4],)), (sliced, ([1],)),
    (slices_of_arrays, ([X, X, X + 1],)),
])  # fmt: skip
def test_as_in_python(f, arguments):
    mine, pythons = copy.deepcopy(arguments), copy.deepcopy(arguments)
    outcomes = []
    for g, given in ((njit(f), mine), (f, pythons)):
        try:
            outcomes.append(plain(g(*given)))
        except IndexError:
            outcomes.append("IndexError")
    assert repr(outcomes[0]) == repr(outcomes[1])
    assert repr(plain(mine)) == repr(plain(pythons))


def plain(value):
    if isinstance(value, (list, tuple)):
        return type(value)(map(plain, value))
    return value.item() if isinstance(value, np.generic) else value


def test_objects_stay_the_same():
    @njit
    def f(m, n):
        m.append(m.pop(0))
        m[0].append(8)
        n.append(n[0])
        return m, len(n)

    m, n = [[1], [2]], [X, X + 1]
    (p, q), first = m, n[0]
    same, count = f(m, n)
    assert same is m and m[0] is q and m[1] is p and m == [[2, 8], [1]]
    assert count == 3 and n[0] is first and n[2] is first

    @njit
    def twice(a, b):
        a.append(1)
        return len(b)

    assert twice(p, p) == 2 and p == [1, 1]


def test_refused():
    f = njit(len_of)
    itself = [1]
    itself.append(itself)
    for bad, message in [
        ([], "empty list"), ([1, 2.5], "several types"), ([[1], [2.5]], "several types"),
        ([1, True], "several types"), ([{}], "got dict"), (itself, "holds itself"),
    ]:  # fmt: skip
        with pytest.raises(TypeError, match=message):
            f(bad)
    with pytest.raises(UnsupportedError, match="as an argument of a kernel"):
        cuda.jit(kernel)[1, 1](np.zeros(1), [1.5])


def len_of(l):
    return len(l)


def kernel(x, l):
    x[0] = l[0]


def test_typed_list():
    @njit
    def f(l, n):
        for i in range(n):
            l.append(i * 0.5)
        l[1:2] = [7.0]
        return l

    l = List.empty_list(types.float64)
    assert len(l) == 0 and l == [] and f(l, 4) is l
    assert l == [0.0, 7.0, 1.0, 1.5] and l[-1] == 1.5 and list(l) == l and 7.0 in l
    l.append(3)
    l.insert(0, 2)
    l.extend([5, 6])
    del l[1]
    l[0] = 8
    assert l == [8.0, 7.0, 1.0, 1.5, 3.0, 5.0, 6.0] and l[1:3] == [7.0, 1.0] and l.pop() == 6.0
    l.sort(reverse=True)
    l.remove(5.0)
    l.reverse()
    assert repr(l) == "[1.0, 1.5, 3.0, 7.0, 8.0]" and l.index(3.0) == 2 and l.count(9.0) == 0
    assert pickle.loads(pickle.dumps(l)) == l.copy() == l and l != [1]
    with pytest.raises(IndexError):
        l[9]
    with pytest.raises(IndexError):
        List().pop()
    with pytest.raises(ValueError, match="negative"):
        List.empty_list(types.int64, -1)
    with pytest.raises(TypeError, match="nothing is known"):
        f(List(), 1)


def test_typed_list_of_others():
    @njit
    def f(l, x):
        l.append(x)
        l[0] += 1
        return len(l)

    l = List([np.zeros(2)])
    for k in range(3):
        f(l, np.full(2, k * 1.0))
    assert [v.tolist() for v in l] == [[3, 3], [0, 0], [1, 1], [2, 2]]

    integers = types.ListType(types.int64)

    @njit
    def made():
        a = List.empty_list(types.int64)
        b = List()
        d = Dict.empty(types.int64, integers)
        a.append(1)
        b.append(2.5)
        d[3] = a
        d[3].append(4)
        return a, b, d

    vectors = List()
    vectors.append((1, 2.5))
    assert vectors == [(1, 2.5)]
    assert made() == ([1, 4], [2.5], {3: [1, 4]})
    assert njit("int64(ListType(int64))")(len_of)(List([1, 2])) == 2
