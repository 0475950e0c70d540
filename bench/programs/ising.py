"""Spins on a square lattice at a temperature, and their magnetisation.

Class: fused.
Method: Metropolis updates of the two colours of a checkerboard in turn; Newman and Barkema, 3.
"""

import numpy as np

SIZES = {"small": (40, 10), "middle": (190, 20), "large": (1000, 30)}


def setup(size, rng):
    n, sweeps = size
    return rng.choice(np.array([-1, 1]), (n, n)), 2.2, sweeps, int(rng.integers(1 << 30))


def run(start, temperature, sweeps, seed):
    rng = np.random.default_rng(seed)
    spins = start.copy()
    n = spins.shape[0]
    colour = (np.arange(n)[:, None] + np.arange(n)[None, :]) % 2
    magnetisation = np.empty(sweeps)
    for sweep in range(sweeps):
        for parity in (0, 1):
            around = (
                np.roll(spins, 1, 0) + np.roll(spins, -1, 0)
                + np.roll(spins, 1, 1) + np.roll(spins, -1, 1)
            )  # fmt: skip
            cost = 2.0 * spins * around
            flip = (colour == parity) & (rng.random((n, n)) < np.exp(-cost / temperature))
            spins[flip] *= -1
        magnetisation[sweep] = spins.mean()
    return spins, magnetisation
