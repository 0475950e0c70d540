"""By an index array what has no elements may be of other leading extents: NumPy reshapes it."""

import numpy as np


def f(x, k):
    x[k] = x[:, None]
    x[k, 0:0] = np.ones((3, 1, 2, 0))
    return x


def arguments():
    return np.zeros((2, 0)), np.array([0, 0])
