"""Atoms of a noble gas in a periodic box.

Class: fused.
Method: velocity Verlet with the Lennard-Jones potential, cut off; Allen and Tildesley, 1987.
"""

import numpy as np

SIZES = {"small": (3, 18), "middle": (6, 11), "large": (10, 18)}


def setup(size, rng):
    side, steps = size
    grid = np.arange(side) + 0.5
    x = np.stack(np.meshgrid(grid, grid, grid), axis=-1).reshape(-1, 3) * 1.2
    x = x + 0.02 * rng.standard_normal(x.shape)
    return x, 0.5 * rng.standard_normal(x.shape), 1.2 * side, steps


def force(x, box):
    d = x[:, None, :] - x[None, :, :]
    d = d - box * np.round(d / box)
    r2 = (d * d).sum(axis=2)
    np.fill_diagonal(r2, np.inf)
    near = r2 < (0.5 * box) ** 2
    inverse = np.where(near, 1.0 / r2, 0.0)
    s6 = inverse**3
    energy = 2.0 * (s6 * s6 - s6).sum()
    return (24.0 * (2.0 * s6 * s6 - s6) * inverse)[:, :, None] * d, energy


def run(x, v, box, steps):
    h = 0.002
    pairs, potential = force(x, box)
    f = pairs.sum(axis=1)
    energies = []
    for _ in range(steps):
        v = v + 0.5 * h * f
        x = (x + h * v) % box
        pairs, potential = force(x, box)
        f = pairs.sum(axis=1)
        v = v + 0.5 * h * f
        energies.append(potential + 0.5 * (v * v).sum())
    return x, v, np.array(energies)
