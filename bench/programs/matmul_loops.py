"""The product of two small dense matrices, by three nested loops.

Class: loops.
Method: the definition.
"""

import numpy as np

SIZES = {"small": 16, "middle": 50, "large": 160}


def setup(n, rng):
    return rng.standard_normal((n, n)), rng.standard_normal((n, n))


def run(a, b):
    n, m, inner = a.shape[0], b.shape[1], a.shape[1]
    c = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            for k in range(inner):
                c[i, j] += a[i, k] * b[k, j]
    return c
