"""Loops over items of lists and arrays, and lists that grow, compiled as they run."""

import subprocess
import sys

import pytest
from numbus.loops import held

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


@pytest.mark.parametrize("after", AFTER)
def test_lists_that_grow(after, monkeypatch):
    """Also beyond the room that code has for more, and where CPython changes them in between."""
    monkeypatch.setattr(held, "ROOM", 7)
    made = check("""
        def f(n, out):
            sq, fl = [1.5], [True]
            c = 0
            for i in range(n):
                if i % 3:
                    out.append(i * i)
                sq.append(sq[-1] * 0.5 + i)
                fl.append(i > 5)
                c += len(out) + fl[i]
                if i == 77:
                    out.append(2 ** 70)
                if i == 80:
                    out.pop(-3)
                    del out[30:]
                    same = sq
            return out, sq, fl, c
        r = f(20, []), f(300, []), f(300, [5])
        x = [1]
        while len(x) < 400:
            x.append((x[-1] * 5 + 1) % 1000)
            if x[-1] == 6:
                x.append(0.5)
                x.pop()
        y = x
        for i in range(200):
            x.append(y[-1] + y[i])
        for v in x:
            x.append(v)
            if len(x) > 1000:
                break
        x[5:] = []
        try:
            for i in range(100):
                x.append(i)
                x.append(10 // (90 - i))
        except ZeroDivisionError as e:
            r += (str(e),)
        """, after, entered=True)  # fmt: skip
    assert sum(m.entries for m in made) > 6


def test_a_list_that_is_empty_at_first_is_waited_for(tmp_path):
    """Each call begins with an empty list, of whose items nothing is known."""
    path = tmp_path / "script.py"
    path.write_text(
        "def f(n):\n    out = []\n    for i in range(n):\n        out.append(i * 3 % 7)\n"
        "    return out\n"
        "for _ in range(60):\n    s = sum(f(400_000))\nprint(s)\n"
    )
    command = [sys.executable, "-m", "numbus", "--report", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.split() == [str(sum(i * 3 % 7 for i in range(400_000)))]
    assert f"{path}:3  compiled" in done.stderr


@pytest.mark.parametrize("after", AFTER)
def test_functions_that_change_what_they_are_given_are_left_to_python(after):
    check("""
        def g(a, i):
            a[i] += 1.0
            return a[i + 90] if i > 20 else a[i]
        def f(a):
            s = 0.0
            for i in range(60):
                s += g(a, i)
            return s
        a, l = np.zeros(100), [0.5] * 100
        for x in a, l:
            try:
                out = f(x)
            except IndexError as e:
                print(e)
        """, after)  # fmt: skip


@pytest.mark.parametrize("after", AFTER)
def test_defaults_names_of_arguments_and_closures(after):
    made = check("""
        K = 3
        def g(x, y=2, *, z=1):
            return x + y
        def h(x, y=2, z=0.5, w=True):
            return x * y + z if w else K * x * 1.0
        def bad(x, y=[1]):
            return x
        def make(k):
            def add(x, c=1):
                return x * k + c
            def outer(x):
                return add(x, c=k) + add(x)
            return add, outer
        def f(n):
            s = 0
            add, outer = make(7)
            k = 2.5
            def own(x):
                return x + k
            def later(x):
                return x + t
            t = 0
            for i in range(n):
                s += h(i) + h(i, z=1.5) + h(x=i, w=i > 5) + h(i, 3, 4.0, False) + add(c=i, x=2)
                s += own(i) + outer(i) + add(i)
            for i in range(n):
                t = t + i
                s += later(i)
            for i in range(n):
                s += bad(i) + bad(y=2, x=i)
            for i in range(n):
                s += g(i, z=4)
            for i in range(n):
                k = i
                s += own(i)
            return s
        r = [f(200)]
        h.__defaults__ = (5, 0.25, 0)
        r.append(f(70))
        for wrong in range(4):
            try:
                for i in range(60):
                    if i == 50:
                        if wrong == 0:
                            h(i, x=1)
                        if wrong == 1:
                            h(i, q=1)
                        if wrong == 2:
                            h()
                        if wrong == 3:
                            h(1, 2, 3, 4, 5)
                    K = K + 1 if i < 3 else K
                    r[0] += h(i, w=False)
            except TypeError as e:
                r.append(str(e))
        """, after, entered=True)  # fmt: skip
    assert made[0].entries > 0, made[0].why


@pytest.mark.parametrize("after", AFTER)
def test_for_loops_with_else(after):
    check("""
        def primes(n):
            count = last = 0
            for i in range(2, n):
                for j in range(2, i):
                    if i % j == 0:
                        break
                else:
                    count += 1
                    if i > 80:
                        print("prime", i)
                    if i > 90:
                        last = 10 ** 30 // (i - 97)
                        break
                    count += 2
            else:
                last = i
            return count, last, j

        def found(items, x):
            for k, y in enumerate(items):
                if y == x:
                    break
            else:
                for k in range(9):
                    x += k
                print("none", x)
                return -1
            return k

        out = []
        for n in (3, 20, 88):
            out.append(primes(n))
        out.append(found(list(range(60)), 55))
        out.append(found(list(range(60)), 77))
        for i in range(60):
            while True:
                for k in range(i):
                    if k * k == i:
                        break
                else:
                    break
                out.append((i, k))
                break
        primes(99)
    """, after)  # fmt: skip


@pytest.mark.parametrize("change", ["", "s = [0.5] * 50", "s[7] = 2", "del s[:45]", "s = tuple(s)"])
def test_one_item_is_assigned_to_a_slice_of_a_list(change):
    check(f"""
        s = [True] * 60
        log = []
        try:
            for i in range(2, 60):
                if i == 20:
                    {change or "pass"}
                if s[i % len(s)]:
                    s[i * i::i] = [False] * ((len(s) - i * i + i - 1) // i)
                s[-3:] = 3 * [False]
                if i % 20 == 9:
                    s[i:i] = [True] * 0
                    s[:4:2] = [False] * i
        except (TypeError, ValueError) as e:
            log.append(str(e))
        r = len(s), s
    """)


@pytest.mark.parametrize("make", ["[{k}, 5]", "np.array([{k}, 5])", "array.array('q', [{k}, 5])"])
def test_more_arrays_than_ten(make):
    lines = [f"a{k} = {make.format(k=k)}" for k in range(14)]
    lines += ["s = 0", "for i in range(100):"]
    for k in range(14):
        lines += [f"    s = s * 3 % 1000007 + a{k}[i % 2]", f"    a{k}[1] += {k}"]
    check("\n".join(["import array", *lines]), 2, entered=True)


@pytest.mark.parametrize("other", ["True", "1", "None", "0.5", "'x'"])
@pytest.mark.parametrize("at", [1, 5000, 8999])
def test_copies_of_bools(other, at, monkeypatch):
    """Those of long lists, which are copied while they are looked at."""
    monkeypatch.setattr(held, "_IN_PLACE", 8)
    made = check(f"""
        def f(p, q, t):
            n = 0
            for i in range(len(p)):
                if p[i] and not q[i]:
                    n += t[i % 3]
                    q[i] = p[i - 1]
                    p[i - 2] = False
            return n, type(p[at])
        at = {at}
        p, q = [True, False, True] * 3000, [False] * 9000
        p[at] = {other}
        out = [f(p, q, (True, True, False)), f(p, p, (True, True, False))]
        """)
    assert other != "True" or any(loop.entries for loop in made)
