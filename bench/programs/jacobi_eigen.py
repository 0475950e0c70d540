"""The eigenvalues and eigenvectors of a symmetric matrix by plane rotations.

Class: small.
Method: cyclic Jacobi, two sweeps; Golub and Van Loan, 8.5.
"""

import numpy as np

SIZES = {"small": 10, "middle": 50, "large": 270}


def setup(n, rng):
    x = rng.standard_normal((n, n))
    return (x + x.T,)


def run(matrix):
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
