"""A mask of other extents than the array's was read as if it had these."""

import numpy as np


def f(x, m):
    return x[m]


def arguments():
    return np.arange(4.0), np.array([True, False])
