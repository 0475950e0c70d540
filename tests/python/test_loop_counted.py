"""Innermost `while` loops of which it is known how many iterations they have at most."""

import pytest
from numbus.loops import bounded

from tests.python.test_loops import check, installed

__all__ = ["installed"]  # which every test here uses, too


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Few iterations between two looks for Ctrl-C; notes whether each loop is counted."""
    monkeypatch.setattr(bounded, "_LONGEST", 8)
    monkeypatch.setattr(bounded, "_FEW", 4)
    whole, made = bounded.Bounded._counted, []

    def noted(self, n, head, first):
        made.append(whole(self, n, head, first))
        return made[-1]

    monkeypatch.setattr(bounded.Bounded, "_counted", noted)
    return made


TESTS = [
    ("j >= 0", "-= 1", True),
    ("3 < j and a[j] < k", "-= 3", True),
    ("j > low and a[j] != 7 and b[j] < 50.0", "-= 2", True),
    ("j >= n - 60 and a[j - 1] < 30", "-= 1", True),
    ("j < n", "+= 1", True),
    ("n - 1 >= j and a[j] != 11", "+= 1", True),
    ("j <= n + k and a[j] != 12", "+= 5", True),
    ("j < len(a) and a[j] != 50", "+= 1", True),
    ("j < len(a) - 1 and a[j + 1] != 50", "+= 1", True),
    ("j <= 4611686018427387904 - k and a[j] != 20", "+= 1", True),
    ("j < n / 2", "+= 1", False),
    ("j < a[3] + 20", "+= 1", False),
    ("j < n or a[j] < 3", "+= 1", False),
    ("j >= 0", "+= 1", False),
    ("0 <= j < n", "+= 1", False),
    ("j != n", "+= 1", False),
]
BODIES = [
    "s += a[j]\n            j STEP",
    "b[j] = a[j] + k\n            j STEP\n            b[j] = s = a[j]",
    "j STEP\n            if a[j] == 20:\n                break\n            b[j - 1] += 2",
    "if a[j] == 20:\n                break\n            b[j] += 1\n            j STEP",
    "s += 100 // (a[j] - 30)\n            b[j] = s\n            j STEP",
    "if a[j] == 20:\n                s += 1\n                out.append(s)\n            j STEP",
    "s = s * 3 + a[j]\n            b[j + 1] = j\n            j STEP",
]


@pytest.mark.parametrize("case", range(len(TESTS)), ids=[t[0] for t in TESTS])
def test_counted(case, short):
    (test, by, counted), body = TESTS[case], BODIES[case % len(BODIES)]
    check(f"""
        out = []
        def f(a, b, n, low, j):
            s = 0
            for k in range(6):
                j += k
                while {test}:
                    {body.replace('STEP', by).replace(chr(10), chr(10) + '        ')}
                else:
                    s += 5
                j %= 40
            return s, j
        for of in (np.array, list):
            for first in (0, 5, 38):
                a, b = of(list(range(60))), of([1] * 60)
                try:
                    out.append(f(a, b, 39, 1, first))
                except (IndexError, ZeroDivisionError) as e:
                    out.append((str(e), e.__traceback__.tb_next.tb_lineno))
                out.append(list(b))
        """, entered=None)  # fmt: skip
    if "append" not in body:
        assert short and all(counted is found for found in short)


@pytest.mark.parametrize("n", ["39.0", "True", "2**70", "np.int64(39)"])
def test_types_of_bounds(n):
    check(f"""
        def f(a, n):
            s, j = 0, 0
            for k in range(5):
                j = k
                while j < n and j < 70:
                    s += a[j]
                    j += 1
            return s, j
        out = [f(list(range(80)), {n}), f(np.arange(80), {n})]
        """)


def test_numbers_near_the_largest():
    check("""
        def f(a, j, n):
            s = 0
            for k in range(4):
                while j < n and s < 100:
                    s += a[k]
                    j += 3
            return s, j
        out = [f([1] * 9, j, n) for j in (2**63 - 7, 2**61 - 3, -(2**63), 2**63 - 40)
               for n in (2**63 - 1, 2**61, 2**63 - 2)]
        """)  # fmt: skip


def test_insertion_sort(short):
    check("""
        def f(a):
            for i in range(1, len(a)):
                key = a[i]
                j = i - 1
                while j >= 0 and a[j] > key:
                    a[j + 1] = a[j]
                    j -= 1
                a[j + 1] = key
            return a
        out = f(np.arange(90.0) * 7919 % 101)
        """, entered=True)  # fmt: skip
    assert short == [True] * len(short) and short
