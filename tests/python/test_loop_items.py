"""Loops over items of lists and arrays, and lists that grow, compiled as they run."""

import pytest

from tests.loops.run import AFTER
from tests.python.test_loops import check, installed

__all__ = ["installed"]  # which every test here uses, too


@pytest.mark.parametrize("after", AFTER)
def test_loops_over_lists_and_arrays(after):
    made = check("""
        def f(x, y, a):
            s = 0.0
            for v in x:
                s += v
            for v in a:
                s += v
            for i, v in enumerate(x):
                s += i * v
                if i == 60:
                    print(i, v)
            for v, w in zip(x, y):
                s += v * w
                if v == 80.0:
                    print(v, w)
            for v, w, z in zip(x, y, a):
                s += v * w - z
            for i, v in enumerate(a, 3):
                for w in y:
                    s += v * w
                    if s > 1e6:
                        print(i, v, w)
                        s -= 2e6
                    for j, u in enumerate(x, -1):
                        s += j * u
            return s, v, w, i, z
        out = [f([0.5 * k for k in range(200)], list(range(190)), np.arange(70) / 7)]
        try:
            for k, v in enumerate([1, 2, 3] * 30):
                if k == 77:
                    raise ValueError(v)
        except ValueError as e:
            out.append(str(e))
        """, after, entered=True)  # fmt: skip
    assert sum(m.entries for m in made) > 6


@pytest.mark.parametrize("after", AFTER)
def test_iterators_of_the_program_are_left_alone(after):
    """What others hold, what grows meanwhile, and names that mean another list by then."""
    check("""
        l = [True, False] * 50
        n = 0
        for b in l:
            if b:
                n += 1
            if n == 40:
                l.append(True)
                n += 1
        e = enumerate(l)
        for i, b in e:
            n += i
            if i > 60:
                break
        out = [next(e)]
        z = zip(l, l)
        for i, b in z:
            n += 1
            if n > 2000:
                break
        out.append(list(z))
        x = iter(range(300))
        for a, b in zip(x, x):
            n += a * b
        y = iter(list(range(300)))
        for a, b in zip(y, y):
            n += a * b
        del e, z, x, y
        ints = list(range(200))
        for k, v in enumerate(ints):
            n += k - v
            if k == 77:
                ints = ints[::-1]
        for v in ints:
            n += v
            if v == 100:
                del ints[120:]
        for v in ints:
            if v == 150:
                ints.insert(0, 5)
            n = (n * 3 + v) % 1000003
            if n % 1000 == 7:
                ints.pop()
        def zip(a, b):
            return enumerate(a)
        for a, b in zip(ints, ints):
            n += a - b
        """, after)  # fmt: skip
