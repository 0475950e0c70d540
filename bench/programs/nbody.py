"""Bodies that attract each other, all pairs at each step.

Class: fused.
Method: leapfrog (kick, drift, kick) with softened gravity; Aarseth, Gravitational N-Body
Simulations.
"""

import numpy as np

SIZES = {"small": (24, 32), "middle": (160, 17), "large": (700, 22)}


def setup(size, rng):
    n, steps = size
    return rng.standard_normal((n, 3)), 0.1 * rng.standard_normal((n, 3)), rng.random(n) / n, steps


def acceleration(x, mass):
    d = x[None, :, :] - x[:, None, :]
    r2 = np.sum(d * d, axis=2) + 0.01
    return (d * (mass[None, :] * r2**-1.5)[:, :, None]).sum(axis=1)


def run(x, v, mass, steps):
    h = 0.01
    a = acceleration(x, mass)
    for _ in range(steps):
        v = v + 0.5 * h * a
        x = x + h * v
        a = acceleration(x, mass)
        v = v + 0.5 * h * a
    return x, v, 0.5 * (mass * (v * v).sum(axis=1)).sum()
