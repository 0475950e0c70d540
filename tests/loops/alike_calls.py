"""Random calls of functions with loops, most of them like the ones before: what a loop finds out at
an entry is used at entries like it (python/numbus/loops/again.py), and the calls that only look
alike are what may go wrong.

    python tests/loops/alike_calls.py SEED CALLS    prints what each call gave

Run by tests/loops/alike.py with CPython and with `python -m numbus`.
"""

import array
import hashlib
import math
import random
import sys

import numpy as np

R = random.Random(int(sys.argv[1]))
root = math.sqrt
scale = 2.0
KEPT = np.arange(6000.0), np.arange(6000.0)
PLANE = np.arange(2000.0).reshape(50, 40)
FACTORS = [1.5] * 9 + [
    2, True, math.inf, 1 << 62, True, np.float64(0.5), np.float32(1.5), np.int64(3), np.uint8(5),
    0.5j, np.bool_(True), math.nan,
]  # fmt: skip


def weighted(a, b, n, x):
    s = 0
    for i in range(n):
        s += a[i] * x
        if s > 1e6:
            s -= b[i] + scale
    return s, i


def recurrence(a, n):
    k = 0
    while k < n:
        a[k] = a[k - 1] * 0.5 + root(k)
        k += 1
    return k


def rows_and_columns(m, n):
    t = 0
    for i in range(n):
        for j in range(30):
            t += m[i % 40][j] if i & 1 else m[j][i % 40]
    return t


def two_arrays(a, b, n):
    for i in range(1, n):
        a[i] = b[i - 1] + 1
        b[i] = a[i]


def roots(a, n, x):
    s = x
    for i in range(n):
        s = s * 0.5 + math.sqrt(abs(a[i])) + np.sqrt(abs(a[i]))
    return s


def sweeps(u, n):
    for t in range(5):  # noqa: B007 - what is left of it is a result
        for i in range(1, n):
            for j in range(1, 30):
                u[i, j] = 0.5 * (u[i - 1, j] + u[i, j - 1])
    return t, i, j


def line(n):
    kind = R.choice(["f", "f", "f", "i", "list", "floats", "view", "array", "f32", "nan"])
    if kind == "list":
        return list(range(n))
    if kind == "floats":
        return [0.25 * k for k in range(n)]
    if kind == "array":
        return array.array("d", range(n))
    if kind == "view":
        return np.arange(2.0 * n)[::2]
    a = np.arange(n).astype({"i": "i8", "f32": "f4"}.get(kind, "f8"))
    if kind == "nan":
        a[n // 2] = math.nan
    return a


def call(what, a, b, n):
    x = R.choice(FACTORS)
    if what == "weighted":
        return weighted(a, b, n if R.random() < 0.95 else n + 5000, x)
    if what == "recurrence":
        return recurrence(a, n)
    if what == "two_arrays":
        return two_arrays(a, b if R.random() < 0.9 else a, n)
    if what == "rows_and_columns":
        m = np.arange(1600.0 if R.random() < 0.8 else 1600)
        return rows_and_columns(m.reshape(40, 40), 200)
    if what == "roots":
        return roots(a, n, x)
    others = [PLANE.T, PLANE[::-1], np.ones((50, 30)), np.ones((50, 30), int)]
    return sweeps(PLANE if R.random() < 0.8 else R.choice(others), R.choice([50, 40, 45]))


def elements(a):
    return [float(v) for v in list(a)[:50] + list(a)[-50:]]


for turn in range(int(sys.argv[2])):
    if R.random() < 0.02:
        scale = R.choice([2.0, 3, 2.5, np.float64(1.5)])
    if R.random() < 0.02:
        root = R.choice([math.sqrt, math.sin, lambda x: x + 0.5])
    n = R.choice([3000, 5000, 6000])
    a, b = KEPT if R.random() < 0.8 else (line(n), line(n))
    functions = weighted, recurrence, two_arrays, rows_and_columns, roots, sweeps
    what = R.choice(functions).__name__
    try:
        found = call(what, a, b, n)
    except (IndexError, TypeError, OverflowError, ValueError) as error:
        found = type(error).__name__
    kinds = [type(v).__name__ for v in (found if type(found) is tuple else (found,))]
    left = hashlib.md5(repr(elements(a) + elements(b)).encode()).hexdigest()
    print(turn, what, found, kinds, left)
