"""Two substances that diffuse and react into patterns.

Class: fused.
Method: the model of Gray and Scott (Pearson, 1993), explicit Euler steps on a torus.
"""

import numpy as np

SIZES = {"small": (48, 20), "middle": (192, 110), "large": (1024, 80)}


def setup(size, rng):
    n, steps = size
    u, v = np.ones((n, n)), np.zeros((n, n))
    middle = slice(n // 2 - n // 8, n // 2 + n // 8)
    u[middle, middle] = 0.5
    v[middle, middle] = 0.25
    return u + 0.02 * rng.random((n, n)), v + 0.02 * rng.random((n, n)), steps


def laplacian(a):
    return (
        np.roll(a, 1, axis=0) + np.roll(a, -1, axis=0) + np.roll(a, 1, axis=1)
        + np.roll(a, -1, axis=1) - 4.0 * a
    )  # fmt: skip


def run(u, v, steps):
    feed, kill = 0.035, 0.065
    for _ in range(steps):
        reaction = u * v * v
        u, v = (
            u + 0.16 * laplacian(u) - reaction + feed * (1.0 - u),
            v + 0.08 * laplacian(v) + reaction - (feed + kill) * v,
        )
    return u, v
