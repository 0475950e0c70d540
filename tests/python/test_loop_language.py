"""Statements in loops that compile themselves: heads of several ranges, `else` of while loops."""

import pytest

from tests.loops.checking import check, installed  # noqa: F401 - a fixture

AFTER = (1, 2, 50)


LEAVING = [
    """
                with contextlib.nullcontext():
                    if i < 20:
                        s += 2
                    else:
                        break
    """,
    """
                try:
                    int("x" * (i % 2) or "5")
                except ValueError:
                    if i > 20:
                        break
                    continue
    """,
    """
                match i:
                    case 9 | 12:
                        continue
                    case 25:
                        break
    """,
    """
                for j in range(3):
                    if j == 1:
                        break
                else:
                    s += 50
    """,
]


@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize("body", LEAVING)
def test_else_that_leaves_from_within_other_statements(after, body):
    check(f"""
        import contextlib
        s = 0
        for i in range(30):
            k = 0
            while k < 40:
                k += 1
                s += i
            else:{body.rstrip()}
            s += 1
        assert s > 1000
        """, after)  # fmt: skip


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


METHODS = """
    class P:
        k = 3
        def __init__(self):
            self.a, self.n, self.l, self.b = 2.5, 4, [1.0, 2.0, 3.0], True
        def f(self, x, y=2):
            if self.b:
                x += self.a * y
            return x + self.l[int(x) % 3] * self.k
        def g(self, x):
            return self.f(x, self.n) - self.a
        def run(self, n):
            s = 0.0
            for i in range(n):
                s += self.g(i) / 7
            return s
    p = P()
    out = [p.run(90)]
"""


@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize("change", [
    "p.a = 7", "p.n = 2**70", "p.n = 3.5", "del p.b", "p.l = [1, 2, 3]", "p.l = None", "P.k = 4",
    "P.k = property(lambda self: 6)", "p.k = 5", "P.f = lambda self, x, y: x",
    "p.f = lambda x, y: y",
    "P.__getattribute__ = lambda self, n: 2 if n == 'a' else object.__getattribute__(self, n)",
    "p.l.append(2.5)", "P.g = P.f",
])  # fmt: skip
def test_methods_and_what_they_read(after, change):
    made = check(METHODS + f"""
    {change}
    out.append(p.run(80))
    """, after, entered=True)  # fmt: skip
    assert made


def test_methods_that_are_not_compiled():
    made = check("""
        class P:
            n = 2
            def count(self, x):
                self.n += 1
                return x * self.n
            def own(self, x):
                return self
            def again(self, x):
                return 1 if x < 2 else x * self.again(x - 1) % 1009
            @staticmethod
            def plain(x):
                return x + 1
            @property
            def late(self):
                return lambda x: x
        p, s = P(), 0
        for i in range(60):
            s += p.count(i)
        for i in range(60):
            s += p.own(i) is p
        for i in range(60):
            s += p.again(i % 20)
        for i in range(60):
            s += p.plain(i) + p.late(i) + P.count(p, i)
        """, entered=False)  # fmt: skip
    assert all(loop.why for loop in made)


def test_methods_whose_object_changes_in_the_loop():
    check("""
        class P:
            def __init__(self):
                self.n = 3
            def f(self, x):
                return x * self.n
        p = q = P()
        s = 0
        for i in range(100):
            s += p.f(i)
            q.n += 1
        for i in range(100):
            s += p.f(i)
            if i == 50:
                p = P()
            if i == 70:
                P.f = lambda self, x: -x
        """)  # fmt: skip


@pytest.mark.parametrize("after", AFTER)
def test_slices_of_lists_that_are_copied(after):
    check("""
        def f(n):
            p, q = list(range(n)), [0.5 * k for k in range(n)]
            m = [[1.5, 2.5, k * 1.0] for k in range(5)]
            b, h, s = [k % 3 == 0 for k in range(n)], [0] * n, 0
            for i in range(1, 3 * n):
                k = i % n
                if k:
                    p[:k] = p[k - 1::-1]
                q[k:k + 4] = q[k + 3:k - 1:-1]
                m[i % 5][:] = m[(i + 1) % 5][::-1]
                q[:3] = m[i % 5]
                q[2:6] = q[3:7]
                b[::2] = b[1::2]
                h[:] = p
                row = m[i % 5]
                row[1:] = m[0][:2]
                s += p[0] * i
                if i == 2 * n:
                    p[2:4] = [1]
            return s, p, q, m, b, h
        out = [f(20), f(8)]
        f(7)
        """, after, entered=True)  # fmt: skip


def test_slices_of_lists_of_other_types_and_lengths():
    check("""
        out = []
        def f(a, b):
            s = 0
            for i in range(60):
                a[:3] = b[:3]
                s += i
            out.append((s, a, b))
        l = [1, 2, 3, 4, 5]
        for a, b in [(l[:], l), (l[:], [0.5] * 5), (l[:], tuple(l)), (l[:], bytearray(5)), (l, l),
                     ([True] * 5, l), ([True, False] * 3, [False] * 4), (l[:], l[:2]), (l[:2], l)]:
            f(a, b)
        f(tuple(l), l)
        """)  # fmt: skip


@pytest.mark.parametrize("start", ["n - 1", "n", "-1", "-n - 1", "5", "2**62", "True"])
@pytest.mark.parametrize("by", ["-= 1", "+= 2"])
def test_while_loops_whose_indices_grow_or_fall(start, by):
    check(f"""
        out = []
        def f(a, b, n):
            for k in range(30):
                j = {start}
                while -n - 5 < j < n + k and a[j] > -7.0:
                    b[j - 1], b[j] = a[j] + k, b[j - 2]
                    j {by}
                else:
                    out.append(j)
                a, b = b, a
            return j
        for of in (np.array, list):
            out.append(f(of([0.5 * k for k in range(40)]), of([1.5] * 40), 39))
        f(np.ones(40), np.ones(39), 40)
        """)  # fmt: skip


def test_insertion_sort():
    check("""
        def sort(a):
            for i in range(1, len(a)):
                key = a[i]
                j = i - 1
                while j >= 0 and a[j] > key:
                    a[j + 1] = a[j]
                    j -= 1
                a[j + 1] = key
            return a
        out = [sort([k * 7919 % 101 for k in range(90)]), sort(np.arange(90.0) * 7919 % 101)]
        """, entered=True)  # fmt: skip
