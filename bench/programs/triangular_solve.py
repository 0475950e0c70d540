"""Lower and upper triangular systems, solved by forward and back substitution.

Class: loops.
Method: row-oriented substitution; Golub and Van Loan, 3.1.
"""

import numpy as np

SIZES = {"small": (450, 1), "middle": (1500, 8), "large": (3000, 80)}


def setup(size, rng):
    n, count = size
    low = np.tril(rng.random((n, n)) / n) + np.eye(n)
    return low, rng.standard_normal((count, n))


def run(low, right):
    n = low.shape[0]
    x = right.copy()
    for k in range(right.shape[0]):
        for i in range(n):
            x[k, i] = (x[k, i] - low[i, :i] @ x[k, :i]) / low[i, i]
        for i in range(n - 1, -1, -1):
            x[k, i] = (x[k, i] - low[i + 1 :, i] @ x[k, i + 1 :]) / low[i, i]
    return x
