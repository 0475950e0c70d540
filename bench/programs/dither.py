"""A grey image in two tones whose errors are handed on to the neighbours.

Class: loops.
Method: error diffusion; Floyd and Steinberg, 1976.
"""

import numpy as np

SIZES = {"small": 34, "middle": 180, "large": 1040}


def setup(n, rng):
    x = np.linspace(0.0, 1.0, n)
    return (0.5 * (x[:, None] + x[None, :]) + 0.05 * rng.standard_normal((n, n)),)


def run(image):
    work = image.copy()
    n, m = work.shape
    for i in range(n):
        for j in range(m):
            old = work[i, j]
            new = 1.0 if old > 0.5 else 0.0
            work[i, j] = new
            error = old - new
            if j + 1 < m:
                work[i, j + 1] += error * 7 / 16
            if i + 1 < n:
                if j > 0:
                    work[i + 1, j - 1] += error * 3 / 16
                work[i + 1, j] += error * 5 / 16
                if j + 1 < m:
                    work[i + 1, j + 1] += error / 16
    return work
