"""The price of an option on the average of a share, by simulation.

Class: fused.
Method: Monte Carlo over geometric Brownian paths with antithetic pairs; Glasserman, 3.
"""

import numpy as np

SIZES = {"small": (700, 50), "middle": (16000, 50), "large": (300000, 64)}


def setup(size, rng):
    paths, steps = size
    return paths, steps, int(rng.integers(1 << 30))


def run(paths, steps, seed):
    rng = np.random.default_rng(seed)
    dt = 1.0 / steps
    z = rng.standard_normal((paths, steps))
    payoffs = []
    for sign in (1.0, -1.0):
        growth = (0.03 - 0.5 * 0.2**2) * dt + sign * 0.2 * np.sqrt(dt) * z
        path = 100.0 * np.exp(np.cumsum(growth, axis=1))
        payoffs.append(np.exp(-0.03) * np.maximum(path.mean(axis=1) - 100.0, 0.0))
    pair = 0.5 * (payoffs[0] + payoffs[1])
    return pair.mean(), pair.std() / np.sqrt(paths)
