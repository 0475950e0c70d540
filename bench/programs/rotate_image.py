"""An image turned and scaled, its pixels interpolated.

Class: fused.
Method: inverse mapping with bilinear interpolation; Gonzalez and Woods, 2.4.
"""

import numpy as np

SIZES = {"small": 150, "middle": 540, "large": 2500}


def setup(n, rng):
    return rng.random((n, n)), 0.4, 1.2


def run(image, angle, scale):
    n = image.shape[0]
    at = np.arange(n) - (n - 1) / 2
    c, s = np.cos(angle) / scale, np.sin(angle) / scale
    x = c * at[None, :] - s * at[:, None] + (n - 1) / 2
    y = s * at[None, :] + c * at[:, None] + (n - 1) / 2
    inside = (x >= 0) & (x <= n - 1) & (y >= 0) & (y <= n - 1)
    x, y = np.clip(x, 0, n - 1.001), np.clip(y, 0, n - 1.001)
    i, j = y.astype(np.int64), x.astype(np.int64)
    fy, fx = y - i, x - j
    top = (1 - fx) * image[i, j] + fx * image[i, j + 1]
    bottom = (1 - fx) * image[i + 1, j] + fx * image[i + 1, j + 1]
    return np.where(inside, (1 - fy) * top + fy * bottom, 0.0)
