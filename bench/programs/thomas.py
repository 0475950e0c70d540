"""A tridiagonal system, solved number by number.

Class: loops.
Method: Thomas' elimination and back substitution; Press et al., Numerical Recipes, 2.4.
"""

import numpy as np

SIZES = {"small": 1600, "middle": 45000, "large": 1500000}


def setup(n, rng):
    return rng.random(n), 2.5 + rng.random(n), rng.random(n), rng.standard_normal(n)


def run(low, diagonal, up, right):
    n = right.size
    c, d = np.empty(n), np.empty(n)
    c[0] = up[0] / diagonal[0]
    d[0] = right[0] / diagonal[0]
    for i in range(1, n):
        pivot = diagonal[i] - low[i] * c[i - 1]
        c[i] = up[i] / pivot
        d[i] = (right[i] - low[i] * d[i - 1]) / pivot
    x = np.empty(n)
    x[n - 1] = d[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = d[i] - c[i] * x[i + 1]
    return x
