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
    "[]",
    "[i, n, 3]",
    "[i, 0.5]",
    "[0] + p",
    "r + [1.5]",
    "[n] + q[:5] + [i]",
    "p[1:] + [] + p[::-1]",
    "[0] + r",
    "[1] + t",
    "[1] + n",
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


@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize("item", ["j", "j * 0.5 + i", "j > 2", "a[j % 5]", "k[j % 5]"])
def test_lists_that_grow_and_shrink(item, after):
    check(f"""
        def work():
            a, k = np.arange(5) * 0.5, np.arange(5)
            s, kept = 0, []
            for i in range(90):
                q = []
                p = q
                r = [7] * 3
                for j in range(i % 23):
                    q.append({item})
                    if j % 3 == 2:
                        x = p.pop()
                        s += x
                s += len(p)
                if len(q) > 4:
                    p = [1]
                    p.append(i)
                    q.pop()
                if i == 57:
                    kept.append(q)
                    kept.append(q)
                    q.append({item})
            return s, kept, p, q, r, p is q, kept[0] is q
        out = work()
    """, after, entered=True)  # fmt: skip


@pytest.mark.parametrize("after", AFTER)
def test_lists_from_before_that_grow(after):
    check("""
        q = [1, 2, 3]
        kept, s = [q], 0
        for i in range(300):
            if len(q) > 40:
                q = []
                kept.append(q)
            q.append(i)
            if i % 7 == 3:
                s += q.pop()
        assert kept[-1] is q
    """, after, entered=True)  # fmt: skip


@pytest.mark.parametrize("after", AFTER)
def test_lists_that_grow_while_a_loop_goes_over_them(after):
    check("""
        s = 0
        for i in range(90):
            q = [1, 2, i]
            p = q
            for x in q:
                s += x
                if len(p) < 5:
                    p.append(x)
    """, after)  # fmt: skip


@pytest.mark.parametrize("after", AFTER)
def test_pops_from_empty_lists_and_indices_of_these(after):
    check("""
        s, failed = 0, 0
        for i in range(90):
            q = []
            if i % 40 == 39:
                try:
                    q.pop()
                except IndexError:
                    failed += 1
            q.append(i)
            x = q.pop()
            s += x
            for y in q:
                s += y
        try:
            for i in range(90):
                q = []
                if i < 70:
                    q.append(0.5)
                s += q[0]
        except IndexError as error:
            print(error)
    """, after)  # fmt: skip
