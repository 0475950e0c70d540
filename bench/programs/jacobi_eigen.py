"""The eigenvalues and eigenvectors of symmetric matrices by plane rotations.

Class: small.
Method: cyclic Jacobi, two sweeps; Golub and Van Loan, 8.5.
"""

import numpy as np

SIZES = {"small": (10, 1), "middle": (50, 1), "large": (50, 34)}


def setup(size, rng):
    n, count = size
    x = rng.standard_normal((count, n, n))
    return (x + x.transpose(0, 2, 1),)


def rotate(matrix):
    a = matrix.copy()
    n = a.shape[0]
    v = np.eye(n)
    for _ in range(2):
        for p in range(n - 1):
            for q in range(p + 1, n):
                if a[p, q] == 0.0:
                    continue
                tau = (a[q, q] - a[p, p]) / (2.0 * a[p, q])
                t = (1.0 if tau >= 0.0 else -1.0) / (abs(tau) + np.sqrt(1.0 + tau * tau))
                c = 1.0 / np.sqrt(1.0 + t * t)
                turn = np.array([[c, t * c], [-t * c, c]])
                a[:, [p, q]] = a[:, [p, q]] @ turn
                a[[p, q], :] = turn.T @ a[[p, q], :]
                v[:, [p, q]] = v[:, [p, q]] @ turn
    return np.sort(np.diag(a)), v


def run(matrices):
    found = [rotate(matrix) for matrix in matrices]
    return np.stack([values for values, _ in found]), np.stack([vectors for _, vectors in found])
