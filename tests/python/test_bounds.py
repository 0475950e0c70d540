"""Checks of indices: the same error at the same element, wherever the checks are made."""

import os
import platform
import random
import re
import warnings

import numpy as np
import pytest
import random_loops
from numbus import cuda, float32, guvectorize, njit, prange, stencil, vectorize

OUTSIDE = r"index (-?\d+) is out of bounds for axis (\d+) (?:of '\w+' )?with size (\d+)"


def outcome(function, args):
    """What a call gives or raises, the line of an IndexError, and its arrays afterwards."""
    args = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    line = None
    try:
        result = function(*args)
    except IndexError as e:
        result = re.fullmatch(OUTSIDE, str(e)).groups()
        if notes := getattr(e, "__notes__", None):
            line = int(re.search(r":(\d+)", notes[0]).group(1))
        position = e.__traceback__
        while position and not notes:
            line = position.tb_lineno
            position = position.tb_next
    except (ValueError, ZeroDivisionError) as e:
        result = type(e)
    return result, line, [a for a in args if isinstance(a, np.ndarray)]


def same(ours, theirs):
    return ours[:2] == theirs[:2] and all(
        np.array_equal(o, t) for o, t in zip(ours[2], theirs[2], strict=True)
    )


class Kept:
    """The functions compiled in here keep all their checks where they stand."""

    def __enter__(self):
        os.environ["NUMBUS_KEEP_CHECKS"] = "1"

    def __exit__(self, *error):
        del os.environ["NUMBUS_KEEP_CHECKS"]


def kept(function, args):
    with Kept():
        return outcome(njit(function, boundscheck=True), args)


def ints(*shape):
    return np.arange(1, 1 + int(np.prod(shape)), dtype=np.int64).reshape(shape)


def running_sum(x, y):
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = y[i - 1] + x[i]


def three_points(x, y, n):
    for i in range(1, n - 1):
        y[i] = x[i - 1] + x[i] + x[i + 1]


def steps(x, y, start, stop, step):
    for i in range(start, stop, step):
        y[i] = x[i + 1] - x[i]


def pairs(x, y, n):
    for i in range(0, n, 2):
        y[i + 1] = x[i] + x[i + 1]


def backwards(x, y, n):
    for i in range(n - 1, -1, -1):
        y[i] = x[n - 1 - i]


def backwards_by_two(x, y, n):
    for i in range(n - 1, 0, -2):
        y[i] = x[i - 1]


def ring(x, y, n):
    for i in range(n):
        y[i] = x[i - 1] + x[(i + 1) % n] + x[-1 - i]


def from_the_end(x, y, n):
    for i in range(1, n + 1):
        y[-i] += x[n - i]


def leaves(x, y, n, what):
    for i in range(n):
        if x[i] == what:
            break
        y[i] = x[i]
    return i


def goes_on(x, y, n):
    for i in range(n):
        if x[i] % 3 == 0:
            continue
        y[i] = x[i]


def returns(x, y, n, what):
    for i in range(n):
        y[i] = x[i]
        if x[i] == what:
            return i
    return -1


def guarded(x, y, n):
    for i in range(n):
        if 0 < i < len(x) - 1:
            y[i] = x[i - 1] + x[i + 1]


def triangle(a, y, n):
    for i in range(n):
        for j in range(i + 1, n):
            y[j - i] += a[i, j]


def nested(a, y, n, m):
    for i in range(n):
        y[i] = 0
        for j in range(m):
            y[i] += a[i, j]


def flat(x, y, n, w):
    for i in range(n):
        for j in range(w):
            y[i * w + j] = x[j * n + i]


def blocks(x, y, n, b):
    for i in range(0, n, b):
        for j in range(i, min(i + b, n)):
            y[j] = x[j] + i


def shrinks(x, y, n):
    for i in range(n):
        y[i] = x[i]
        x = x[:-1]


def narrowed(x, y, n):
    z = x[1:n]
    for i in range(n):
        y[i] = z[i]


def swapped(x, y, n):
    for i in range(n):
        y[i] = x[i]
        x, y = y, x


def counts(x, y, n):
    i = 0
    while i < n:
        y[i] = x[i]
        i += 1


def counts_down(x, y, n):
    i = n
    while i > 0:
        i -= 1
        y[i] = x[i]


def insertion(x, y, n):
    for i in range(n):
        v = x[i]
        j = i
        while j > 0 and y[j - 1] > v:
            y[j] = y[j - 1]
            j -= 1
        y[j] = v


def bubble(x, y, n):
    while n > 1:
        last = 0
        for i in range(1, n):
            if y[i - 1] > y[i]:
                y[i - 1], y[i] = y[i], y[i - 1]
                last = i
        n = last


def search(x, y, what, n):
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if x[middle] < what:
            low = middle + 1
        else:
            high = middle
    y[low] = what
    return low


def sieve(x, y, n):
    i = 2
    while i * i < n:
        if y[i]:
            for j in range(i * i, n, i):
                y[j] = 0
        i += 1


def gathered(x, y, n):
    for i in range(n):
        y[x[i] - 1] += x[i]


def persists(x, y, n):
    k = 0
    for i in range(n):
        for j in range(2):
            y[k] = x[i] + j
            k += 1


def once_set(x, y, n):
    k = 0
    for i in range(n):
        for j in range(i, n):
            if j == 0:
                k = n - 2
            y[k] += x[j]


def wanders(x, y, n):
    k = 1
    for i in range(n):
        if k < y.size:
            y[k] += x[i]
        k += 1
        if i % 3 == 2:
            k -= 5


def remembers(x, y, n):
    for i in range(n):
        for j in range(x[i]):
            if i == 0 and j == 0:
                k = 3
            y[j] = x[j] + k


X, Y = ints(8), ints(8)
CALLS = [
    *[(running_sum, X[:k], Y[:n].copy()) for k in (1, 5, 8) for n in (1, 3, 8)],
    (running_sum, X[:0], Y),
    *[(three_points, X[:k], Y[:m].copy(), n) for k in (6, 8) for m in (6, 8) for n in (0, 6, 8, 9)],
    *[(steps, X, Y, *r) for r in [(0, 7, 1), (0, 8, 1), (6, -1, -1), (7, -1, -1), (6, -9, -1)]],
    *[(steps, X, Y, *r) for r in [(-8, 0, 1), (-9, 0, 1), (0, 7, 3), (1, 8, 3), (0, 7, 0)]],
    *[(steps, X, Y, *r) for r in [(6, -3, -2), (6, -1, -3), (9, 3, 5), (5, 5, 1), (3, -20, -7)]],
    *[(pairs, X[:k], Y, n) for k in (7, 8) for n in (6, 7, 8)],
    *[
        (f, X, Y[:k].copy(), n)
        for f in (backwards, backwards_by_two)
        for k in (7, 8)
        for n in (7, 8, 9)
    ],
    *[(ring, X, Y, n) for n in (0, 1, 8, 9)],
    *[(from_the_end, X, Y[:k].copy(), n) for k in (7, 8) for n in (7, 8, 9)],
    *[(f, X[:k], Y, 10, w) for f in (leaves, returns) for k in (5, 8) for w in (5, 8, 9)],
    *[(f, X[:k], Y[:m].copy(), 8) for f in (goes_on, guarded) for k in (6, 8) for m in (5, 7, 8)],
    *[(triangle, ints(4, m), Y[:k].copy(), n) for m in (3, 4) for k in (3, 4) for n in (3, 4, 5)],
    *[
        (nested, ints(4, 5), Y[:k].copy(), n, m)
        for k in (3, 4)
        for n in (3, 4, 5)
        for m in (0, 5, 6)
    ],
    *[(flat, ints(k), ints(m), 3, w) for k in (12, 11) for m in (12, 13, 11) for w in (4, 5)],
    *[(blocks, X[:k], Y, n, b) for k in (7, 8) for n in (7, 8, 9) for b in (1, 3, 20, -1)],
    *[
        (f, X, Y, n)
        for f in (shrinks, narrowed, swapped, counts, counts_down)
        for n in (4, 7, 8, 9)
    ],
    *[(insertion, X[::-1].copy(), Y[:k].copy(), n) for k in (7, 8) for n in (7, 8, 9)],
    *[(bubble, X, Y[::-1].copy(), n) for n in (0, 8, 9)],
    *[(search, X, Y, w, n) for w in (0, 4, 9) for n in (7, 8, 9)],
    *[(sieve, X, ints(k), n) for k in (30, 29) for n in (30, 31)],
    *[(gathered, x, Y[:k].copy(), len(x)) for x in (X, np.array([1, -6, 9, 2])) for k in (7, 8)],
    *[(wanders, X, ints(k), n) for k in (3, 4, 5, 8) for n in (3, 5, 8, 9)],
    *[(remembers, np.array([3, k, 2, 1]), Y, 4) for k in (2, 4, 5)],
    *[(f, X, Y, n) for f in (persists, once_set) for n in (2, 4, 5, 9)],
]


@pytest.mark.parametrize("f", sorted({c[0] for c in CALLS}, key=lambda f: f.__name__))
def test_as_in_cpython(f):
    compiled = njit(f)
    with Kept():
        before = njit(f, boundscheck=True)
        before_all = [outcome(before, c[1:]) for c in CALLS if c[0] is f]
    raised = 0
    for c, old in zip((c for c in CALLS if c[0] is f), before_all, strict=True):
        ours, theirs = outcome(compiled, c[1:]), outcome(f, c[1:])
        assert same(ours, theirs), (c[1:], ours, theirs)
        assert same(ours, old), (c[1:], ours, old)
        raised += isinstance(theirs[0], tuple)
    assert raised or f is guarded


@pytest.mark.parametrize("seed", range(40))
def test_random_loops(seed):
    r = random.Random(seed)
    source, f = random_loops.write(r)
    compiled = njit(f)
    for _ in range(4):
        args = random_loops.arguments(r)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs = outcome(random_loops.limited(f), args)
        except (random_loops.TooLong, UnboundLocalError):
            continue
        assert same(outcome(compiled, args), theirs), (source, args)


def wrapped(a, i, wrap):
    d = len(a)
    for k in range(d):
        r = np.fmod(i + k, d)
        if wrap:
            r += d
        a[r] = -1.0


def wrapped_late(a, i):
    d = len(a)
    for k in range(2 * d):
        r = np.fmod(i + k, d)
        if k > 100:
            r = r + d
        a[r] = -1.0


def remainders(a, i):
    d = len(a)
    for k in range(d):
        a[(i + k) % d] += k


def test_only_remainders_are_remainders():
    base = np.arange(300.0)
    for f, rest in ((wrapped, (3, True)), (wrapped, (3, False)), (wrapped_late, (-200,))):
        for n in (10, 100):
            compiled = njit(f)
            args = (base[100 : 100 + n].copy(), *rest)
            assert same(outcome(compiled, args), outcome(f, args)), (f, n, rest)
    with pytest.raises(IndexError, match="index 13 is out of bounds"):
        njit(wrapped)(base[100:110], 3, True)
    np.testing.assert_array_equal(base, np.arange(300.0))
    compiled = njit(remainders)
    args = (base[100:110], -13)
    assert same(outcome(compiled, args), outcome(remainders, args))
    assert checks(compiled) == 0


def growing_step(j, i, a):
    s = 0
    n = len(a)
    while i < n:
        if 0 < j < 100:
            s += a[i]
        i = i + j
        j = j + 2
    return s


def moving_stop(n, i, a):
    s = 0
    while i < n:
        if i < 3:
            s += a[i]
        n -= 1
        i = i + 1
    return s


def growing_both(n, j, i, a):
    s = 0
    while i < n:
        if 0 < j < 100:
            s += a[n - 1]
        n += 5
        i = i + j
        j = j + 2
    return s


def either_way(a, i, j, above):
    s = 0
    n = len(a)
    while (i < n) if above < j else (n < i):
        s += a[i]
        i = i + j
    return s


def test_steps_and_ends_that_change():
    x = np.arange(100, 300)[100:110]
    for f, args in (
        (growing_step, (-3, 1, x)),
        (growing_step, (1, 1, x)),
        (growing_step, (-9, 8, x)),
        (moving_stop, (10, 0, x)),
        (moving_stop, (30, -15, x)),
        (growing_both, (10, 1, 0, x)),
        (growing_both, (6, -3, 1, x)),
        (either_way, (x, 20, 2, 5)),
        (either_way, (x, 0, 2, 0)),
        (either_way, (x, 0, 2, -5)),
    ):
        assert same(outcome(njit(f), args), outcome(f, args)), (f, args)


def far_ends(x, y, start, stop, step):
    n = 0
    for i in range(start, stop, step):
        y[i] = x[i]
        n += 1
        if n == 20:
            break
    return n


def no_test(x, y, start, by, n):
    i, iterations = start, 0
    while True:
        if i < n:
            iterations += 1
        y[i] = x[i]
        i += by
        if iterations > 20:
            return iterations


def around(x, y, b, n):
    z, s = np.zeros(5), 0.0
    for i in range(n):
        if i + b < b + 5:
            s += z[i]
    return s


def multiplied(x, y, a, b, n):
    s = 0
    for i in range(n):
        s += x[i * a + b]
    return s


MOST = 2**63 - 1


@pytest.mark.parametrize(
    ("f", "rest"),
    [(far_ends, r) for r in [(MOST - 3, MOST, 1), (MOST - 9, MOST, 4), (0, MOST, 1)]]
    + [(far_ends, r) for r in [(-MOST, 3, 1), (-MOST - 1, -MOST, 1), (5, -MOST - 1, -3)]]
    + [(far_ends, r) for r in [(0, MOST, MOST), (0, 8, MOST), (7, -1, -MOST), (0, MOST, 2**62)]]
    + [(far_ends, r) for r in [(5, 8, MOST), (3, 8, 2**62), (0, 8, 2**61)]]
    + [(no_test, r) for r in [(0, 1, 3), (0, 2**61, 8), (5, MOST, 9), (7, -1, 9)]]
    + [(around, r) for r in [(0, 20), (MOST - 6, 20), (MOST - 6, 6), (-MOST, 20)]]
    + [
        (multiplied, r)
        for r in [
            (2**62, 0, 5),
            (2**63 - 2, 3, 5),
            (2**62, 0, 3),
            (2**61, 3, 5),
            (-(2**62), -1, 4),
            (2**32, 0, 3),
        ]
    ]
    + [(multiplied, r) for r in [(1, MOST, 2), (MOST, 1, 3), (1, 0, MOST), (0, 3, 9), (1, -8, 16)]],
)
def test_numbers_that_run_over(f, rest):
    # As each check by itself finds it, in 64 bits.
    if f is far_ends and range(*rest) and not -MOST <= sum((range(*rest)[-1], rest[2])) <= MOST:
        with pytest.raises(OverflowError, match="not yet"):
            njit(f)(X, Y, *rest)
        return
    assert same(outcome(njit(f), (X, Y, *rest)), kept(f, (X, Y, *rest)))


@njit(parallel=True)
def side_by_side(a, y, n, m):
    for i in prange(n):
        for j in range(1, m):
            y[i, j] = a[i, j - 1] + a[i, j]


@njit(parallel=True)
def until(x, y, n):
    for i in prange(n):
        v, k = x[i], 0
        while v > 1.0:
            v *= 0.5
            k += 1
        y[i] = k


def test_parallel():
    a, y = ints(40, 30), np.zeros((40, 30), np.int64)
    side_by_side(a, y, 40, 30)
    np.testing.assert_array_equal(y[:, 1:], a[:, 1:] + a[:, :-1])
    for n, m, axis in ((41, 30, 0), (40, 31, 1)):
        with pytest.raises(IndexError, match=f"out of bounds for axis {axis}"):
            side_by_side(a, y, n, m)
    x = np.arange(100.0)
    until(x, y := np.zeros(100), 100)
    assert y[99] == 7
    with pytest.raises(IndexError, match="index 100 is out of bounds for axis 0 of 'x'"):
        until(x, y, 101)


def loops(assembly):
    """(lines, conditional jumps) of each innermost stretch from a label to a jump back to it.

    Around a loop lies another one, by strips, which looks whether Ctrl-C has been pressed.
    """
    lines = [li.strip() for li in assembly.splitlines()]
    at = {li[:-1]: n for n, li in enumerate(lines) if li.startswith(".LBB") and li.endswith(":")}
    found = []
    for n, li in enumerate(lines):
        jump = re.fullmatch(r"j(\w+)\s+(\.LBB\w+)", li)
        if jump and at.get(jump.group(2), n) < n:
            found.append((at[jump.group(2)], n))
    for first, last in found:
        if any((a, b) != (first, last) and first <= a and b <= last for a, b in found):
            continue
        body = lines[first : last + 1]
        yield body, sum(bool(re.match(r"j(?!mp)", b)) for b in body)


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="reads x86 assembly")
def test_no_check_in_the_loop():
    def jumps(**options):
        f = njit(running_sum, **options)
        f(np.ones(9), np.ones(9))
        (text,) = f.inspect_asm().values()
        return [jumps for body, jumps in loops(text) if any("addsd" in b for b in body)]

    assert set(jumps(boundscheck=False)) == {1}
    assert 1 in jumps()  # and the loop that looks at each index
    with Kept():
        assert 1 not in jumps(boundscheck=True)


def checks(f):
    """How many checks a compiled function or kernel has left."""
    f = f._core or f._make()
    (text,) = [t for _, t in (f.inspect("ir", 90, 80) if hasattr(f, "launch") else f.inspect("ir"))]
    return len(re.findall(r"= branch %\d+ #1$", text, re.M))


def test_always_true():
    def f(x, i):
        s = 0.0
        for k in range(len(x)):
            s += x[k] + x[len(x) - 1 - k]
        if 0 <= i < x.size:
            s += x[i]
        j = len(x) // 2
        if j < len(x):
            s += x[j]
        for k in range(1, x.shape[0] - 1):
            s += x[k - 1] + x[k] + x[k + 1]
        while j > 0 and x[j - 1] > 1:
            j -= 1
        return s

    g = njit(f)
    assert g(np.ones(5), 2) == f(np.ones(5), 2)
    assert checks(g) == 0


def test_once_is_enough():
    @njit
    def g(x, i, j):
        x[i] += 1.0
        x[i] += x[j]
        return x[i] + x[j]

    x = np.arange(4.0)
    assert g(x, -1, 0) == 4.0
    assert checks(g) == 2


def test_default():
    wide = np.arange(9.0)
    x = wide[:5]

    def f(x, i):
        return x[i]

    for make in (njit, njit(boundscheck=True), njit(debug=True), njit(boundscheck=None)):
        with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 of 'x'"):
            make(f)(x, 7)
    assert njit(boundscheck=False)(f)(x, 7) == 7.0


@pytest.mark.parametrize("name", ["NUMBUS_BOUNDSCHECK", "NUMBA_BOUNDSCHECK"])
def test_environment(name, monkeypatch):
    x = np.arange(9.0)[:5]

    def f(x, i):
        return x[i]

    monkeypatch.setenv(name, "0")
    assert njit(f)(x, 7) == 7.0
    monkeypatch.setenv(name, "1")
    with pytest.raises(IndexError):
        njit(f, boundscheck=False)(x, 7)


TABLE = np.arange(5.0)


def test_vectorize_guvectorize_stencil():
    @vectorize
    def looked_up(i):
        return TABLE[i]

    assert list(looked_up(np.array([0, 4, -5]))) == [0.0, 4.0, 0.0]
    with pytest.raises(IndexError, match="index 5 is out of bounds"):
        np.asarray(looked_up(np.array([0, 5])))

    @guvectorize("float64[:], int64, float64[:]", "(n),()->(n)")
    def rolled(x, k, y):
        for i in range(len(x)):
            y[i] = x[i + k]

    assert list(rolled(np.arange(4.0), -1)) == [3.0, 0.0, 1.0, 2.0]
    with pytest.raises(IndexError, match="index 4 is out of bounds for axis 0 of 'x' with size 4"):
        rolled(np.arange(4.0), 1)

    @stencil
    def mean(x):
        return (x[-1] + x[0] + x[1]) / 3

    assert list(mean(np.arange(4.0))) == [0.0, 1.0, 2.0, 0.0]

    @stencil(standard_indexing=("at",))
    def picked(x, at):
        return x[0] + at[5]

    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 of 'at' with size 3"):
        np.asarray(picked(np.arange(4.0), np.arange(3.0)))


@cuda.jit(boundscheck=True)
def product(a, b, c):
    i, j = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        s = float32(0)
        for k in range(a.shape[1]):
            s += a[i, k] * b[k, j]
        c[i, j] = s


@cuda.jit(boundscheck=True)
def grid_guard(a, x, y):
    i = cuda.grid(1)
    if i < x.size and i < y.size:
        y[i] = a * x[i] + 1


@cuda.jit(boundscheck=True)
def grid_stride(x, n):
    i = cuda.grid(1)
    for k in range(i, n, cuda.gridsize(1)):
        x[k] += 1


def test_kernels():
    x = np.arange(100.0)
    grid_guard[2, 64](2.0, x, y := np.zeros(100))
    cuda.synchronize()
    np.testing.assert_array_equal(y, 2 * np.arange(100.0) + 1)
    assert checks(grid_guard) == 0
    grid_stride[1, 64](x, 100)
    cuda.synchronize()
    np.testing.assert_array_equal(x, np.arange(100.0) + 1)
    with pytest.raises(IndexError, match=r"index 10[0-9] is out of bounds for axis 0 of 'x'"):
        grid_stride[1, 64](x, 110)
        cuda.synchronize()
    a, b = (np.random.default_rng(0).random((20, 20)).astype(np.float32) for _ in range(2))
    c = np.zeros((20, 20), np.float32)
    product[(2, 2), (16, 16)](a, b, c)
    cuda.synchronize()
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)
    for wrong, axis, name in ((a[:, :18], 1, "b"), (a[:15], 0, "b")):
        with pytest.raises(IndexError, match=rf"out of bounds for axis {axis} of '{name}'"):
            product[(2, 2), (16, 16)](a, wrong.copy(), c)
            cuda.synchronize()
    product[(2, 2), (16, 16)](a, b, c)
    cuda.synchronize()


@pytest.mark.skipif(cuda.is_available(), reason="of kernels on the CPU")
def test_kernels_are_checked_on_a_cpu():
    @cuda.jit
    def unasked(x):
        x[cuda.grid(1)] = 1.0

    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 of 'x' with size 5"):
        unasked[1, 8](np.arange(9.0)[:5])
    x = np.zeros(9)
    cuda.jit(unasked.py_func, boundscheck=False)[1, 8](x[:5])
    assert list(x) == [1.0] * 8 + [0.0]
