"""Two samples compared by their orders: medians, trimmed means, ranks, a correlation, a distance.

Class: fused.
Method: Spearman's rank correlation and the statistics of Mann-Whitney and Kolmogorov-Smirnov.
"""

import numpy as np

SIZES = {"small": 9000, "middle": 170000, "large": 3500000}


def setup(n, rng):
    x = rng.standard_normal(n)
    return x, 0.5 * x + rng.standard_normal(n)


def ranks(x):
    order = np.argsort(x)
    out = np.empty(x.size, dtype=np.int64)
    out[order] = np.arange(x.size)
    return out


def run(x, y):
    n = x.size
    sx, sy = np.sort(x), np.sort(y)
    quartiles = np.percentile(x, np.array([25.0, 50.0, 75.0]))
    trimmed = sx[n // 10 : n - n // 10].mean()
    difference = (ranks(x) - ranks(y)).astype(np.float64)
    spearman = 1.0 - 6.0 * (difference**2).sum() / (n * (n * n - 1.0))
    both = np.concatenate((sx, sy))
    gap = np.searchsorted(sx, both, side="right") - np.searchsorted(sy, both, side="right")
    mann_whitney = np.searchsorted(sx, sy).sum()
    return quartiles, trimmed, spearman, np.abs(gap).max() / n, mann_whitney
