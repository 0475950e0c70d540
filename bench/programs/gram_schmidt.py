"""The QR factorisation of a matrix, one pair of columns at a time.

Class: loops.
Method: modified Gram-Schmidt; Golub and Van Loan, 5.2.
"""

import numpy as np

SIZES = {"small": (45, 30), "middle": (240, 160), "large": (900, 600)}


def setup(size, rng):
    return (rng.standard_normal(size) + np.eye(*size),)


def run(a):
    q = a.copy()
    n = a.shape[1]
    r = np.zeros((n, n))
    for j in range(n):
        r[j, j] = np.sqrt(q[:, j] @ q[:, j])
        q[:, j] /= r[j, j]
        for k in range(j + 1, n):
            r[j, k] = q[:, j] @ q[:, k]
            q[:, k] -= r[j, k] * q[:, j]
    return q, r
