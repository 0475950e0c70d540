"""The edit distance of two sequences of letters: the whole table, cell by cell.

Class: loops.
Method: dynamic programming; Wagner and Fischer, 1974.
"""

import numpy as np

SIZES = {"small": 43, "middle": 240, "large": 1350}


def setup(n, rng):
    return rng.integers(0, 4, n), rng.integers(0, 4, n)


def run(a, b):
    n, m = len(a), len(b)
    table = np.zeros((n + 1, m + 1), dtype=np.int64)
    table[:, 0] = np.arange(n + 1)
    table[0, :] = np.arange(m + 1)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            swap = table[i - 1, j - 1]
            if a[i - 1] != b[j - 1]:
                swap += 1
            table[i, j] = min(swap, table[i - 1, j] + 1, table[i, j - 1] + 1)
    return table
