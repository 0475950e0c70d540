"""sum(), min(), max(), any() and all() in loops that are compiled."""

import numbus as nb
import numpy as np
import pytest

from tests.loops.run import AFTER
from tests.python.test_loops import check, installed

__all__ = ["installed"]  # which every test here uses, too

EXPRESSIONS = [
    "sum(x[i] * y[i] for i in range(n))",
    "sum(v * w for v, w in zip(x, y))",
    "sum(i * v for i, v in enumerate(x, 1) if v > 2)",
    "sum(k) + sum(x)",
    "sum(v for v in k if v % 3 == j % 3)",
    "max(v * j for v in k)",
    "min(x) - max(y)",
    "max(abs(x[i] - y[i]) for i in range(0, n, 2) if i != j)",
    "min(k[i] for i in range(j + 1))",
    "any(v == j for v in k)",
    "all(k[i] < 40 + j for i in range(n, 0, -1) if i < n)",
    "any(t) + all(t) + sum(t)",
    "sum(1 for v in k if v > j) + sum(v > j for v in k)",
    "sum(a) + sum(a[i] * x[i] for i in range(n))",
    "max(a) + min(v * 0.5 for v in a)",
    "sum(m[j % 5][i] for i in range(5))",
    "int(sum(c)) + int(max(c))",
    "sum(j for j in k) + j",
    "sum(i for i in range(j - 3)) + sum(0.5 for i in range(j - 3))",
    "sum(sum(v for v in k) * w for w in y)",
    "sum(2 ** 62 // (9 - j) + v for v in k)",
    "sum(g(v) for v in x)",
    "max(True if v > j else False for v in k)",
]


@pytest.mark.parametrize("library", [np, nb])
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expressions(expression, library):
    for after in AFTER[::2]:
        made = check(f"""
            i = w = 'a name outside'
            v = [1.0, 2.0]
            def g(u):
                return u * 1.5 if u > 3 else -u
            def f(x, y, k, t, m, a, c, n):
                out = []
                s = 0.0
                for j in range(120):
                    r = {expression}
                    s += r
                    if j % 13 == 0:
                        out.append((r, s, j))
                return out, s
            x, y = [0.25 * q for q in range(30)], [1.5 - q for q in range(30)]
            k, t = [q * q % 41 for q in range(30)], [True] * 29 + [False]
            m, a = [[q * 0.5 + p for q in range(5)] for p in range(5)], np.arange(30.0) / 7
            c = np.arange(30).astype(np.uint8)
            out = []
            for given in (x, y, k, t, m, a, c, 30), (x, y, k, t, m, a * 1e308, c, 29):
                try:
                    out.append(f(*given))
                except Exception as e:
                    lines, tb = [], e.__traceback__
                    while tb:
                        lines.append((tb.tb_lineno, tb.tb_frame.f_code.co_name))
                        tb = tb.tb_next
                    out.append((str(e), lines[1:]))
            """, after, library)  # fmt: skip
    ours = library is nb and ("a)" in expression or "a[" in expression or "c)" in expression)
    odd = any(x in expression for x in ("(j - 3)", "(j + 1)", "max(True", "// (9"))
    assert sum(m.entries for m in made) or ours or odd, [m.why for m in made]


def test_names_that_mean_something_else():
    check("""
        def sum(x):
            return 7
        def f(k):
            s = 0
            for j in range(100):
                s += sum(v for v in k) + max(v for v in k)
            return s
        out = f([1, 2, 3])
        def range(n):
            return [n, n + 1]
        def h(k):
            s = 0
            for j in k:
                s += max(v for v in range(j))
            return s
        out = out, h([3] * 70)
    """)
