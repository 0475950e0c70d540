"""Heat in a square by implicit steps along one axis, then the other.

Class: small.
Method: Peaceman and Rachford's alternating directions, 1955: tridiagonal systems of all lines at
once, row by row.
"""

import numpy as np

SIZES = {"small": (32, 5), "middle": (128, 33), "large": (512, 80)}


def setup(size, rng):
    n, steps = size
    return rng.random((n, n)), 0.8, steps


def half_step(u, r):
    n = u.shape[0]
    right = (1.0 - 2.0 * r) * u
    right[:, 1:] += r * u[:, :-1]
    right[:, :-1] += r * u[:, 1:]
    c = np.empty(n)
    d = np.empty_like(u)
    c[0] = -r / (1.0 + 2.0 * r)
    d[0] = right[0] / (1.0 + 2.0 * r)
    for i in range(1, n):
        pivot = 1.0 + 2.0 * r + r * c[i - 1]
        c[i] = -r / pivot
        d[i] = (right[i] + r * d[i - 1]) / pivot
    x = np.empty_like(u)
    x[n - 1] = d[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = d[i] - c[i] * x[i + 1]
    return x


def run(start, r, steps):
    u = start
    for _ in range(steps):
        u = half_step(half_step(u, r).T, r).T
    return u
