"""A chain of masses and nonlinear springs, and its energy over time.

Class: small.
Method: the experiment of Fermi, Pasta, Ulam and Tsingou, 1955, by velocity Verlet.
"""

import numpy as np

SIZES = {"small": (33, 160), "middle": (33, 4700), "large": (129, 130000)}


def setup(size, rng):
    n, steps = size
    return np.sin(np.pi * np.arange(n) / (n - 1)), 0.05, steps


def force(x):
    stretch = x[1:] - x[:-1]
    pull = stretch + 0.25 * stretch**2
    f = np.zeros_like(x)
    f[1:-1] = pull[1:] - pull[:-1]
    return f


def run(start, h, steps):
    x, v = start.copy(), np.zeros_like(start)
    a = force(x)
    kinetic = np.empty(steps)
    for step in range(steps):
        v += 0.5 * h * a
        x += h * v
        a = force(x)
        v += 0.5 * h * a
        kinetic[step] = 0.5 * (v**2).sum()
    return x, kinetic
