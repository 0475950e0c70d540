"""LU factorisation without pivoting, element by element, of a diagonally dominant matrix.

Class: loops.
Method: Doolittle's elimination; Golub and Van Loan, Matrix Computations, 3.2.
"""

import numpy as np

SIZES = {"small": 23, "middle": 70, "large": 225}


def setup(n, rng):
    return (rng.random((n, n)) + n * np.eye(n),)


def run(a):
    lu = a.copy()
    n = lu.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            lu[i, k] /= lu[k, k]
            for j in range(k + 1, n):
                lu[i, j] -= lu[i, k] * lu[k, j]
    return lu
