"""heapq in compiled functions, against CPython's: the same items in the same order."""

import heapq

import numpy as np
import pytest
from numbus import njit


def sort_by_heap(items):
    h = [items[0]]
    for x in items[1:]:
        heapq.heappush(h, x)
    order = list(h)
    out = []
    while len(h) > 0:
        out.append(heapq.heappop(h))
    return order, out


def make(items):
    h = [x for x in items]
    heapq.heapify(h)
    a = heapq.heappushpop(h, items[0])
    b = heapq.heapreplace(h, items[len(items) // 2])
    return h, a, b


def ends(items, n):
    return heapq.nsmallest(n, items), heapq.nlargest(n, items)


def from_nothing(n):
    h = []
    for i in range(n):
        heapq.heappush(h, ((i * 7919) % 13 * 0.5, i))
    least = heapq.heappop(h)
    return h, least


def paths(weights, start):
    n = weights.shape[0]
    far = np.full(n, np.inf)
    far[start] = 0
    h = [(0.0, start)]
    while h:
        d, v = heapq.heappop(h)
        if d > far[v]:
            continue
        for w in range(n):
            step = d + weights[v, w]
            if step < far[w]:
                far[w] = step
                heapq.heappush(h, (step, w))
    return far


@pytest.mark.parametrize("kind", ["int", "float", "str", "tuple"])
def test_heaps(kind):
    rng = np.random.default_rng(len(kind))
    for n in (1, 2, 3, 10, 60):
        numbers = rng.integers(0, 20, n).tolist()
        items = {
            "int": numbers,
            "float": [x / 4 for x in numbers],
            "str": [chr(97 + x) * (x % 3) for x in numbers],
            "tuple": [(x % 5, -x / 2) for x in numbers],
        }[kind]
        assert njit(sort_by_heap)(list(items)) == sort_by_heap(list(items))
        assert njit(make)(list(items)) == make(list(items))
        for k in (0, 1, 5, 100):
            assert njit(ends)(list(items), k) == ends(list(items), k)


def test_a_heap_that_begins_empty():
    assert njit(from_nothing)(40) == from_nothing(40)


def test_shortest_paths():
    weights = np.random.default_rng(1).random((30, 30)) * 10
    assert np.array_equal(njit(paths)(weights, 3), paths(weights, 3))


def test_numbers_of_two_types():
    @njit
    def f():
        h = [3, 1]
        heapq.heapify(h)
        heapq.heappush(h, 0.5)
        return h

    assert f() == [0.5, 3, 1]


def test_keys_and_arguments_that_change():
    @njit
    def f(items):
        heapq.heapify(items)
        return heapq.nlargest(2, items, key=lambda x: -x)

    items = [5, 2, 8, 1]
    assert f(items) == [1, 2] and items == [1, 2, 8, 5]


def test_an_empty_heap():
    @njit
    def f(n):
        h = [1]
        for _ in range(n):
            heapq.heappop(h)
        return h

    assert f(1) == []
    with pytest.raises(IndexError, match="index out of range"):
        f(2)
