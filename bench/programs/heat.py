"""Heat in a plate whose edges are held at fixed temperatures, until a number of steps is done.

Class: fused.
Method: explicit Euler steps of the five-point Laplacian, double buffered.
"""

import numpy as np

SIZES = {"small": (64, 70), "middle": (256, 55), "large": (1024, 120)}


def setup(size, rng):
    n, steps = size
    u = rng.random((n, n))
    u[0], u[-1] = 1.0, 0.0
    return u, 0.2, steps


def run(start, r, steps):
    u, new = np.copy(start), np.copy(start)
    for _ in range(steps):
        centre = u[1:-1, 1:-1]
        new[1:-1, 1:-1] = centre + r * (
            u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * centre
        )
        u, new = new, u
    return u, u.mean()
