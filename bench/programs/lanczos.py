"""The extreme eigenvalues of a large symmetric matrix.

Class: blas.
Method: Lanczos' iteration with full reorthogonalisation; Parlett, The Symmetric Eigenvalue
Problem, 13.
"""

import numpy as np

SIZES = {"small": (300, 50), "middle": (1500, 100), "large": (5000, 100)}


def setup(size, rng):
    n, steps = size
    x = rng.standard_normal((n, n))
    return 0.5 * (x + x.T) / np.sqrt(n), np.ones(n) / np.sqrt(n), steps


def run(a, start, steps):
    basis = np.zeros((steps, a.shape[0]))
    alpha, beta = np.zeros(steps), np.zeros(steps - 1)
    basis[0] = start
    for k in range(steps):
        w = a @ basis[k]
        alpha[k] = w @ basis[k]
        for _ in range(2):
            w = w - basis[: k + 1].T @ (basis[: k + 1] @ w)
        if k + 1 < steps:
            beta[k] = np.linalg.norm(w)
            basis[k + 1] = w / beta[k]
    ritz = np.linalg.eigvalsh(np.diag(alpha) + np.diag(beta, 1) + np.diag(beta, -1))
    return ritz[[0, 1, -2, -1]], alpha
