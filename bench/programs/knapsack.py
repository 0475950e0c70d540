"""The most valuable load of a knapsack, for every capacity.

Class: small.
Method: dynamic programming over the items, one row of capacities at a time; Bellman, 1957.
"""

import numpy as np

SIZES = {"small": (700, 400), "middle": (5000, 12000), "large": (10000, 30000)}


def setup(size, rng):
    items, capacity = size
    return rng.integers(1, 100, items), rng.integers(1, 1000, items), capacity


def run(weights, values, capacity):
    best = np.zeros(capacity + 1, dtype=np.int64)
    for weight, value in zip(weights, values):
        best[weight:] = np.maximum(best[weight:], best[:-weight] + value)
    return best
