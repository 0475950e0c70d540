"""Poisson's equation on a square, relaxed point by point.

Class: loops.
Method: Gauss-Seidel sweeps of the five-point stencil; Saad, Iterative Methods, 4.1.
"""

import numpy as np

SIZES = {"small": (24, 4), "middle": (86, 8), "large": (280, 24)}


def setup(size, rng):
    n, sweeps = size
    return rng.standard_normal((n, n)), 1.0 / (n - 1), sweeps


def run(f, h, sweeps):
    n = f.shape[0]
    u = np.zeros_like(f)
    for _ in range(sweeps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                u[i, j] = 0.25 * (around - h * h * f[i, j])
    return u
