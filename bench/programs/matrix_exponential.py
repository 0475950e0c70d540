"""The exponential of a generator matrix, and a distribution moved by it.

Class: blas.
Method: scaling and squaring with a diagonal Pade approximant; Moler and Van Loan, 1978/2003.
"""

import numpy as np

SIZES = {"small": 130, "middle": 500, "large": 1100}


def setup(n, rng):
    rates = rng.random((n, n)) / n
    np.fill_diagonal(rates, 0.0)
    return rates - np.diag(rates.sum(axis=1)), 20.0


def run(generator, time):
    a = generator * time
    scale = max(0, int(np.ceil(np.log2(np.abs(a).sum(axis=1).max()))) + 1)
    a = a / 2.0**scale
    n, order = a.shape[0], 6
    c = 1.0
    up, down, power = np.eye(n), np.eye(n), np.eye(n)
    for k in range(1, order + 1):
        c = c * (order - k + 1) / (k * (2 * order - k + 1))
        power = a @ power
        up = up + c * power
        down = down + (-1.0) ** k * c * power
    moved = np.linalg.solve(down, up)
    for _ in range(scale):
        moved = moved @ moved
    return moved, np.full(n, 1.0 / n) @ moved
