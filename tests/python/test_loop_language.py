"""Statements in loops that compile themselves: heads of several ranges, `else` of while loops."""

import pytest

from tests.loops.checking import check, installed  # noqa: F401 - a fixture

AFTER = (1, 2, 50)


@pytest.mark.parametrize("after", AFTER)
def test_zip_and_enumerate_of_ranges(after):
    check("""
        def f(l, n):
            s = 0
            for x, i in zip(l, range(3, n)):
                s += x * i
                if x == 77:
                    s = s * 2**70
            for i, k in enumerate(range(100, -5, -2), 3):
                s += i * k
            for a in range(3):
                for x, i, j in zip(l, range(n, 0, -a - 1), range(a, 50)):
                    s += x * i - j
                    if x == 33:
                        print(x, i, j)
                    if x == 40:
                        l.append(a)
            return s, sum(x * i for x, i in zip(l, range(2, 90, 3)))
        out = [f(list(range(90)), n) for n in (80, 60, 0)]
        """, after, entered=True)  # fmt: skip


def test_a_list_that_grows_beside_a_longer_range():
    check("""
        l = list(range(60))
        s = 0
        for x, i in zip(l, range(10, 1000, 2)):
            s += x * i
            if x % 20 == 9:
                l.extend([x])
        """, entered=True)  # fmt: skip


def test_ranges_without_end_and_with_a_step_of_zero():
    check("""
        def f(n, k, m):
            s = 0
            for i in range(30):
                for j, x in zip(range(i, n), range(0, m, k)):
                    s += j * x
            return s
        out = [f(9, 3, 2**40), f(9, 3, 2**62), f(9, 3, 2**70), f(9, 2**40, 2**62)]
        f(9, 0, 5)
        """, entered=True)  # fmt: skip


def test_ranges_in_heads_are_those_of_the_program():
    check("""
        def range(*given):
            return [5.5] * 40
        s = 0
        for i, x in zip(range(3), range(5)):
            s += i + x
        """)  # fmt: skip


@pytest.mark.parametrize("after", AFTER)
def test_else_of_while_loops(after):
    made = check("""
        def f(n):
            s = i = 0
            while i < n:
                i += 1
                j = 0
                while j < i:
                    j += 1
                    if j * i == 99:
                        break
                    if j == 13:
                        s = s * 1.5
                else:
                    s += 1
                    if i == 12:
                        print("else", s)
                    if i == 29:
                        continue
                    if i == 70:
                        break
                s += 3
            else:
                s -= 5
                if n == 60:
                    raise ValueError(s)
            return s
        out = [f(80), f(55)]
        f(60)
        """, after, entered=True)  # fmt: skip
    assert not made[0].why


def test_else_that_leaves_the_loop_around():
    check("""
        s = 0
        for i in range(50):
            k = 0
            while k < 60:
                k += 1
                if k * i == 400:
                    break
            else:
                if i == 40:
                    break
                continue
            s += k
        """, entered=True)  # fmt: skip
