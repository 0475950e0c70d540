"""Van der Pol's oscillator, from several starts, with steps of adaptive length.

Class: small.
Method: Runge-Kutta-Fehlberg 4(5); Hairer, Norsett and Wanner, Solving Ordinary Differential
Equations I.
"""

import numpy as np

SIZES = {"small": (2.6, 1), "middle": (95.0, 1), "large": (95.0, 34)}

A = np.array(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0],
        [1 / 4, 0.0, 0.0, 0.0, 0.0],
        [3 / 32, 9 / 32, 0.0, 0.0, 0.0],
        [1932 / 2197, -7200 / 2197, 7296 / 2197, 0.0, 0.0],
        [439 / 216, -8.0, 3680 / 513, -845 / 4104, 0.0],
        [-8 / 27, 2.0, -3544 / 2565, 1859 / 4104, -11 / 40],
    ]
)
FIFTH = np.array([16 / 135, 0.0, 6656 / 12825, 28561 / 56430, -9 / 50, 2 / 55])
FOURTH = np.array([25 / 216, 0.0, 1408 / 2565, 2197 / 4104, -1 / 5, 0.0])


def setup(size, rng):
    end, count = size
    return np.array([2.0, 0.1]) + 0.1 * rng.random((count, 2)), end


def slope(y):
    return np.array([y[1], (1.0 - y[0] ** 2) * y[1] - y[0]])


def integrate(start, end):
    y, t, h = start, 0.0, 0.01
    steps = 0
    while t < end:
        h = min(h, end - t)
        k = np.zeros((6, y.size))
        for stage in range(6):
            k[stage] = slope(y + h * (A[stage, :stage] @ k[:stage]))
        error = np.abs(h * ((FIFTH - FOURTH) @ k)).max()
        if error <= 1e-7:
            t = t + h
            y = y + h * (FIFTH @ k)
            steps += 1
        h = h * min(4.0, max(0.1, 0.9 * (1e-7 / (error + 1e-30)) ** 0.2))
    return y, steps


def run(starts, end):
    found = [integrate(start, end) for start in starts]
    return np.stack([y for y, _ in found]), np.array([steps for _, steps in found])
