"""A mask of other extents than the array's was read as if it had these."""

import numpy as np


def f(x, m):
    x[m] = 7.0
    return x


def arguments():
    return np.arange(6.0).reshape(2, 3), np.array([True, False, True])
