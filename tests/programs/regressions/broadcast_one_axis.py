"""An array of one element was read beyond its end where another one of one axis was longer."""

import numpy as np


def f(x, y, i):
    z = x + y
    x[i] *= y
    x[:] = x + y
    return z, np.where(x > 1, x, y)


def arguments():
    return np.array([1.0, 2.0, 3.0]), np.array([5.0]), np.array([0, 0, 2])
