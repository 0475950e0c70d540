"""Compiled functions: loops, branches, functions, errors, print."""

import math
from collections import namedtuple

import numpy as np
import pytest
from jit_check import check
from numbus import njit, prange
from numbus.kernels import CompileError

SCALE = 3
TABLE = np.arange(10.0) ** 2
PAIR = (1.5, 7)
NESTED = ((1, 2), (3, 4))


def test_for_else_break_continue():
    def f(n, stop):
        total = 0
        for i in range(n):
            if i % 2 == 0:
                continue
            if i == stop:
                break
            total += i
        else:
            total += 1000
        return total

    check(f, 10, 5)
    check(f, 10, 100)
    check(f, 0, 0)


def test_while_else():
    def f(n):
        steps = 0
        while n != 1:
            if steps > 50:
                break
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        else:
            steps += 10000
        return steps

    check(f, 7)
    check(f, 27)


def test_ranges():
    def f(a, b, c):
        s = 0
        last = -1
        for i in range(a, b, c):
            s += i
            last = i
        for i in range(b):
            s += i
        for i in range(a, b):
            s += 2 * i
        for i in reversed(range(a, b)):
            s = s * 3 + i
        return s, last, len(range(a, b, c)), len(range(b))

    check(f, 0, 10, 3)
    check(f, 10, 0, -3)
    check(f, 5, 5, 1)
    check(f, 1, 8, 2)

    def back(n):
        s = 0
        for i in range(n - 1, -1, -1):
            s = s * 2 + i
        for i in range(10, 0, -3):
            s += i
        for i in reversed(range(0, n, 3)):
            s = s * 5 + i
        return s

    check(back, 7)


def test_nested_loops_break():
    def f(n):
        found = 0
        for i in range(n):
            for j in range(n):
                if i * j == 42:
                    found = i * 100 + j
                    break
            else:
                continue
            break
        return found

    check(f, 20)
    check(f, 3)


def test_loop_variable_after():
    def f(n):
        for i in range(n):  # noqa: B007
            pass
        return i

    check(f, 5)

    def changed(n):
        s = 0
        for i in range(n):
            i = i * 2
            s += i
        return s

    check(changed, 6)


def test_enumerate_zip():
    def f(x, y):
        s = 0.0
        for i, v in enumerate(x):
            s += i * v
        for a, b in zip(x, y):
            s += a * b
        for k, (a, b) in enumerate(zip(x, y)):
            s += k * a - b
        for k, v in enumerate(y, 5):
            s -= k * v
        for a, b, c in zip(x, range(100), y[::-1]):
            s += a * b * c
        for row in x.reshape(2, 5):
            s += row[0] - row.sum()
        return s

    check(f, np.arange(10.0), np.linspace(0, 1, 8))


def test_zip_else_and_break():
    def f(x, stop):
        s = 0.0
        for i, v in enumerate(x):
            if v == stop:
                break
            s += v * i
        else:
            s = -s
        for v in x:
            if v > stop:
                continue
            s += v
        else:
            s += 100
        return s

    check(f, np.arange(6.0), 3)
    check(f, np.arange(6.0), 30)


def test_loops_over_tuples():
    def f(t):
        s = 0.0
        for v in t:
            s += v
        for i, v in enumerate(t):
            s += i * v
        for a, b in zip(t, (1, 2, 3)):
            s += a * b
        for a, b in NESTED:
            s += a * b
        return s

    check(f, (1, 2.5, 3))

    def leaves(t, x):
        for v in t:
            if v > x:
                return v
        return -1

    check(leaves, (1, 2, 3), 1)
    check(leaves, (1, 2, 3), 5)

    def breaks(t, x):
        s = 0
        for v in t:
            if v == x:
                break
            if v == 2:
                continue
            s += v
        else:
            s += 100
        return s

    check(breaks, (1, 2, 3, 4), 4)
    check(breaks, (1, 2, 3, 4), 9)

    def literal():
        s = 0
        for v in (3, 1, 2):
            s = s * 10 + v
        for v in [5, 6]:
            s = s * 10 + v
        return s

    check(literal)


Point = namedtuple("Point", "x y")


def test_tuples():
    def g(t, p):
        a, b = t
        (c, d), e = (a, b), 3
        a, b = b, a
        q = (1, 2) + t
        return a, b, c, d, e, t[0], t[-1], t[1:], len(t), p.x + p.y, p[0], (a, b) == (b, a), q

    check(g, (1, 2.5), Point(3, 4.5))

    def returns_named(p):
        return p

    got = check(returns_named, Point(1, 2.5))
    assert got.x == 1 and got.y == 2.5

    def builds(a, b):
        p = Point(a, b)
        q = Point(y=a, x=b)
        return p.x - p.y, q, p[0]

    check(builds, 3, 4.5)

    def dynamic(t, i):
        return t[i]

    check(dynamic, (4, 5, 6), 2)
    check(dynamic, (4, 5, 6), -3)

    def contains(t, v):
        return v in t, v not in t

    check(contains, (1, 2, 3), 2)
    check(contains, (1, 2, 3), 7)

    def ordered(a, b):
        return a < b, a <= b, a > b, a >= b

    check(ordered, (1, 2), (1, 3))
    check(ordered, (1, 2), (1, 2))
    check(ordered, (2, 2), (1, 5))

    def aggregates(t):
        return sum(t), min(t), max(t), any(t), all(t), len(t), sorted(t), tuple(reversed(t))

    check(aggregates, (3, 1, 2))

    def methods(t):
        return t.count(2), t.index(2)

    check(methods, (3, 2, 2))


def test_globals():
    def f(i):
        return SCALE * TABLE[i] + PAIR[1] + NESTED[1][0] + TABLE.shape[0] + TABLE.sum()

    check(f, 3)


def outer_helper(a, b=2, *, c=3):
    return a * b + c


def varargs(*xs):
    s = 0
    for x in xs:
        s += x
    return s


def test_calls():
    def f(x):
        return (
            outer_helper(x)
            + outer_helper(x, 5)
            + outer_helper(x, c=7)
            + outer_helper(b=1, a=x)
            + outer_helper(*(x, 4))
        )

    check(f, 3)
    check(f, 2.5)

    def g(x):
        return varargs(x, 2, 3) + varargs(x)

    check(g, 3)

    defaults = njit(outer_helper)
    assert defaults(2) == 7 and defaults(2, 3) == 9 and defaults(2, c=1) == 5
    with pytest.raises(TypeError):
        defaults()


def test_closures():
    k = 5
    t = np.array([1.0, 2.0])

    def make(m):
        def inner(x):
            return x * m + k + t[1]

        return inner

    check(make(2), 3)
    check(make(3.5), 3)

    def f(x):
        def inner(y):
            return x * y + k

        def other(y, z=2):
            if y > z:
                return inner(y)
            return inner(z) * 2

        g = lambda v: v + x  # noqa: E731
        return inner(2) + other(1) + other(5) + g(3) + (lambda a, b: a - b)(x, 1)

    check(f, 3)
    check(f, 0.5)


def apply(f, x):
    return f(f(x))


def twice(x):
    return x * 2


def test_functions_as_arguments():
    def f(x):
        return apply(twice, x) + apply(lambda v: v + 1, x)

    check(f, 3)
    add = njit(lambda a, b: a + b)
    fold = njit(fold_plain)
    assert fold(add, np.arange(5.0)) == 10.0

    def choose(x):
        g = math.sin if SCALE > 2 else math.cos
        return g(x)

    check(choose, 0.5)

    def inner_argument(x):
        def scale(v):
            return v * x

        return apply(scale, 2.0)

    check(inner_argument, 3.0)


def fold_plain(f, x):
    s = x[0]
    for i in range(1, x.shape[0]):
        s = f(s, x[i])
    return s


@njit
def ack(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ack(m - 1, 1)
    return ack(m - 1, ack(m, n - 1))


@njit
def is_even(n):
    if n == 0:
        return True
    return is_odd(n - 1)


@njit
def is_odd(n):
    if n == 0:
        return False
    return is_even(n - 1)


@njit
def halve(x, depth):
    if depth == 0:
        return x
    return halve(x * 0.5, depth - 1)


@njit
def total(x):
    n = x.shape[0]
    if n == 1:
        return x[0]
    return total(x[: n // 2]) + total(x[n // 2 :])


def test_recursion():
    assert ack(2, 3) == 9
    assert is_even(10) and not is_even(7)
    assert halve(8, 3) == 1.0
    assert total(np.arange(100.0)) == 4950.0


def test_returns():
    def nothing(x):
        if x > 0:
            return
        x += 1

    check(nothing, 1)

    def two(x):
        if x > 0:
            return 1, x
        return 2, -x

    check(two, 3)
    check(two, -3)

    def early(x):
        for i in range(x.shape[0]):
            for j in range(i):
                if x[i] + x[j] == 7:
                    return i, j
        return -1, -1

    check(early, np.arange(10))
    check(early, np.zeros(3, int))

    def optional(x):
        if x > 0:
            return None
        return None

    check(optional, 3)


def test_raise():
    def f(n):
        if n == 0:
            raise ValueError("zero")
        if n == 1:
            raise IndexError
        if n == 2:
            raise RuntimeError()
        if n == 3:
            raise TypeError(
                "a",
            )
        assert n != 4, "four"
        assert n != 5
        return n

    for n in range(7):
        check(f, n)

    def callee(n):
        return f(n) + 1

    with pytest.raises(ValueError, match="zero") as e:
        njit(callee)(0)
    assert 'raise ValueError("zero")' in e.value.__notes__[0]
    assert f":{f.__code__.co_firstlineno + 2}" in e.value.__notes__[0]

    def formatted(n):
        if n < 0:
            raise ValueError(f"n is {n}, not positive")
        raise ValueError(f"{n} is {n / 2} or {True}")

    check(formatted, -3)
    check(formatted, 3)

    def custom(n):
        if n:
            raise Mine("oh")
        return 0

    with pytest.raises(Mine, match="oh"):
        njit(custom)(1)


class Mine(Exception):
    pass


def test_print(capsys):
    def f(x, n):
        print("hello", n, x, x > 1, None)
        print(1.5, 1e20, 1e-7, 0.1, -0.0, 1e16, 123456789.123)
        print((n, x), (n,), ())
        print("a", "b", sep="-", end="!\n")
        print()
        print(x / 3, n // 2, 2**62)
        print(1 + 2j, 1.5j, -1 - 0.5j)
        for i in range(3):
            print(i, end=" ")
        print("{} {!r}", "'")

    f(2.5, 7)
    theirs = capsys.readouterr().out
    njit(f)(2.5, 7)
    assert capsys.readouterr().out == theirs


def test_print_numpy_numbers(capsys):
    def f(x, n):
        print(x, n, x * 3)

    for x, n in ((np.float32(0.1), np.int8(-5)), (np.float64(0.1), np.uint64(2**64 - 1))):
        f(x, n)
        theirs = capsys.readouterr().out
        njit(f)(x, n)
        assert capsys.readouterr().out == theirs


def test_print_f_string(capsys):
    def f(x, n):
        print(f"x={x} n={n}")
        print(f"{n}", n)

    f(2.5, 3)
    theirs = capsys.readouterr().out
    njit(f)(2.5, 3)
    assert capsys.readouterr().out == theirs


def test_comprehensions():
    def f(n):
        return [i * i for i in range(n)]

    check(f, 5)
    check(f, 0)

    def conditional(x):
        return [v * 2 for v in x if v > 2]

    check(conditional, np.arange(6.0))

    def nested(n):
        return [i * 10 + j for i in range(n) for j in range(i)]

    check(nested, 4)

    def used(n):
        a = [i + 0.5 for i in range(n)]
        s = 0.0
        for v in a:
            s += v
        a[0] = 10.0
        return s, a, len(a), a[-1], sum(a), max(a), sorted(a)

    check(used, 5)

    def generators(x):
        return (
            sum(v * v for v in x),
            any(v > 3 for v in x),
            all(v > 3 for v in x),
            max(v - 1 for v in x),
            min(i * v for i, v in enumerate(x)),
        )

    check(generators, np.arange(1.0, 6.0))

    def zipped(x, y):
        return [a * b for a, b in zip(x, y)], [i + v for i, v in enumerate(x)]

    check(zipped, np.arange(4.0), np.arange(5.0))

    def to_array(n):
        return np.array([i * 0.5 for i in range(n)])

    check(to_array, 4)

    def steps(n):
        return [i for i in range(n, 0, -2)], [i for i in range(0, n, 3)]

    check(steps, 9)

    def of_tuples(n):
        return tuple([i + n for i in (1, 2, 3)]), [i for i in (1, 2, 3) if i != 2]

    check(of_tuples, 3)


def test_lists():
    def f(n):
        a = [1, 2, n]
        b = [0.0] * n
        b[1] = 5.0
        a[0] += 10
        return a, b, len(b), a[-1]

    check(f, 4)

    def table(n):
        rows = [(1, 2.5), (n, 4.5)]
        s = 0.0
        for a, b in rows:
            s += a * b
        return s

    check(table, 3)


def test_isinstance():
    def f(x):
        if isinstance(x, int):
            return 1
        if isinstance(x, float):
            return 2
        if isinstance(x, tuple):
            return len(x)
        if isinstance(x, np.ndarray):
            return x.ndim + 100
        return 0

    for x in (1, 2.5, (1, 2, 3), np.zeros((2, 2)), 1j):
        check(f, x)


CLASSES = [bool, int, float, complex, tuple, list, str, np.ndarray, np.integer, np.floating]
CLASSES += [np.bool_, np.int8, np.uint64, np.float16, np.float32, np.float64, np.complex64]
CLASSES += [np.complex128, (int, np.integer), (str, (list, (float,))), ()]


@pytest.mark.parametrize("cls", CLASSES, ids=str)
def test_isinstance_of_all_types(cls):
    """As CPython says it, which takes np.float64 for a float and np.complex128 for a complex."""

    def f(x):
        return isinstance(x, cls)

    numbers = [np.dtype(t).type(1) for t in "?bhilBHILefdFD"]
    for x in (True, 1, 2.5, 1j, (1, 2), np.zeros(2), *numbers):
        assert njit(f)(x) is isinstance(x, cls), x


def test_static_branches():
    def f(x, mode):
        if mode is None:
            return x
        if x.ndim == 1:
            return x + mode
        return x[0] * mode

    check(f, np.arange(3.0), None)
    check(f, np.arange(3.0), 2)
    check(f, np.arange(6.0).reshape(2, 3), 2)


def test_types_change():
    def f(n):
        x = n
        y = x + 1
        x = 2.5
        z = x * y
        x = (1, 2)
        return y, z, x

    check(f, 3)

    def loop(n):
        x = 0
        y = 0
        for i in range(n):
            y = x
            x = i * 0.5
        return x * 1.0, y * 1.0

    check(loop, 4)


def test_del_and_pass():
    def f(x):
        y = x + 1
        del y
        pass
        x: float = x * 2
        return x

    check(f, 3)


def test_walrus():
    def f(n):
        s = 0
        while (k := n - s) > 3:
            s += 1
        return s, k

    check(f, 10)


def test_match():
    def f(n):
        match n:
            case 0:
                return 10
            case 1 | 2:
                return 20
            case _:
                return 30

    try:
        for n in range(4):
            check(f, n)
    except CompileError:
        pytest.skip("not yet")


def test_prange_without_parallel():
    def f(x):
        s = 0.0
        for i in prange(x.shape[0]):
            s += x[i]
        return s

    check(f, np.arange(10.0))
    check(f, np.arange(10.0), parallel=True)


def test_nothing_behind_what_always_returns():
    def dead_break(x):
        while True:
            x = x * 2
            return x
            break
        return -1.0

    def return_in_else(x):
        k = 0
        while k < 3:
            k += 1
        else:
            return x * 1.0
        return 2.0

    def last_else(x):
        for _ in range(3):
            x += 1
        else:
            return x

    def over_a_tuple(x):
        for k in (1, 2, 3):
            if k == x:
                continue
            x += k
        else:
            return x

    for f in (dead_break, return_in_else, last_else, over_a_tuple):
        assert njit(f)(1.5) == f(1.5)
        assert njit(f)(2) == f(2)


def test_ranges_to_the_end_of_int64():
    """A stop plus a step may not fit into 64 bits; a step of zero is refused where it is given."""

    def length(a, b, s):
        return len(range(a, b, s)), len(range(a, b, 3)), len(range(a, b, -2))

    def first(a, b, s):
        for k, i in enumerate(range(a, b, s)):
            return k, i, a in range(a, b, s)
        return -1, 0, False

    most = 2**63 - 1
    for s in (1, 3, -1, -2, 7, most, -most):
        for a, b in ((0, most), (most, 0), (5, most - 1), (0, 7), (7, 0), (0, -most), (3, 3)):
            check(length, a, b, s)
            check(first, a, b, s)
    for f in (length, first):
        with pytest.raises(ValueError, match="must not be zero"):
            njit(f)(0, 5, 0)
