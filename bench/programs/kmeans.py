"""Points grouped around means.

Class: fused.
Method: Lloyd's iterations, 1957/1982, with sums of groups by weighted counts.
"""

import numpy as np

SIZES = {"small": (1200, 8, 5), "middle": (20000, 12, 5), "large": (300000, 16, 6)}


def setup(size, rng):
    n, k, iterations = size
    centres = rng.uniform(-5.0, 5.0, (k, 3))
    points = centres[rng.integers(0, k, n)] + rng.standard_normal((n, 3))
    return points, points[:k].copy(), iterations


def run(points, start, iterations):
    means = start
    k = means.shape[0]
    for _ in range(iterations):
        d = ((points[:, None, :] - means[None, :, :]) ** 2).sum(axis=2)
        group = d.argmin(axis=1)
        counts = np.maximum(np.bincount(group, minlength=k), 1)
        sums = [np.bincount(group, weights=points[:, axis], minlength=k) for axis in range(3)]
        means = np.stack(sums, axis=1) / counts[:, None]
    return means, group, d.min(axis=1).sum()
