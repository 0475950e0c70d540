"""A mean and seasons fitted to measurements, with their errors.

Class: blas.
Method: weighted linear least squares by normal equations; Gelman and Hill.
"""

import numpy as np

SIZES = {"small": (1500, 24), "middle": (26000, 60), "large": (120000, 120)}


def setup(size, rng):
    n, waves = size
    t = np.linspace(0.0, 1.0, n)
    y = 2.0 + 3.0 * t - t**2 + np.sin(2.0 * np.pi * 7.0 * t) + 0.3 * rng.standard_normal(n)
    return t, y, rng.uniform(0.5, 1.5, n), waves // 2


def run(t, y, weights, waves):
    angle = 2.0 * np.pi * t[:, None] * np.arange(1, waves + 1)
    design = np.concatenate((np.ones((t.size, 1)), np.cos(angle), np.sin(angle)), axis=1)
    weighted = design * weights[:, None]
    normal = design.T @ weighted
    fitted = np.linalg.solve(normal, weighted.T @ y)
    residual = y - design @ fitted
    variance = (weights * residual**2).sum() / (t.size - fitted.size)
    return fitted, np.sqrt(variance * np.diag(np.linalg.inv(normal)))
