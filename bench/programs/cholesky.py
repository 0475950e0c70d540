"""Cholesky factorisation of a positive definite matrix, one element of the factor at a time.

Class: loops.
Method: Cholesky-Banachiewicz, inner products of rows; Golub and Van Loan, 4.2.
"""

import numpy as np

SIZES = {"small": 41, "middle": 220, "large": 1200}


def setup(n, rng):
    x = rng.standard_normal((n, n))
    return (x @ x.T + n * np.eye(n),)


def run(a):
    n = a.shape[0]
    low = np.zeros_like(a)
    for i in range(n):
        for j in range(i):
            low[i, j] = (a[i, j] - low[i, :j] @ low[j, :j]) / low[j, j]
        low[i, i] = np.sqrt(a[i, i] - low[i, :i] @ low[i, :i])
    return low
