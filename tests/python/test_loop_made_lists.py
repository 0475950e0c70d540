"""Lists of numbers that compiled loops make: comprehensions, `[0] * n`, copies."""

import pytest

from tests.loops.checking import check, installed  # noqa: F401 - a fixture

AFTER = (1, 2, 50)

MAKES = [
    "[j * i for j in range(n)]",
    "[j + 0.5 for j in range(2, n, 3) if j % 2]",
    "[x - i for x in p]",
    "[x for x in p if x > i]",
    "[x * y for x, y in zip(p, r)]",
    "[k * y for k, y in enumerate(r)]",
    "[x > 2 for x in p]",
    "[x + a[2] for x in a]",
    "[f(x) for x in p]",
    "[i + i for i in range(n)]",
    "[q[0] if q else -1 for _ in range(3)]",
    "[x + 1 for x in q]",
    "[0] * n",
    "n * [0.5]",
    "[i > 5] * 3",
    "[1 // (i - 30) for x in p]",
    "[x ** 3 for x in big]",
    "p[:]",
    "p[1:n:2]",
    "r[::-1]",
    "t[1:]",
    "a[1:]",
    "list(p)",
    "p.copy()",
    "list(q)",
    "list(t)",
]


@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("first", ["[7]", "[]", "p", "[2.5, 1.5]", "None"])
def test_lists_that_are_made(make, first, after):
    check(f"""
        def f(x):
            return x * 3 - 1
        def work(out):
            p, r, t = [3, 1, 4, 1, 5, 9, 2, 6], [0.5, 1.5, 2.5], (1, 2, 3)
            a, big = np.arange(5) * 0.5, [2, 3, 2_000_000]
            q, s, n = {first}, 0, 0
            for i in range(60):
                n = i % 7
                q = {make}
                s += len(q)
                for x in q:
                    s += x
                    if x == 4:
                        s *= 2
                if q:
                    s += q[-1]
                    q[0] = q[len(q) // 2]
                if i == 44:
                    p[2] = p
                    p[2] = 8
                if s > 2**70:
                    s = 0
            return q, s, n, p
        out = work([])
    """, after)  # fmt: skip


@pytest.mark.parametrize("after", AFTER)
def test_names_of_one_list(after):
    check("""
        def work():
            now = [1] * 12
            first = now
            kept = []
            for i in range(90):
                new = [now[j - 1] ^ now[(j + 1) % 12] for j in range(12)]
                before, now = now, new
                same = now
                same[i % 12] += i
                if i % 30 == 29:
                    kept.append(now)
                    kept.append(same is now)
                    kept.append(before is now)
            return first, before, now, same, kept, now is same, first is before
        out = work()
        assert out[5] and not out[6]
    """, after, entered=True)  # fmt: skip


@pytest.mark.parametrize("after", AFTER)
def test_rows_of_a_triangle_and_what_the_loop_found(after):
    check("""
        row, given = [0, 1, 0], [2, 3]
        other = given
        for n in range(70):
            row = [row[k] + row[k + 1] for k in range(len(row) - 1)]
            other[0] += len(row)
            total = sum(row)
            row = [0] + row + [1, 0] if n % 9 == 3 or len(row) < 2 else row
            if n > 30:
                given = [x for x in other]
                other = given
    """, after)  # fmt: skip


def test_pools_of_which_lists_are_given_back(monkeypatch):
    from numbus.loops import made_lists

    monkeypatch.setattr(made_lists, "ROOM", 64)
    check("""
        a, b, s = [1, 2, 3], [], 0
        for i in range(500):
            b = [x + i for x in a]
            c = [x * 0.5 for x in b if x % 3]
            a = [y & 255 for y in b]
            if i % 11 == 0:
                d = b
            e = [i] * (i % 29)
            s += sum(e) + len(c) + d[0]
    """, 2, entered=True)  # fmt: skip


@pytest.mark.parametrize("after", AFTER)
def test_numbers_of_numpy_in_lists(after):
    check("""
        a, k = np.linspace(0, 1, 7), np.arange(6)
        s = 0.0
        for i in range(70):
            q = [x * 2 for x in a if x > 0.2]
            r = [x + i for x in k]
            o = q
            s += q[i % 3] + r[i % 5] + o[-1]
    """, after, entered=True)  # fmt: skip


@pytest.mark.parametrize("after", AFTER)
def test_leaving_inside_of_a_loop_over_a_list_that_was_made(after):
    check("""
        out, s = [], 0
        for i in range(70):
            q = [x * i for x in range(9)]
            for x in q:
                s += x
                if x == 30:
                    out.append((x, list(q)))
                    q[-1] = 7
            for x, y in zip(q, range(20)):
                if x * y == 24:
                    print(x, y, q)
                    break
            else:
                s -= 1
    """, after, entered=True)  # fmt: skip


@pytest.mark.parametrize("after", AFTER)
def test_attributes_that_hold_lists_that_were_made(after):
    check("""
        class Ob:
            pass
        ob = Ob()
        ob.q, s = [1, 2], 0
        for i in range(60):
            ob.q = [x * i for x in range(5)]
            s += ob.q[i % 5]
        kept = ob.q
    """, after)  # fmt: skip


@pytest.mark.parametrize("after", AFTER)
def test_lists_in_statements_that_are_left(after):
    check("""
        import contextlib
        q, s = [1, 2], 0
        for i in range(90):
            s += q[i % 2]
            if i % 20 == 7:
                with contextlib.nullcontext():
                    p = [x + i for x in q]
                    q = p
                try:
                    r = [0] * i
                finally:
                    r = q[:]
    """, after)  # fmt: skip
