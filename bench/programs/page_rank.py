"""The importance of pages by the links between them.

Class: blas.
Method: power iteration on the damped, dense link matrix; Page et al., 1999.
"""

import numpy as np

SIZES = {"small": (250, 110), "middle": (1300, 110), "large": (6000, 60)}


def setup(size, rng):
    n, iterations = size
    return (rng.random((n, n)) < 0.05).astype(np.float64), iterations


def run(links, iterations):
    n = links.shape[0]
    out = links.sum(axis=0)
    move = links / np.where(out > 0.0, out, 1.0)
    empty = out == 0.0
    rank = np.full(n, 1.0 / n)
    changes = np.empty(iterations)
    for step in range(iterations):
        new = 0.85 * (move @ rank + rank[empty].sum() / n) + 0.15 / n
        changes[step] = np.abs(new - rank).sum()
        rank = new
    return rank, changes
