"""The orthogonal matrix that is nearest to a matrix.

Class: blas.
Method: Newton-Schulz iteration for the polar decomposition; Higham, Functions of Matrices, 8.
"""

import numpy as np

SIZES = {"small": 110, "middle": 300, "large": 900}


def setup(n, rng):
    return (np.eye(n) + 0.3 * rng.standard_normal((n, n)) / np.sqrt(n),)


def run(a):
    x = a / np.sqrt(np.abs(a).sum(axis=0).max() * np.abs(a).sum(axis=1).max())
    eye = np.eye(a.shape[0])
    for _ in range(14):
        x = 0.5 * (x @ (3.0 * eye - x.T @ x))
    return x, x.T @ a, np.abs(x.T @ x - eye).max()
