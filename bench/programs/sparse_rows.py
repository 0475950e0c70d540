"""A sparse matrix times a vector, several times, row by row.

Class: loops.
Method: compressed sparse rows; Saad, Iterative Methods for Sparse Linear Systems, 3.4.
"""

import numpy as np

SIZES = {"small": 850, "middle": 26000, "large": 860000}


def setup(n, rng):
    counts = rng.integers(1, 12, n)
    starts = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts)))
    columns = rng.integers(0, n, int(starts[-1]))
    return starts, columns, rng.standard_normal(int(starts[-1])), rng.standard_normal(n)


def run(starts, columns, values, x):
    n = x.size
    y = np.empty(n)
    for row in range(n):
        low, high = starts[row], starts[row + 1]
        y[row] = values[low:high] @ x[columns[low:high]]
    return y
