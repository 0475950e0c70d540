"""Waves on a membrane with a damped rim.

Class: fused.
Method: leapfrog steps of the second-order wave equation; Strang, Computational Science and
Engineering, 6.
"""

import numpy as np

SIZES = {"small": (64, 57), "middle": (256, 62), "large": (1024, 90)}


def setup(size, rng):
    n, steps = size
    x = np.linspace(-1.0, 1.0, n)
    r2 = x[:, None] ** 2 + x[None, :] ** 2
    damping = 1.0 - 0.1 * np.maximum(r2 - 0.7, 0.0)
    return np.exp(-60.0 * r2) * rng.uniform(0.5, 1.5), damping, 0.4, steps


def run(start, damping, courant, steps):
    now, before = start, start
    for _ in range(steps):
        around = np.zeros_like(now)
        around[1:-1, 1:-1] = (
            now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:] - 4.0 * now[1:-1, 1:-1]
        )
        now, before = damping * (2.0 * now - before + courant**2 * around), now
    return now, np.abs(now).max()
