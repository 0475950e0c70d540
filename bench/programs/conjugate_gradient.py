"""Implicit time steps of diffusion on a square, each a linear system solved by iteration.

Class: small.
Method: conjugate gradients without a stored matrix; Hestenes and Stiefel, 1952.
"""

import numpy as np

SIZES = {"small": (24, 5), "middle": (96, 50), "large": (384, 60)}


def setup(size, rng):
    n, steps = size
    return rng.random((n, n)), 1.0, steps


def apply(u, r):
    out = (1.0 + 4.0 * r) * u
    out[1:] -= r * u[:-1]
    out[:-1] -= r * u[1:]
    out[:, 1:] -= r * u[:, :-1]
    out[:, :-1] -= r * u[:, 1:]
    return out


def run(start, r, steps):
    u = start
    for _ in range(steps):
        x = u.copy()
        residual = u - apply(x, r)
        p = residual
        old = np.sum(residual * residual)
        for _ in range(12):
            ap = apply(p, r)
            alpha = old / np.sum(p * ap)
            x = x + alpha * p
            residual = residual - alpha * ap
            new = np.sum(residual * residual)
            p = residual + new / old * p
            old = new
        u = x
    return u
