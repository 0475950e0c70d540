"""Robertson's stiff chemical reaction: three concentrations over a long time.

Class: small.
Method: implicit Euler steps of growing length, Newton's method with a solve of 3 x 3; Hairer and
Wanner, II, IV.1.
"""

import numpy as np

SIZES = {"small": 40, "middle": 1200, "large": 40000}


def setup(steps, rng):
    y = np.array([1.0, 0.0, 0.0]) + 1e-3 * rng.random(3)
    return y, 10.0 ** (6.0 / steps), steps


def run(start, growth, steps):
    y, h = start, 1e-3
    path = np.empty((steps, 3))
    for step in range(steps):
        new = y.copy()
        for _ in range(3):
            a, b, c = new
            forward = np.array(
                [
                    -0.04 * a + 1e4 * b * c,
                    0.04 * a - 1e4 * b * c - 3e7 * b * b,
                    3e7 * b * b,
                ]
            )
            jacobian = np.array(
                [
                    [-0.04, 1e4 * c, 1e4 * b],
                    [0.04, -1e4 * c - 6e7 * b, -1e4 * b],
                    [0.0, 6e7 * b, 0.0],
                ]
            )
            new = new - np.linalg.solve(np.eye(3) - h * jacobian, new - y - h * forward)
        y = new
        path[step] = y
        h = h * growth
    return path
