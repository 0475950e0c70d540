"""Local means and deviations of an image, whatever the size of the window.

Class: fused.
Method: summed-area tables; Crow, 1984.
Tolerance: 1e-10, as windows are differences of sums over up to all of the image, whose last bits
depend on the order of the additions (a GPU has another one than NumPy).
"""

import numpy as np

SIZES = {"small": 165, "middle": 1000, "large": 5000}


def setup(n, rng):
    return rng.random((n, n)), 9


def window_sum(a, width):
    table = np.zeros((a.shape[0] + 1, a.shape[1] + 1))
    table[1:, 1:] = np.cumsum(np.cumsum(a, axis=0), axis=1)
    return (
        table[width:, width:] - table[:-width, width:] - table[width:, :-width]
        + table[:-width, :-width]
    )  # fmt: skip


def run(image, width):
    count = width * width
    mean = window_sum(image, width) / count
    square = window_sum(image * image, width) / count
    return mean, np.sqrt(np.maximum(square - mean * mean, 0.0))
