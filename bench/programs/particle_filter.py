"""A hidden random walk, followed through noisy observations by weighted samples.

Class: small.
Method: the bootstrap filter with systematic resampling; Gordon, Salmond and Smith, 1993.
"""

import numpy as np

SIZES = {"small": (60, 300), "middle": (800, 1000), "large": (1500, 20000)}


def setup(size, rng):
    steps, particles = size
    hidden = np.cumsum(rng.standard_normal(steps))
    return hidden + rng.standard_normal(steps), particles, int(rng.integers(1 << 30))


def run(observed, particles, seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(particles)
    grid = np.arange(particles) / particles
    means = np.empty(observed.size)
    for t in range(observed.size):
        x = x + rng.standard_normal(particles)
        weights = np.exp(-0.5 * (observed[t] - x) ** 2)
        weights = weights / weights.sum()
        means[t] = (weights * x).sum()
        index = np.searchsorted(np.cumsum(weights), grid + rng.random() / particles)
        x = x[np.minimum(index, particles - 1)]
    return means
