"""Innermost loops that go by strips: with vectors, and put back where a check fails."""

import textwrap

import numbus as nb
import numpy as np
import pytest
from numbus.loops import strips

from tests.python.test_loops import check, installed

__all__ = ["installed"]  # which every test here uses, too


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Strips of few iterations; notes whether each loop with none inside goes by strips."""
    monkeypatch.setattr(strips, "LENGTH", 8)
    monkeypatch.setattr(strips, "_LONGEST", 16)
    whole, made = strips.Strips.by_strips, []

    def noted(self, n, env, step, first):
        before = len(self.lines)
        whole(self, n, env, step, first)
        made.append(len(self.lines) != before)

    monkeypatch.setattr(strips.Strips, "by_strips", noted)
    return made


BODIES = [
    ("c[i] = 2.5 * a[i] + b[i]", True),
    ("c[i] += a[i] / b[i]", True),
    ("c[i] = a[i] * a[i] * 1e160", True),
    ("m[2, i] -= m[1, 1] * a[i]", True),
    ("m[i, 3] = m[i, 4] + a[i]", True),
    ("m[i // 5, 3] = a[i]", False),
    ("m[1][2] += a[i] * b[i]", True),
    ("c[i] = a[i]\n        if a[i] < 0.5:\n            c[i] = -c[i]\n        x = c[i]", True),
    ("c[i] = np.sqrt(a[i] - 30.0 / 7)", True),
    ("c[i] = math.sqrt(a[i]) + x\n        x = c[i] + 1e300", True),
    ("l[i] = l[i] * 1e8", True),
    ("l[39 - i] = 0.5", True),
    ("k[2 * i - 40] = i", True),
    ("t[i] = False", True),
    ("t[i] = a[i] > 3", False),
    ("c[i] = c[i - 1] + a[i]", True),
    ("m[2, i] = m[2, i - 1] * a[i] + m[2, i + 1]", True),
    ("c[i] += c[i - 1] * 1e80 + c[i - 2]", True),
    ("c[i + 2] = 0.5 * c[i + 1] + a[i]\n        x = c[i + 1]", True),
    ("m[2, i] = m[2, i - 1] * a[i] + m[1, i + 1] - m[1, i]", True),
    ("m[2, i] = m[2, i - 1] * 0.5 + m[-38, i - 2] - m[-38, i]", True),
    ("m[1, 2] -= a[i] * 1e307", True),
    ("if a[i] > 3:\n            m[1][2] += a[i] * a[i] * 1e307\n        x = m[1, 2]", True),
    ("m[1, 2] += a[i] / (a[i] - 3)", True),
    ("c[i] = c[i + 1] + a[i]", False),
    ("c[i] = c[i - 2] + a[i]", False),
    ("if a[i] < 3:\n            c[i] = c[i - 1] + a[i]", True),
    ("u[i] = u[i - 1] ^ u[i]", True),
    ("t[i] = not t[i - 1]", True),
    ("c[i + 1] = b[i]", True),
    ("n += i * 2**58", False),
    ("c[i] = a[i] / (a[i] - 3)", True),
    ("u[i] = 255 - u[i]\n        u[i] = 3", True),
    ("c[i], b[i] = b[i], a[i] / (3.0 - a[i])", True),
    ("c[i] = x = v = a[i] * 1.5", True),
]


@pytest.mark.parametrize("library", [np, nb])
@pytest.mark.parametrize("body", BODIES, ids=[b[0][:24] for b in BODIES])
def test_bodies(body, library, short):
    text, by_strips = body
    check(f"""
        import math
        def f(a, b, c, m, l, k, t, u, low, high):
            x = n = 0.5
            for i in range(low, high):
                {textwrap.indent(text, '        ').strip()}
            return x, n, i
        out = []
        def run(low, high):
            a, b, c = np.arange(40.0) / 7, np.ones(40), np.zeros(40)
            m, u = np.ones((40, 40)), np.arange(40).astype(np.uint8)
            l, k, t = [0.25 * v for v in range(40)], list(range(40)), [True] * 40
            l[33] = 1e301
            try:
                r = f(a, b, c, m, l, k, t, u, low, high)
            except Exception as e:
                r = str(e), e.__traceback__.tb_next.tb_lineno
            out.append((r, a, b, c, m, l, k, t, u))
        run(1, 38)
        run(0, 40)
        run(-3, 30)
        run(20, 44)
        run(38, 40)
    """, library=library)  # fmt: skip
    assert any(short) is by_strips or (library is nb and "np." in text)


def test_arrays_that_share_memory():
    check("""
        def f(a, b):
            for i in range(35):
                a[i] = 0.5 * b[i] + a[i]
            return a
        w = np.arange(90.0)
        out = []
        for k in range(6):
            out.append(f(w[k:], w[5 - k:]).copy())
            out.append(f(w[::-1], w[k:]).copy())
            out.append(f(w, w).copy())
    """, entered=True)  # fmt: skip


def test_steps_and_items():
    check("""
        def f(a, n, s):
            for i in range(0, n, s):
                a[i] = a[i] + i / 2
            for i in range(n - 1, 2, -1):
                a[i] = 2.0 * a[i]
            for i in reversed(range(3, n, 2)):
                a[i] *= 1.5
            for i, x in enumerate(a, 1):
                if i < n:
                    a[i] = x * 0.5
            return a
        out = [f(np.arange(50.0), 50, s).copy() for s in (1, 2, 3, 7, 49)]
    """, entered=True)  # fmt: skip


def test_what_is_stored_before_a_warning_is_put_back():
    made = check("""
        def f(a, b, n):
            x = 1.0
            for i in range(n):
                a[i] = a[i] * b[i]
                x = x + b[i]
                b[i] = x / (a[i] - 7.0)
            return a, b, x
        a, b = np.arange(60.0), np.ones(60)
        b[41] = 1e308
        a[41] = 1e10
        out = f(a, b, 60)
        a, b = np.arange(60.0) + 0.5, np.ones(60)
        a[50] = 7.0
        more = f(a, b, 60)
    """, entered=True)  # fmt: skip
    assert sum(m.exits for m in made)


HANDED = [
    "t = a[i - 1] * 0.5 + 1.0\na[i] = t\nt = t * 2",
    "a[i] = t\nt = a[i - 1] * 0.5 + b[i]",
    "a[i] = t\nt = a[i - 1] + t * 0.25",
    "s.t = s.l[i - 1] * 0.5 + 1.0\ns.l[i] = s.t\ns.t *= 0.5",
    "t, a[i] = 3.5, t + a[i - 1]\nt += 1",
    "a[i] = t = a[i - 1] * 0.5\nt += 1.0",
    "a[i] = a[i - 1] * 0.5\na[i] += 1.0",
    "a[i] = t\na[i] = a[i - 1] * 0.5 + a[i]",
    "a[i] = t\nt = a[i] + a[i - 1]\na[i] = t - 3.0",
    "if b[i] > 3:\n    a[i] = 7.0\na[i] = a[i - 1] * 0.5 + a[i]",
    "a[i] = a[i - 1] * 0.5\nif b[i] > 3:\n    a[i] = 1.5",
    "if b[i] > 3:\n    a[i] = a[i - 1] * 0.5 + 1.0",
    "if b[i] > 3:\n    a[i] = a[i - 1]\nelse:\n    a[i] = -0.0",
    "a[i] = -0.0 * a[i - 1]",
    "d[i] = d[i - 1] * 0.7 + b[i]",
    "n[i] = a[i - 1] * 0.5 + n[i - 1]",
    "n[i] = i + 2**53 + 1\na[i] = n[i - 1]",
    "n[i] = i * 3 + 2**53\nt = n[i - 1] - 2**53",
    "o[i] = not o[i - 1]",
    "o[i] = o[i - 1] if b[i] > 3 else not o[i - 1]",
    "u[i] = u[i - 1] ^ 200",
    "u[i] = u[i - 1] + 1",
    "a[i] = a[i - 1] * 0.5 + w[i - 1]",
    "w[i] = a[i - 1] * 0.5 + w[i - 1]",
    "w[i] = w[i - 1] * 0.5 + 1.0\na[i] = w[i - 1] - a[i - 1]",
]


@pytest.mark.parametrize("body", HANDED, ids=[b.split("\n")[0][:24] for b in HANDED])
def test_the_element_before_is_what_memory_holds(body):
    check(f"""
        import array
        class S: pass
        def f(a, n, b, d, u, o, w, s, low):
            t = 0.5
            for i in range(low, 39):
                {textwrap.indent(body, ' ' * 16).strip()}
            return t, i
        out = []
        def run(a, w, low, zero):
            b = [0.3 * (k % 23) for k in range(40)]
            d, u, o = array.array("f", b), np.arange(40).astype(np.uint8), [True] * 40
            s, n = S(), zero * 1
            s.l, s.t = [1.5] * 40, 0.25
            try:
                r = f(a, n, b, d, u, o, w, s, low)
            except Exception as e:
                r = repr(e)
            out.append((r, a, n, b, d, u, o, w, s.l, s.t))
        for low in (1, 0, 2):
            a, l = np.arange(42.0) / 7, [0.25 * k for k in range(40)]
            run(a[1:41], a[:40], low, np.arange(40))
            run(a[:40], a[1:41], low, np.arange(40))
            run(a[:40], a[:40], low, np.arange(40))
            run(l, l[:], low, [0.5] * 40)
    """)  # fmt: skip


@pytest.mark.parametrize("pair", ["np.zeros(n), np.zeros(n)", "both[:n], both[1:]",
                                  "both[1:], both[:n]", "low * 0, low"])  # fmt: skip
@pytest.mark.parametrize("head", ["range(1, n)", "range(n - 2, 0, -1)", "range(3, n, 2)"])
def test_elements_of_two_arrays_that_depend_on_the_ones_before(pair, head):
    before = {"1": "i - 1", "n - 2": "i + 1", "3": "i - 2"}[head[6:].partition(",")[0]]
    made = check(f"""
        def f(n, low, both):
            c, d = {pair}
            for i in {head}:
                pivot = 2.5 - low[i] * c[{before}]
                c[i] = low[i] / pivot
                d[i] = (low[i] - low[i] * d[{before}]) / pivot
            return list(c), list(d), pivot
        out = [f(90, np.arange(90) * 0.01, np.ones(91)), f(90, np.arange(90) * 0.5, np.ones(91))]
        out.append(f(90, np.full(90, 2.5), np.ones(91)))
        """, entered=True)  # fmt: skip
    assert made


@pytest.mark.parametrize("count", [5, 40])
def test_an_else_after_strips(count):
    """Whether `break` ended the loop is known, whichever form of it was taken."""
    body = f"""
    a, n, m = np.arange(40.0), 0, 0
    for j in range(60):
        for i in range({count}):
            a[i] = a[i] * 0.5 + j
        else:
            n += 1
        i = 0
        while i < {count} - j % 7:
            a[i] += 1.0
            i += 1
        else:
            m += i
    print(n, m, a.sum())
    """
    check(textwrap.dedent(body))
