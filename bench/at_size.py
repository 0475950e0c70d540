"""Calls of 10³ to 10⁶ elements on one thread that have been slower than NumPy's: both side by side.

    OPENBLAS_NUM_THREADS=1 NUMBUS_NUM_THREADS=1 python bench/at_size.py [--only WORD] [--rounds N]

Operands are at rest, results are compared, work that is pending is carried out after each call;
least times of alternating blocks. Prints NumPy's and our time in microseconds, and our speed.
"""

import argparse
import math

import numbus
import numpy
from numbus import _core
from small_calls import Side, alternate, difference

SETUP = """
def xs(n, kind="f8"):
    return xp.asarray(numpy.random.default_rng(n).integers(0, 100, n).astype(kind))
def rows(n, m, kind="f8"):
    return xs(n * m, kind).reshape(n, m).copy()
def some(n, of):
    return xp.asarray(numpy.random.default_rng(7).integers(0, of, n))
"""
CASES = """
take(axis=0), 1000 x 4; A = rows(1000, 4); i = some(1000, 1000); r = xp.take(A, i, axis=0)
take(axis=0), 10000 x 4; A = rows(10000, 4); i = some(10000, 10000); r = xp.take(A, i, axis=0)
take(axis=0), 100000 x 3; A = rows(100000, 3); i = some(100000, 100000); r = xp.take(A, i, axis=0)
take(axis=1), 10 x 100; A = rows(10, 100); i = some(100, 100); r = xp.take(A, i, axis=1)
take(axis=1), 100 x 100; A = rows(100, 100); i = some(100, 100); r = xp.take(A, i, axis=1)
take(axis=1), 1000 x 1000; A = rows(1000, 1000); i = some(1000, 1000); r = xp.take(A, i, axis=1)
repeat, 1000; a = xs(1000); r = xp.repeat(a, 3)
repeat, 10000; a = xs(10000); r = xp.repeat(a, 3)
repeat(axis=1), 30 x 33; A = rows(30, 33); r = xp.repeat(A, 2, axis=1)
repeat(axis=0), 30 x 33; A = rows(30, 33); r = xp.repeat(A, 2, axis=0)
repeat of counts, 1000; a = xs(1000); i = some(1000, 4); r = xp.repeat(a, i)
std(axis=1), 30 x 33; A = rows(30, 33); r = A.std(axis=1)
std(axis=1), 1000 x 33; A = rows(1000, 33); r = A.std(axis=1)
std(axis=1), 10000 x 33; A = rows(10000, 33); r = A.std(axis=1)
var(axis=1), 10000 x 33; A = rows(10000, 33); r = A.var(axis=1)
std(axis=1), 1000 x 100; A = rows(1000, 100); r = A.std(axis=1)
A.T.copy(), 32 x 32; A = rows(32, 32); r = A.T.copy()
A.T.copy(), 60 x 60; A = rows(60, 60); r = A.T.copy()
A.T.copy(), 100 x 100; A = rows(100, 100); r = A.T.copy()
A.T.copy(), 300 x 300; A = rows(300, 300); r = A.T.copy()
A.T.copy(), 100 x 100 float32; A = rows(100, 100, "f4"); r = A.T.copy()
A + A.T, 100 x 100; A = rows(100, 100); r = A + A.T
a[i] = b, 1000; a = xs(1000); b = xs(1000); i = some(1000, 1000); a[i] = b
a[i] = b, 10000; a = xs(10000); b = xs(10000); i = some(10000, 10000); a[i] = b
a[i] = b, 100000; a = xs(100000); b = xs(100000); i = some(100000, 100000); a[i] = b
a[i] = b, 1000000; a = xs(1000000); b = xs(1000000); i = some(1000000, 1000000); a[i] = b
a[i] = 1.0, 10000; a = xs(10000); i = some(10000, 10000); a[i] = 1.0
a[i] += 1.0, 10000; a = xs(10000); i = some(10000, 10000); a[i] += 1.0
sort, 1000 int64; a = xs(1000, "i8"); r = xp.sort(a)
sort, 10000 int64; a = some(10000, 1 << 40); r = xp.sort(a)
sort, 100000 int64; a = some(100000, 1 << 40); r = xp.sort(a)
sort, 1000000 int64; a = some(1000000, 1 << 40); r = xp.sort(a)
argsort, 10000 int64; a = some(10000, 1 << 40); r = xp.argsort(a, kind="stable")
nonzero, 1000; a = xs(1000); m = a > 50; r = xp.nonzero(m)
nonzero, 100000; a = xs(100000); m = a > 50; r = xp.nonzero(m)
a[a > x], 1000; a = xs(1000); r = a[a > 50.0]
a[a > x], 10000; a = xs(10000); r = a[a > 50.0]
A @ B, 64 x 5 x 64; A = rows(64, 5); B = rows(5, 64); r = A @ B
A @ B, 64 x 5 x 256; A = rows(64, 5); B = rows(5, 256); r = A @ B
A @ B, 200 x 5 x 200; A = rows(200, 5); B = rows(5, 200); r = A @ B
A @ B, 1000 x 5 x 100; A = rows(1000, 5); B = rows(5, 100); r = A @ B
A @ B, 1000 x 3 x 1000; A = rows(1000, 3); B = rows(3, 1000); r = A @ B
A @ B + 1, 64 x 5 x 256; A = rows(64, 5); B = rows(5, 256); r = A @ B + 1.0
A @ B + 1, 200 x 5 x 200; A = rows(200, 5); B = rows(5, 200); r = A @ B + 1.0
"""


class Timed(Side):
    """A library with the operands of one case."""

    def __init__(self, xp, flush, lines):
        super().__init__(xp, flush)
        exec(SETUP, self.names)
        for line in lines:
            exec(line, self.names)
        flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    words = [word for word in options.only.split(",") if word]
    logs = []
    for line in CASES.strip().splitlines():
        title, *lines, statement = line.split("; ")
        if words and not any([word in title for word in words]):
            continue
        sides = Timed(numpy, lambda: None, lines), Timed(numbus, _core.flush, lines)
        results = []
        for side in sides:
            exec(statement, side.names)
            results.append(side.names.get("r", side.names.get("a")))
        wrong = difference(*results)
        del results
        code = f"{statement}\n        flush()"
        blocks = []
        for side in sides:
            side.names["flush"] = side.flush
            side.names.pop("r", None)
            blocks.append(side.prepare(code))
        least = alternate(blocks, 1, 2e-3, options.rounds)
        logs.append(math.log(least[0] / least[1]))
        note = f"  WRONG: {wrong}" if wrong else ""
        times = f"{least[0] * 1e6:10.2f} {least[1] * 1e6:10.2f}"
        print(f"{least[0] / least[1]:6.2f} {times}  {title}{note}")
    print(f"geometric mean of our speed {math.exp(sum(logs) / len(logs)):.3f}")


if __name__ == "__main__":
    main()
