"""Many random walks: how far they go, how often they return, when they first leave an interval.

Class: fused.
Method: Feller, An Introduction to Probability Theory, III.
"""

import numpy as np

SIZES = {"small": (200, 400), "middle": (2000, 1400), "large": (8000, 4000)}


def setup(size, rng):
    walkers, steps = size
    return walkers, steps, int(rng.integers(1 << 30))


def run(walkers, steps, seed):
    rng = np.random.default_rng(seed)
    step = 2 * rng.integers(0, 2, (walkers, steps)) - 1
    position = np.cumsum(step, axis=1)
    returns = (position == 0).sum(axis=1)
    outside = np.abs(position) >= 20
    exit_time = np.where(outside.any(axis=1), outside.argmax(axis=1), steps)
    spread = (position**2).mean(axis=0)
    highest = position.max(axis=1)
    return returns, exit_time, spread, np.bincount(highest + 1)
