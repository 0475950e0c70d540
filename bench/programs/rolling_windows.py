"""Statistics of a price over rolling windows: means, deviations, extremes, a momentum signal.

Class: fused.
Method: strided windows, as in the technical analysis of time series.
"""

import numpy as np

SIZES = {"small": 6500, "middle": 190000, "large": 2000000}


def setup(n, rng):
    return 100.0 * np.exp(np.cumsum(0.01 * rng.standard_normal(n))), 20


def run(price, width):
    windows = np.lib.stride_tricks.sliding_window_view(price, width)
    mean = windows.mean(axis=1)
    deviation = windows.std(axis=1)
    high, low = windows.max(axis=1), windows.min(axis=1)
    last = price[width - 1 :]
    place = (last - low) / (high - low)
    score = (last - mean) / deviation
    signal = np.where(score > 1.0, 1, np.where(score < -1.0, -1, 0))
    changes = np.diff(signal)
    return mean, deviation, place, signal, np.count_nonzero(changes)
