"""A linear least-squares problem by orthogonal reflections, column by column.

Class: small.
Method: Householder, 1958; Golub and Van Loan, 5.2.
"""

import numpy as np

SIZES = {"small": (110, 80), "middle": (480, 300), "large": (1500, 750)}


def setup(size, rng):
    return rng.standard_normal(size), rng.standard_normal(size[0])


def run(a, b):
    r, y = a.copy(), b.copy()
    n = r.shape[1]
    for k in range(n):
        v = r[k:, k].copy()
        v[0] += np.copysign(np.sqrt((v * v).sum()), v[0])
        v = v / np.sqrt((v * v).sum())
        r[k:, k:] -= 2.0 * np.outer(v, v @ r[k:, k:])
        y[k:] -= 2.0 * v * (v @ y[k:])
    return np.linalg.solve(np.triu(r[:n]), y[:n]), np.abs(y[n:]).max()
