"""The Lotka-Volterra equations: two numbers of animals, many small time steps.

Class: small.
Method: the classic fourth-order Runge-Kutta step on an array of two elements.
"""

import numpy as np

SIZES = {"small": 125, "middle": 3750, "large": 122000}


def setup(steps, rng):
    return np.array([10.0, 5.0]) + rng.random(2), 0.01, steps


def slope(y):
    return np.array([1.1 * y[0] - 0.4 * y[0] * y[1], 0.1 * y[0] * y[1] - 0.4 * y[1]])


def run(start, h, steps):
    path = np.empty((steps + 1, 2))
    y = start
    path[0] = y
    for step in range(steps):
        k1 = slope(y)
        k2 = slope(y + 0.5 * h * k1)
        k3 = slope(y + 0.5 * h * k2)
        k4 = slope(y + h * k3)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        path[step + 1] = y
    return path
