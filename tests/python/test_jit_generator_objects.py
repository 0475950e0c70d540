"""Generators as objects of compiled functions, against CPython."""

import gc
import subprocess
import sys
import weakref

import numpy as np
import pytest
from jit_check import equal
from numbus import _core, njit, prange
from numbus.kernels import UnsupportedError


def squares(n):
    for i in range(n):
        if i % 3 == 2:
            continue
        yield i * i


def halves(x):
    k = 0
    while True:
        if k >= x.size:
            return
        yield x[k] / 2
        k += 1


def pairs(x, y):
    for i, (a, b) in enumerate(zip(x, y)):
        yield i, a * b
    yield -1, 0.0


def rows(x):
    for i in range(x.shape[0]):
        yield x[i]
        yield x[i] + 1


def words(n):
    text = "a"
    for i in range(n):
        text = text + str(i)
        yield text


def growing(n):
    held = [0.5]
    for i in range(n):
        held.append(float(i))
        yield held[len(held) // 2]


def nested(n):
    for i in range(n):
        for j in range(i):
            yield i * 10 + j
        yield -i


def of_generator(g, k):
    for v in g:
        if v % k:
            yield v + 1


def delegating(n, x):
    yield from range(n)
    if n > 1:
        yield from x
    yield from (7, 8)


def nothing(x):
    for v in x:
        if v > 1e9:
            yield v


ALL = [
    (squares, (9,)),
    (squares, (0,)),
    (halves, (np.arange(5.0),)),
    (halves, (np.zeros(0),)),
    (pairs, (np.arange(4), np.ones(3))),
    (rows, (np.arange(6.0).reshape(3, 2),)),
    (words, (4,)),
    (growing, (6,)),
    (nested, (4,)),
    (nothing, (np.ones(3),)),
    (delegating, (3, np.arange(3))),
    (delegating, (0, np.arange(3))),
]
IDS = [f"{f.__name__}{k}" for k, (f, _) in enumerate(ALL)]


def consumers(generator):
    """Functions that use a generator in each way, made of a plain or a compiled one."""

    def loop(*args):
        count = 0
        for _ in generator(*args):
            count += 1
        return count

    def named(*args):
        g = generator(*args)
        count = 0
        for _ in g:
            count += 1
            if count == 2:
                break
        else:
            count = -count
        for _ in g:
            count += 10
        return count

    def listed(*args):
        return [v for v in generator(*args)]

    def whole(*args):
        g = generator(*args)
        return list(g)

    def twice(*args):
        g = generator(*args)
        h = generator(*args)
        count = 0
        for _ in g:
            for _ in h:
                count += 1
        return count

    return loop, named, listed, whole, twice


@pytest.mark.parametrize("generator, args", ALL, ids=IDS)
def test_consumers(generator, args):
    compiled = njit(generator)
    for plain, ours in zip(consumers(generator), consumers(compiled), strict=True):
        want = plain(*args)
        if isinstance(want, list) and not want:
            continue  # of what an empty list would be, Numba says nothing either
        equal(njit(ours)(*args), want, 0)


@pytest.mark.parametrize("generator, args", ALL, ids=IDS)
def test_in_python(generator, args):
    mine, theirs = njit(generator)(*args), generator(*args)
    assert iter(mine) is mine
    for want in theirs:
        got = next(mine)
        if isinstance(want, np.generic):
            want = want.item()
        equal(got, want, 0)
    for _ in range(2):
        with pytest.raises(StopIteration):
            next(mine)


@pytest.mark.parametrize("generator, args", ALL, ids=IDS)
def test_as_arguments_and_results(generator, args):
    compiled = njit(generator)

    @njit
    def made(flag, *args):
        g = compiled(*args)
        if flag:
            next(g, None)
        return g

    @njit
    def counted(g):
        n = 0
        for _ in g:
            n += 1
        return n

    want = len(list(generator(*args)))
    assert counted(compiled(*args)) == want
    assert counted(made(False, *args)) == want
    g = compiled(*args)
    assert next(g, None) is None or True
    assert counted(g) == max(want - 1, 0) and counted(g) == 0
    assert len(list(compiled(*args))) == want


def test_next():
    @njit
    def f(n):
        g = inner(n)
        a = next(g)
        b = next(g, 100)
        c = next(g, -1.5)
        return a, b, c

    inner = njit(squares)

    def plain(n):
        g = squares(n)
        return next(g), next(g, 100), float(next(g, -1.5))

    for n in (1, 2, 4, 8):
        assert f(n) == plain(n)
    with pytest.raises(StopIteration):
        f(0)


def test_the_end_is_caught():
    inner = njit(squares)

    @njit
    def f(n):
        g = inner(n)
        total = 0
        while True:
            try:
                total += next(g)
            except StopIteration:
                break
        return total

    assert [f(n) for n in range(6)] == [sum(squares(n)) for n in range(6)]


@njit
def fails(x, at):
    for i in range(x.size + 1):
        if i == at:
            raise ValueError("at last")
        yield x[i]


def test_errors():
    g = fails(np.arange(3.0), 5)
    assert [next(g), next(g), next(g)] == [0, 1, 2]
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 of 'x' with size 3"):
        next(g)
    with pytest.raises(StopIteration):
        next(g)
    g = fails(np.arange(3.0), 1)
    assert next(g) == 0
    with pytest.raises(ValueError, match="at last"):
        list(g)

    @njit
    def caught(x, at):
        total = 0.0
        try:
            for v in fails(x, at):
                total += v
            h = fails(x, at)
            total += next(h) + next(h)
        except ValueError:
            return total + 100
        except IndexError:
            return total + 1000
        return total

    def plain(x, at):
        total, seen = 0.0, list(x[:at])
        total = sum(seen)
        return total + (100 if at <= x.size else 1000)

    for at in range(6):
        assert caught(np.arange(3.0), at) == plain(np.arange(3.0), at)


def test_errors_of_generators_that_are_arguments_name_their_own_line():
    @njit
    def other(g):
        total = 0.0
        for v in g:
            total += v
        if total < -1:
            raise KeyError(total)
        return total

    with pytest.raises(IndexError, match="axis 0 of 'x' with size 3"):
        other(fails(np.arange(3.0), 7))

    @njit
    def guarded(g):
        try:
            return next(g)
        except ValueError:
            return -1.0

    # Not caught: another call has made it.
    with pytest.raises(ValueError, match="at last"):
        guarded(fails(np.arange(3.0), 0))
    assert guarded(fails(np.arange(3.0), 2)) == 0


def test_arguments_live_as_long_as_the_generator():
    x = np.arange(1000.0)
    alive = weakref.ref(x)
    g = njit(rows)(x.reshape(10, 100))
    del x
    gc.collect()
    first = next(g)
    assert alive() is not None and first[5] == 5
    second = next(g)
    del g
    gc.collect()
    assert first[6] == 6 and second[6] == 7


def test_what_is_yielded_is_a_view_of_the_argument():
    x = np.zeros((2, 3))
    for row in njit(rows)(x):
        row += 1
        break
    assert x.tolist() == [[1, 1, 1], [0, 0, 0]]

    @njit
    def write(x):
        g = inner(x)
        next(g)[:] = 5.0
        x[1] = next(g) * 2
        return x.sum()

    inner = njit(rows)
    assert write(x) == 15 + 36


def test_unfinished_generators_let_go_of_what_they_hold():
    compiled = njit(growing)
    text = njit(words)
    for _ in range(300):
        g, h = compiled(5), text(5)
        next(g), next(h)
        del g, h
        compiled(5)

    @njit
    def many(n):
        total = 0.0
        for i in range(n):
            g = compiled(5)
            if i % 2:
                total += next(g)
        return total

    assert many(1000) == 0.0
    g = compiled(5)
    next(g)
    g.close()
    with pytest.raises(StopIteration):
        next(g)
    h = compiled(3)
    h.close()
    assert list(h) == []


@pytest.mark.parametrize("generator, args", ALL, ids=IDS)
def test_no_memory_is_lost(generator, args):
    compiled = njit(generator)
    inner = njit(of_generator) if generator in (squares, nested) else None

    @njit
    def uses(*args):
        total = 0
        for k in range(3):
            g = compiled(*args)
            for _ in g:
                total += 1
                if total > 4 + k:
                    break
            next(compiled(*args), None)
            compiled(*args)
        return total

    def all_of_it():
        uses(*args)
        g, h = compiled(*args), compiled(*args)
        next(g, None), next(g, None)
        kept = [v for v in h]
        if inner is not None:
            list(inner(compiled(*args), 2))
            next(inner(compiled(*args), 2), None)
        del g, h, kept

    def held():
        gc.collect()
        return _core.memory_stats("cpu")["used_bytes"]

    all_of_it()
    all_of_it()
    before = held()
    for _ in range(10):
        all_of_it()
    assert held() == before


def test_errors_lose_no_memory():
    @njit
    def fails_with_lists(n):
        held = [1.0]
        for i in range(n):
            held.append(1.0)
            yield held
            if i == 2:
                raise ValueError("so")

    @njit
    def f(n):
        total = 0.0
        for v in fails_with_lists(n):
            total += v[-1]
        return total

    def once():
        assert f(2) == 2.0
        with pytest.raises(ValueError, match="so"):
            f(5)
        g = fails_with_lists(5)
        with pytest.raises(ValueError, match="so"):
            list(g)

    once()
    gc.collect()
    before = _core.memory_stats("cpu")["used_bytes"]
    for _ in range(10):
        once()
    gc.collect()
    assert _core.memory_stats("cpu")["used_bytes"] == before


def test_interrupted_generators_have_ended():
    script = """
import os, signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job's parent ignores it
from numbus import njit

@njit
def forever(n):
    held = [0]
    k = 0
    while True:
        k += 1
        if n > 0 and k % n == 0:
            held.append(k)
            yield k + len(held)

@njit
def last(g):
    total = 0
    for v in g:
        total += v
    return total

for n, run in ((0, next), (5, last)):
    g = forever(n)
    next(forever(1))
    if os.fork() == 0:
        time.sleep(0.7)
        os.kill(os.getppid(), signal.SIGINT)
        os._exit(0)
    try:
        run(g)
    except KeyboardInterrupt:
        print("interrupted", list(g))
    del g
    print(next(forever(3)))
"""
    out = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=90, check=True
    )
    assert out.stdout.split("\n") == ["interrupted []", "5"] * 2 + [""], out.stdout + out.stderr


def test_generators_of_generators():
    inner, outer = njit(squares), njit(of_generator)

    @njit
    def f(n, k):
        total = 0
        for v in outer(inner(n), k):
            total = total * 3 + v
        return total

    def plain(n, k):
        total = 0
        for v in of_generator(squares(n), k):
            total = total * 3 + v
        return total

    for n in range(8):
        assert f(n, 2) == plain(n, 2)
        assert list(outer(inner(n), 2)) == list(of_generator(squares(n), 2))


def test_iter_and_filter():
    @njit
    def f(x):
        g = iter(x)
        first = next(g)
        rest = [v for v in g]
        return first, rest

    assert f(np.arange(3.0)) == (0.0, [1.0, 2.0])
    assert f((1, 2, 3)) == (1, [2, 3]) and f([4, 5]) == (4, [5])
    assert f("abc") == ("a", ["b", "c"])

    @njit
    def positive(v):
        return v > 0

    @njit
    def g(x):
        a = [v for v in filter(positive, x)]
        b = 0.0
        for v in filter(lambda v: v < 2, x):
            if v < -2:
                continue
            b = 2 * b + v
        h = filter(positive, x)
        return a, b, next(h), list(filter(lambda v: v > 1, x)), {v for v in filter(positive, x)}

    def plain(x):
        b = 0.0
        for v in filter(lambda v: v < 2, x):
            if v < -2:
                continue
            b = 2 * b + v
        p = [float(v) for v in x if v > 0]
        return p, b, p[0], [float(v) for v in x if v > 1], set(p)

    for seed in range(8):
        x = np.random.default_rng(seed).normal(size=9).round(2) * 3
        x[4], x[5] = 1.5, 2.5
        assert g(x) == plain(x)


def test_functions_of_all_that_is_yielded():
    inner = njit(squares)

    @njit
    def f(n):
        return sum(inner(n)), max(inner(n)), min(inner(n)), sorted(inner(n), reverse=True)

    for n in (1, 2, 7):
        want = list(squares(n))
        assert f(n) == (sum(want), max(want), min(want), sorted(want, reverse=True))


def test_in_parallel_loops():
    inner = njit(squares)

    @njit(parallel=True)
    def f(out):
        for i in prange(out.size):
            g = inner(i)
            total = 0
            for v in g:
                total += v
            out[i] = total

    out = np.zeros(200, np.int64)
    f(out)
    assert out.tolist() == [sum(squares(i)) for i in range(200)]


def test_recursion_and_executing_generators():
    @njit
    def f(n):
        if n == 0:
            return 0
        g = inner(n)
        return next(g) + f(n - 1)

    inner = njit(squares)
    assert f(50) == 0


def test_generators_as_methods_of_python():
    compiled = njit(squares)
    assert sum(compiled(6)) == sum(squares(6))
    assert [a + b for a, b in zip(compiled(6), compiled(7))] == [
        a + b for a, b in zip(squares(6), squares(7))
    ]
    assert compiled(n=3) is not None and list(compiled(n=3)) == [0, 1]


def test_what_is_not_known():
    def message(f, *args):
        with pytest.raises((UnsupportedError, TypeError)) as raised:
            njit(f)(*args)
        return str(raised.value)

    inner = njit(squares)

    def tried(n):
        try:
            yield n
        except ValueError:
            pass

    assert "yield in a try statement" in message(tried, 3)

    def local(n):
        def own(k):
            yield k

        return next(own(n))

    assert "a generator of a local function" in message(local, 3)

    def of_dict(n):
        return dict(zip(inner(n), inner(n)))

    assert njit(of_dict)(3) == dict(zip(squares(3), squares(3), strict=True))

    def returning(n):
        yield n
        return n

    assert "a value that a generator returns" in message(returning, 3)

    def of_list(x):
        yield from x

    assert "a list" in message(of_list, [1, 2])

    def shared(n):
        g = inner(n)
        total = 0
        for _ in prange(n):
            total += next(g)
        return total

    with pytest.raises(UnsupportedError, match="a generator that iterations of a parallel loop"):
        njit(parallel=True)(shared)(3)
