"""NaN in lists that compiled loops read, change and make: CPython asks first whether it is the same
object, in `x in l`, `l == m`, `l.index(x)` and `l.count(x)`.
"""

import pytest

from tests.loops.checking import check, installed  # noqa: F401 - a fixture

BODIES = [
    "out = [x for x in l if not x < 0.4]",
    "out = l[:]",
    "out = [l[0]] + l + [l[1]]",
    "out.append(l[k % n])",
    "out.append(nan if k % 3 else 1.0)",
    "out.append(math.nan)",
    "l[k % n], l[-1] = l[-1], l[k % n]",
    "l[k % n] = two",
    "rows[k % 2][k % n] = rows[0][0]",
    "b = min(b, l[k % n])",
    "b = max(l[k % n], b)",
    "b, s = min(l), sum(l)",
    "b = pair[k % 2]",
    "b = nan",
    "b = math.nan if k > 20 else b",
]


@pytest.mark.parametrize("after", [1, 7])
@pytest.mark.parametrize("body", BODIES)
def test_nan_stays_the_object_that_it_is(body, after):
    check(f"""
        import math
        nan, two = float("nan"), float("nan")
        def work(out, b):
            n, s = 40, 0.0
            l = [nan if k % 7 == 0 else two if k % 11 == 3 else k / 9 for k in range(n)]
            rows, pair = [l[:], l[::-1]], (nan, two)
            kept = l[:]
            for k in range(60):
                {body}
            for x in l:
                s += x
            for seen in (out, l, *rows, [b, s, x]):
                print(len(seen), [y is nan for y in seen], [y is two for y in seen])
                print(nan in seen, two in seen, math.nan in seen, seen.count(nan), seen == kept)
            print(b is nan, b is two, b is math.nan, x in l)
        work([], 0.5)
        work([0.5], nan)
        work([nan], two)
    """, after)  # fmt: skip


def test_loops_over_arrays_with_nan_are_compiled():
    check("""
        import numpy as np
        def work(a, bad):
            last = bad
            for k in range(a.size):
                if a[k] != a[k]:
                    a[k] = bad
                elif a[k] > 5:
                    last = bad
            print(a, last is bad, last is np.nan)
        work(np.array([1.0, np.nan, 7.0] * 20), np.nan)
        work(np.array([1.0, np.nan, 3.0] * 20), float("nan"))
    """, 5, entered=True)  # fmt: skip
