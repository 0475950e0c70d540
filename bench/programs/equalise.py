"""An image of bytes whose grey levels are spread evenly.

Class: fused.
Method: histogram equalisation by a cumulative table; Gonzalez and Woods, 3.3.
"""

import numpy as np

SIZES = {"small": 540, "middle": 2700, "large": 15000}


def setup(n, rng):
    return (np.clip(40.0 * rng.standard_normal((n, n)) + 100.0, 0, 255).astype(np.uint8),)


def run(image):
    counts = np.bincount(image.ravel(), minlength=256)
    total = np.cumsum(counts)
    least = total[counts > 0][0]
    table = np.round((total - least) / (image.size - least) * 255.0).clip(0, 255).astype(np.uint8)
    out = table[image]
    return out, np.bincount(out.ravel(), minlength=256)
