"""Lists inside compiled functions: they grow, are shared by names, hold tuples, lists, arrays."""

import functools
import operator

import numpy as np
import pytest
from jit_check import check
from numbus import njit
from numbus.kernels import CompileError

X = np.array([3.0, 1.0, 4.0, 1.5, 9.0, 2.6])
I = np.array([3, 1, 4, 1, 5])


def appended(x):
    out = []
    for v in x:
        if v > 1:
            out.append(v * 2)
    return out, len(out), np.array(out), sum(out), max(out)


def methods(n):
    a = [1, 2, 3]
    a.append(n)
    a.extend([7, 8])
    a.extend((n, n))
    a.extend(range(2))
    a.insert(0, 9)
    a.insert(-1, 5)
    p, q, r = a.pop(), a.pop(0), a.pop(-2)
    a.remove(2)
    a.reverse()
    b = a.copy()
    b.sort()
    c = a.copy()
    c.sort(reverse=True)
    i, k = a.index(3), a.count(n)
    a.clear()
    return a, b, c, p, q, r, i, k, bool(a), not a


def shared(n):
    a = [1, 2, 3]
    b = a
    b.append(4)
    c = a[1:]
    c[0] = 9
    d = a.copy()
    d[0] = 7
    del a[0]
    e = f = [0]
    f += [1, 2]
    g = (a, n)
    g[0].append(n)
    return a, b, c, d, e, f, g, a == b, c != d


def widened(n):
    a = [0]
    b = []
    for i in range(n):
        a.append(i * 0.5)
        b.append(i)
    b.append(0.25)
    c = [1, 2]
    c[0] = 0.5
    return a, b, c


def stack(n):
    todo = [(0, n)]
    steps = 0
    while todo:
        depth, k = todo.pop()
        steps += depth
        if k > 0:
            todo.append((depth + 1, k - 1))
            todo.append((depth + 1, k - 2))
    return steps


def of_tuples(n):
    a = [(i, i * 0.5) for i in range(n)]
    b = []
    for i in range(n):
        b.append((np.int32(i), np.float32(i), i > 1, 1j * i))
    s = 0.0
    for i, x in a:
        s += i * x
    return a, a[1][1], s, [x for _, x in a]


def of_lists(n):
    rows = [[0] * n for _ in range(3)]
    rows[1][2] = 5
    rows[2].append(7)
    more = []
    for i in range(n):
        more.append([i, i + 1])
    last = more.pop()
    last.append(9)
    more.append(last)
    return rows, more, [len(r) for r in more], [[i * j for j in range(i)] for i in range(n)]


def of_arrays(x):
    parts = [x[1:], x * 2]
    parts.append(x[:2].copy())
    parts.append(np.arange(3.0) * 2)
    parts.pop(0)
    total = 0.0
    for p in parts:
        total += p.sum()
    halves = np.split(x, 2)
    return parts, total, halves, len(np.array_split(x, 4))


def of_rows(x):
    rows = [r for r in x.reshape(2, 3)]
    rows.append(x[:3] * 2)
    return rows, np.array([rows[0], rows[2]])


def made(x):
    return list(x), list(range(4)), list((1.5, 2.5)), list(zip(x, range(3))), [i for i in x[:0]]


def operators(n):
    a = [1, n]
    a *= 2
    return a + [5], a * 2, 2 * a, a[1:], a[::-1], a[-1], n in a, 99 in a, a == [1, n, 1, n]


def higher_order(x):
    return (
        [v for v in map(lambda v: v * 2, x)],
        sum(map(lambda v, w: v * w, x, x)),
        functools.reduce(lambda p, q: p + q, x),
        functools.reduce(operator.add, x, 1.0),
        sorted(x, reverse=True),
        sorted([3, 1, 2], key=lambda v: -v),
        sorted([3, -1, 2, -3], key=abs, reverse=True),
        min([3, 1, 2], key=lambda v: -v),
        max(x, key=lambda v: abs(v - 2)),
        list(enumerate(x, start=2)),
    )


def unpacked(n):
    a, b = [n, n + 1]
    rows = [(1, 2.5)]
    rows.append((2, 3.5))
    (i, x), (j, y) = rows
    return a, b, i, x, j, y


def in_functions(x):
    def push(a, v):
        a.append(v)
        return len(a)

    out = [x[0]]
    n = push(out, 2.0) + push(out, 3.0)
    return out, n


def literals(n):
    a = [[1, 2], [3, n]]
    return [[1, n], [3]], [(1, 2.5), (n, 0.5)], ([n], [[0.5]]), a[1][1], np.array([[1, n], [3, 4]])


def as_arrays(n):
    positions = [0, 2]
    values = [0.5, 1.5]
    x = np.zeros(4)
    x[positions] = values
    x[2:] += values
    x[:2] = values
    return x, x[positions], np.round(x, decimals=1), np.interp(0.5, [0.0, 1.0], values)


CASES = [
    (literals, 3),
    (as_arrays, 3),
    (appended, X),
    (methods, 3),
    (shared, 3),
    (stack, 6),
    (of_tuples, 4),
    (of_lists, 4),
    (of_arrays, X),
    (of_rows, X),
    (made, X),
    (operators, 3),
    (higher_order, X),
    (higher_order, I),
    (unpacked, 3),
    (in_functions, X),
]


@pytest.mark.parametrize(("function", "argument"), CASES, ids=lambda f: getattr(f, "__name__", ""))
def test_as_in_python(function, argument):
    check(function, argument)


def test_widened_by_later_items():
    # Items have one type: the integers of a list that gets a float become floats.
    assert njit(widened)(3) == widened(3)


@njit
def push(a, v):
    a.append(v)


@njit
def collatz(n):
    steps = [n]
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps.append(n)
    return steps


def test_between_compiled_functions():
    @njit
    def f(n):
        a = [0.5]
        for i in range(n):
            push(a, i * 1.0)
        b = collatz(n)
        b.append(0)
        return a, b

    assert f(6) == ([0.5, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6, 3, 10, 5, 16, 8, 4, 2, 1, 0])


def test_many_items_and_memory():
    @njit
    def f(n):
        total = 0
        for _ in range(20):
            rows = []
            for i in range(n):
                rows.append([i])
            for k in range(n):
                rows[k] = [k, 2 * k]
            while len(rows) > n // 2:
                total += len(rows.pop())
        return total

    assert f(2000) == 20 * 2 * 1000


@pytest.mark.parametrize(
    ("function", "error", "said"),
    [
        (lambda x: [1.0].index(x), ValueError, "x not in list"),
        (lambda x: [1, 2].pop(5), IndexError, "pop index out of range"),
    ],
)
def test_errors_of_methods(function, error, said):
    with pytest.raises(error, match=said):
        njit(function)(2.5)


def test_pop_of_an_empty_list():
    def f(n):
        a = [1]
        for _ in range(n):
            a.pop()
        return len(a)

    check(f, 1)
    with pytest.raises(IndexError, match="pop from empty list"):
        njit(f)(2)


def test_mistakes():
    def parameter(a):
        push(a, 0.5)

    def narrow(n):
        a = [1]
        push(a, 0.5)
        return a

    with pytest.raises(CompileError, match="list"):
        njit(narrow)(1)

    def no_method(n):
        a = [n]
        a.push(1)

    with pytest.raises(CompileError, match=r"list\(int\) has no method 'push'"):
        njit(no_method)(1)

    def tuples(n):
        a = [(1, 2)]
        a.append((1, 2, 3))
        return a

    with pytest.raises(CompileError, match="putting"):
        njit(tuples)(1)


def test_in_a_parallel_loop():
    from numbus import prange

    def f(n):
        a = [1, 2, 3]
        out = np.zeros(n)
        for i in prange(n):
            out[i] = a[i % len(a)]
        return out

    check(f, 50, parallel=True)

    @njit(parallel=True)
    def g(n):
        a = [0]
        for i in prange(n):
            a.append(i)
        return a

    with pytest.raises(NotImplementedError, match="list 'a' in a parallel loop"):
        g(3)


def replaces(x, items):
    items[0] = np.full(1000, 5.0)
    items.append(np.full(1000, 7.0))
    return x.sum()


def replaced_nested(row, items):
    items[0] = [5]
    items.append([7])
    return row[0] + len(row)


def test_items_outlive_their_place_in_the_list():
    inner = njit(replaces)
    nested = njit(replaced_nested)

    @njit
    def argument(n):
        items = [np.full(n, 1.0)]
        items.append(np.full(n, 2.0))
        return inner(items[0], items)

    assert argument(1000) == 1000

    @njit
    def of_lists(n):
        items = [[1, 2, n]]
        items.append([2])
        return nested(items[0], items)

    assert of_lists(3) == 4

    def loop(n):
        items = [np.full(n, 1.0)]
        items.append(np.full(n, 2.0))
        s = 0.0
        for v in items[0]:
            items[0] = np.full(n, 5.0)
            items.append(np.full(n, 7.0))
            s += v
        return s

    check(loop, 100)


def test_loops_see_what_the_list_is_by_now():
    def grows(n):
        q = [0]
        for x in q:
            if x < n:
                q.append(x + 1)
        return q

    def numbered(n):
        q = [0]
        s = 0
        for i, x in enumerate(q):
            s += i * x
            if x < n:
                q.append(x + 1)
        return s, q

    def beside(n):
        q = [0]
        s = 0
        for x, y in zip(q, range(100)):
            s += x * y
            if x < n:
                q.append(x + 1)
        return s, q

    def shrinks(n):
        q = [np.full(n, 1.0)]
        for k in range(9):
            q.append(np.full(n, k * 1.0))
        s = 0.0
        for x in q:
            q.pop()
            s += x.sum()
        return s, len(q)

    def comprehended(n):
        q = [k for k in range(n)]
        out = [x + q.pop() for x in q]
        return out, q

    def itself(n):
        q = [1, n]
        q.extend(q)
        q += q
        return q

    for f in (grows, numbered, beside, shrinks, comprehended, itself):
        check(f, 5)


def test_not_enough_memory():
    @njit
    def comprehended(n):
        return len([i for i in range(n)])

    @njit
    def listed(n):
        return len(list(range(n)))

    assert comprehended(10) == listed(10) == 10
    for f in (comprehended, listed):
        for n in (10**15, 2**61, 2**62 + 5):
            with pytest.raises(MemoryError):
                f(n)


def test_numpy_functions_do_not_look_into_lists():
    def views(n):
        a = [1.0, 2.0, 3.0, n]
        u, v, w = np.flip(a), np.atleast_1d(a), np.reshape(a, (2, 2))
        b, e, s = np.broadcast_to(a, (2, 4)), np.expand_dims(a, 0), np.array_split(a, 2)[0]
        r, m = np.ravel(a), np.swapaxes(a, 0, 0)
        a[0] = 9.0
        for k in range(1000):
            a.append(k * 1.0)
        return u, v, w, b.copy(), e, s, r, m

    def writes(n):
        a = [1, 2, n]
        np.atleast_1d(a)[0] = 9
        np.ravel(a)[1] = 9
        return a

    def shapes(n):
        a = [1, 2, 3, n]
        return np.reshape(a, (2, 2)), np.broadcast_to(a, (2, 4)).copy(), np.ravel(a)

    def backwards(n):
        a = [1, 2, n]
        s = 0
        for x in reversed(a):
            s = 10 * s + x
            if len(a) < 1000:
                for k in range(100):
                    a.append(k)
        return s

    for f in (views, writes, shapes, backwards):
        check(f, 4)

    grow = njit(appends_many)

    @njit
    def later(n):
        a = [1.0, 2.0]
        b = [1.0, 2.0]
        x = np.ones(2)
        return np.sin(a) + x * grow(a, n) * 0, (b == x) & (x * grow(b, n) > 0), b

    sines, same, b = later(10000)
    np.testing.assert_allclose(sines, np.sin([1.0, 2.0]))
    np.testing.assert_array_equal(same, [True, False])
    assert len(b) == 10002


def appends_many(a, n):
    for k in range(n):
        a.append(k * 1.0)
    return n


def push_to(a, x):
    a.append(x)
    return len(a)


def test_lists_that_turns_of_a_parallel_loop_share():
    from numbus import prange

    push = njit(push_to)

    @njit(parallel=True)
    def by_callee(n):
        a = [0]
        out = np.zeros(n)
        for i in prange(n):
            out[i] = push(a, i)
        return out

    @njit(parallel=True)
    def nested(n):
        a = [[0], [1]]
        out = np.zeros(n)
        for i in prange(n):
            a[0].append(i)
            out[i] = i
        return out

    @njit(parallel=True)
    def named(n):
        a = [[0], [1]]
        out = np.zeros(n)
        for i in prange(n):
            row = a[1]
            row.append(i)
            out[i] = i
        return out

    @njit(parallel=True)
    def added(n):
        a = [[0], [1]]
        out = np.zeros(n)
        for i in prange(n):
            a[0] += [i]
            out[i] = i
        return out

    @njit(parallel=True)
    def deleted(n):
        a = [[0], [1]]
        for _ in prange(n):
            for row in a:
                del row[0]
        return a

    @njit(parallel=True)
    def in_a_tuple(n):
        a = ([0, n], n)
        out = np.zeros(n)
        for i in prange(n):
            a[0].append(i)
            out[i] = i
        return out

    for f in (by_callee, nested, named, added, deleted, in_a_tuple):
        with pytest.raises(NotImplementedError, match="parallel loop"):
            f(5)

    def own(n):
        a = [[1, 2], [3, n]]
        out = np.zeros(n)
        for i in prange(n):
            mine = [i]
            mine.append(push(mine, i))
            row = a[i % 2]
            out[i] = mine[-1] + row[0] + a[0][1] + np.sum(row) + row.count(2)
        return out

    check(own, 50, parallel=True)


def test_tuples_of_an_int_and_a_uint64():
    """The order in which the items come does not matter."""

    def of_both(a, b):
        return [(b, b), (a, b)], [(a, b), (b, b)]

    assert njit(of_both)(np.uint64(3), 4) == ([(4, 4), (3, 4)], [(3, 4), (4, 4)])
    assert type(njit(of_both)(np.uint64(3), 4)[0][0][0]) is int


@pytest.mark.parametrize("x", [np.uint64(3), np.float32(0.1), np.int8(-1), True, 2.5, 1j])
def test_lists_in_a_list_have_one_type(x):
    """As np.array([0, x]) has the type of the list, so has that of lists in a list."""

    def f(x):
        return np.array([0, x]), np.array([[0, 0], [0, x]]), np.array([[[0, x]], [[x, 0]]])

    def g(x):
        return np.sum([[0, 0], [0, x]]), np.array([(0, 1), (x, 2)])[:, :1], [[1, 2], [3, x]][0][0]

    line, *others = njit(f)(x)
    for a in others:
        assert a.dtype == line.dtype and a.sum() == f(x)[2 if a.ndim == 3 else 1].sum()
    total, column, first = njit(g)(x)
    assert total == np.sum([0, x]) and first == 1
    assert column.tolist() == [[0], [x]]


def stores_by_steps(n, a, b, s):
    x = list(range(n))
    y = [str(i) for i in range(n)]
    w = [[i] for i in range(n)]
    log = [0]
    try:
        x[a:b:s] = [100 + i for i in range(len(x[a:b:s]))]
        y[a:b:s] = ["<" + t + ">" for t in y[a:b:s]]
        w[a:b:s] = [[9, i] for i in range(len(w[a:b:s]))]
        w[a][0] = 77
        x[::s] = x[::s][::-1]
        x[a::s] = [1, 2, 3]
    except ValueError as e:
        log.append(len(str(e)))
    except IndexError:
        log.append(-1)
    try:
        del y[a:b:s]
        del w[b:a:s]
        del x[::s]
    except ValueError:
        log.append(-2)
    return x, y, w, log


@pytest.mark.parametrize("n", [0, 1, 5, 12])
@pytest.mark.parametrize("s", [1, 2, 3, -1, -2, 0, 100])
def test_slices_with_steps_are_assigned_and_deleted(n, s):
    f = njit(stores_by_steps)
    for a in (-20, -3, 0, 2, 30):
        for b in (-4, 0, 7, 40):
            assert f(n, a, b, s) == stores_by_steps(n, a, b, s), (a, b)


def test_sizes_of_slices_with_steps():
    def f(x):
        x[::2] = [1.0]
        return x

    with pytest.raises(ValueError, match="sequence of size 1 to extended slice of size 2"):
        njit(f)([1.0, 2.0, 3.0])
