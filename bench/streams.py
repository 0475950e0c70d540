"""Random numbers with NumPy's bits, drawn on a GPU, beside NumPy's on the host.

    NUMBUS_DEVICE=cuda python bench/streams.py [--size 1e8] [--only normal,integers]

A table of milliseconds: of a call between two synchronisations, the generator's state read after
it, the median of some; and of NumPy's for the same numbers and their copy to the GPU, ten times
those of a tenth of them. Before a call is timed, a million of its numbers are compared with
NumPy's, and the state after them. Numbers of tails may differ by a unit in the last place; how many
do is counted.
"""

import argparse
import statistics
import time

import numbus as nb
import numpy as np
from numbus import random as nb_random

CALLS = 7
FEW = 1_000_000
# Name, arguments before the size, after it, and the milliseconds at most that were wanted.
ROWS = [
    ("random", (), ("float64",), 0.6),
    ("random", (), ("float32",), None),
    ("uniform", (-1.0, 2.5), (), None),
    ("integers", (0, 10), ("int64",), None),
    ("integers", (0, 1 << 40), ("int64",), None),
    ("integers", (0, (1 << 31) + 1), ("uint32",), None),
    ("integers", (0, 1000), ("int32",), None),
    ("integers", (0, 100), ("uint8",), None),
    ("integers", (0, 2), ("bool",), None),
    ("standard_normal", (), ("float64",), None),
    ("standard_normal", (), ("float32",), 2.0),
    ("normal", (3.0, 0.5), (), None),
    ("standard_exponential", (), ("float64",), None),
    ("standard_exponential", (), ("float32",), None),
    ("exponential", (2.0,), (), None),
]


def generator(module, bits, seed):
    return module.Generator(getattr(module, bits)(seed))


def draw(g, row, n):
    name, before, after, _ = row
    return getattr(g, name)(*before, n, *after)


def compare(bits, row, n):
    """How many of n numbers differ; raises where more than a last bit of some tails does."""
    want, got = generator(np.random, bits, 5), generator(nb_random, bits, 5)
    for g in (want, got):
        g.random(3, "float32")
    for size in (n, n // 3 + 1):
        x, y = draw(want, row, size), np.asarray(draw(got, row, size))
        if str(want.bit_generator.state) != str(got.bit_generator.state):
            raise SystemExit(f"{bits} {row[:3]}: the state differs from NumPy's")
        apart = np.flatnonzero(x != y)
        tails = "normal" in row[0] or "exponential" in row[0]
        if len(apart) > (size / 4000 if tails else 0):
            raise SystemExit(f"{bits} {row[:3]}: {len(apart)} of {size} differ, first {apart[:5]}")
        # A sum with `loc` can be much smaller than what is added.
        largest = np.abs(x) + sum(map(abs, row[1]))
        if len(apart) and (np.abs(x - y) > 2 * np.spacing(largest))[apart].any():
            raise SystemExit(f"{bits} {row[:3]}: numbers differ by more than their last bits")
    return len(apart)


def timed(call):
    call()
    taken = []
    for _ in range(CALLS):
        nb.synchronize()
        start = time.perf_counter()
        made = call()
        nb.synchronize()
        taken.append(time.perf_counter() - start)
        del made
    return 1e3 * statistics.median(taken)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--size", type=float, default=1e8)
    parser.add_argument("--only", default="", help="parts of names, with commas between")
    parser.add_argument("--bits", default="PCG64,Philox")
    options = parser.parse_args()
    n = int(options.size)
    print(f"{n} numbers on {nb.empty(1).device}, NumPy {np.__version__}")
    print(f"{'':42}{'ms':>9}{'wanted':>9}{'NumPy':>10}{'first ms':>10}{'differ':>8}")
    for bits in options.bits.split(","):
        for row in ROWS:
            label = f"{bits} {row[0]}{row[1] + row[2]}"
            if options.only and not any(part in label for part in options.only.split(",")):
                continue
            g = generator(nb_random, bits, 1)
            start = time.perf_counter()
            draw(g, row, 30_000)
            nb.synchronize()
            first = 1e3 * (time.perf_counter() - start)
            differ = compare(bits, row, FEW)
            ms = timed(lambda g=g, row=row: draw(g, row, n))
            host = generator(np.random, bits, 1)
            start = time.perf_counter()
            nb.asarray(draw(host, row, n // 10))
            nb.synchronize()
            numpy_ms = 1e4 * (time.perf_counter() - start)
            wanted = "-" if row[3] is None else row[3]
            print(
                f"{label:42}{ms:9.3f}{wanted:>9}{numpy_ms:10.1f}{first:10.1f}{differ:8}", flush=True
            )


if __name__ == "__main__":
    main()
