"""Compiled functions free what they allocate: after calls, the CPU device holds what it held."""

import gc
import sys

import numpy as np
import pytest
from numbus import _core, njit, prange


def held():
    gc.collect()
    return _core.memory_stats("cpu")["used_bytes"]


def same(got, want):
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            same(g, w)
    else:
        np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-12)


def steady(function, *args, raises=None, **options):
    """Calls often; what is allocated must not grow."""
    f = njit(**options)(function)

    def call():
        if raises is None:
            return f(*args)
        with pytest.raises(raises):
            f(*args)

    if raises is None:
        same(call(), function(*args))
    call()
    before = held()
    for _ in range(20):
        call()
    assert held() == before


def test_temporaries():
    def f(n):
        a = np.zeros(n) + np.arange(n)
        b = (a * 2)[::-1] - np.ones(n)
        b += np.sqrt(a)
        return b.sum()

    steady(f, 1000)


def test_dicts():
    def f(n):
        a = {i: np.ones(i + 1) for i in range(n)}
        b = {(i, 1): {i: [i, 2]} for i in range(n)}
        for i in range(0, n, 2):
            del a[i]
            b[i, 1] = {7: [3]}
        for k in b:
            b[k][8] = [k[0]]
            b[k][8].append(5)
        c, d = a.copy(), {}
        d[3] = {1: 2}
        d[3], e = {2: 3}, d.pop(3)
        a.clear()
        return sum([v[0] for v in c.values()]) + len(b) + len(d) + e[1]

    def raises(n):
        a = {1: [n]}
        return a[n]

    steady(f, 40)
    steady(raises, 5, raises=KeyError)


def test_lists_as_arguments():
    def f(a, b, c):
        a.append(a[0] * 2)
        b.append([7])
        b[0].append(3)
        c.append((1, np.ones(3)))
        c[0:1] = [c[0], c[0]]
        a.pop()
        b.pop()
        del c[1:]
        return len(a) + len(b)

    steady(f, [1.5], [[1], [2]], [(2, np.ones(2))])


def test_loops():
    def f(n):
        s = 0.0
        a = np.zeros(1)
        for i in range(n):
            a = np.ones(i + 1) * 2
            b = a[::-1] + 1
            if i % 3 == 0:
                continue
            if i == 17:
                break
            s += b.sum()
        return s + a.sum()

    steady(f, 30)


def test_early_returns():
    def f(n):
        a = np.ones(n)
        for i in range(10):
            b = a + i
            if i == 5:
                return b
        return a

    steady(f, 500)


def test_exceptions():
    def f(n):
        a = np.ones(n) * 2
        for i in range(10):
            b = a + i
            if i == 5:
                raise ValueError("no")
        return b

    steady(f, 500, raises=ValueError)

    def outer(n):
        a = np.ones(n)
        return g(a * 2) + a

    @njit
    def g(x):
        y = x + 1
        if y[0] > 2:
            raise ValueError("no")
        return y

    steady(outer, 500, raises=ValueError)


@njit
def make(n):
    return np.ones(n), np.arange(n)


@njit
def view(x):
    return x[1:]


@njit
def chain(n):
    if n == 0:
        return np.ones(100)
    return chain(n - 1) + 1


def test_calls():
    def f(n):
        a, b = make(n)
        c = make(n)[0]
        d = view(view(a + 1))
        e = (a, (b, c))
        a = b * 1.5
        return e[1][0].sum() + c[0] + d[0] + a[1]

    steady(f, 300)

    def g(n):
        return make(n)

    steady(g, 300)

    def h(n):
        s = 0.0
        for _ in range(n):
            s += view(np.ones(50))[0]
            t = make(10)
            s += t[1][2]
        return s

    steady(h, 10)
    steady(lambda: chain(5).sum())


def test_views_keep_memory():
    @njit
    def f(n):
        a = np.arange(n * 1.0)
        return a[10:20], a[::-1]

    x, y = f(1000)
    before = held()
    junk = [f(1000) for _ in range(10)]
    del junk
    assert held() == before
    assert x[0] == 10 and y[0] == 999
    del y
    assert x.sum() == sum(range(10, 20))


def test_views_keep_arguments():
    x = np.arange(300.0)
    before = sys.getrefcount(x)
    y = view(x)
    assert sys.getrefcount(x) == before + 1
    z = view(view(np.ones(300) + 1))
    junk = [np.zeros(300) for _ in range(10)]
    assert z[0] == 2 and len(junk) == 10
    del y
    assert sys.getrefcount(x) == before


def test_branches_and_joins():
    def f(n):
        a = np.ones(n) if n > 5 else np.zeros(3)
        b = a
        if n > 3:
            b = a + 1
        else:
            a = b * 2
        c = a is None or b.sum() > 0
        return a.sum() + b.sum() + c

    steady(f, 10)
    steady(f, 4)
    steady(f, 2)


def test_comprehensions_and_inlining():
    def f(n):
        def scaled(x, k):
            y = x * k
            if k > 3:
                return y
            return y + 1

        a = [scaled(np.ones(4), i)[0] for i in range(n)]
        b = [i * j for i in range(n) for j in range(i)]
        return sum(a) + sum(b) + len([v for v in a if v > 2])

    steady(f, 10)


def test_while_and_parallel():
    def f(n):
        a = np.ones(n)
        while a.sum() < 10 * n:
            a = a * 2
        return a

    steady(f, 100)

    def g(n):
        s = 0.0
        for i in prange(n):
            a = np.ones(i + 1)
            s += (a * i).sum()
        return s

    steady(g, 100, parallel=True)

    def h(n):
        s = 0.0
        for i in prange(n):
            a = np.ones(i + 1)
            if i == 50:
                raise ValueError("no")
            s += a.sum()
        return s

    steady(h, 100, raises=ValueError, parallel=True)

    def arrays(n):
        s = np.zeros(30)
        for i in prange(n):
            s += np.ones(30) * i
        return s

    steady(arrays, 100, parallel=True)

    def arrays_and_error(n):
        s = np.zeros(30)
        for i in prange(n):
            s += i
            if i == 50:
                raise ValueError("no")
        return s

    steady(arrays_and_error, 100, raises=ValueError, parallel=True)


def test_library():
    def f(x):
        return np.sort(x), np.linalg.inv(np.outer(x, x) + np.eye(x.shape[0])), np.unique(x)

    steady(f, np.random.default_rng(1).random(20))


def exchanged(x, n):
    a, b, c = x + 1, x.copy(), x * 3
    for i in range(n):
        a, b = b, a + i
        a, b, c = c, a, b
        (a, b), c = (b[::-1], a), c + 1
        t = (a, (b, c))
        c, (a, b) = t
    return a, b, c


def renewed(x, n):
    total = 0.0
    q = x + 1
    for v in q:
        q = np.zeros(n) - v
        total += v
    for i, row in enumerate(q.reshape(-1, 2)):
        q = q * 0.5
        total += i * row[1]
    p = x + 2
    for u, v in zip(p, q):
        p, q = q, p + u
        total += u * v
    return total, q


def two_names(x, n):
    a = b = x + 1
    for _ in range(n):
        a = b = a + 1
        b += 1
    return a, b


@pytest.mark.parametrize("function", [exchanged, renewed, two_names])
@pytest.mark.parametrize("n", [2, 6])
def test_names_change_hands(function, n):
    steady(function, np.arange(300.0), n)


def moved(x, n):
    a = np.zeros((n, 6))
    a[0] = x[:6]
    for i in range(n - 1):
        a[i + 1] = a[i]
        a[i + 1, 1:] = a[i + 1, :-1]
        a[i, ::-1] = a[i]
        a[:, 2] = a[:, 3]
        a[:i, 1:3] = a[-1, 4:]
        a[0:0] = a[:1]
    b = a.T
    b[1:] = b[:-1]
    a[::2] = a[1::2]
    return a, b


def test_parts_move_within_an_array():
    steady(moved, np.arange(300.0), 10)


def test_arguments_that_a_callee_renews():
    @njit
    def kept(x):
        return x

    @njit
    def renewed(x, n):
        for _ in range(n):
            x = x + 1
        return x

    def f(n):
        a = np.ones(100) * 2
        b = kept(a)
        c = renewed(a, 3)
        a = kept(a[1:])
        d = kept(kept(a * 2)[::-1])
        return a, b, c, d, renewed(d, 0)

    steady(f, 1)


def small_ones(n, most):
    """Arrays of many sizes, more of each than a thread keeps, let go of in several orders."""
    out = np.zeros(n)
    for i in prange(n):
        total = 0.0
        held = [np.full(k % most, float(k)) for k in range(i % 40)]
        for k in range(len(held)):
            total += held[k].sum()
        while len(held) > 3:
            held.pop(len(held) // 2)
        for k in range(most):
            total += (np.full(k, 1.0) * 2.0).sum()
        out[i] = total
    return out


def kept_ones(n):
    """Items that portions make outlive them."""
    rows = [np.zeros(1) for _ in range(n)]
    for i in range(n):
        rows[i] = np.full(i % 100, float(i))
    return rows


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("most", [1, 9, 130])
def test_small_arrays_of_many_sizes(parallel, most):
    steady(small_ones, 200, most, parallel=parallel)


def test_small_arrays_that_are_returned():
    steady(kept_ones, 300)


def test_small_arrays_reach_the_limit():
    @njit
    def f(n):
        rows = [np.zeros(5)]
        for i in range(n):
            rows.append(np.full(5 + i % 7, 1.0))
        return len(rows)

    f(10)
    before = held()
    limit = _core.memory_stats("cpu")["limit"]
    _core.set_memory_limit("cpu", before + (4 << 20))
    try:
        with pytest.raises(MemoryError):
            f(1_000_000)
    finally:
        _core.set_memory_limit("cpu", limit)
    assert held() == before
    assert f(1000) == 1001
