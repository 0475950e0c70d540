"""Arrays without axes are numbers where np.array puts them together."""

import numpy as np


def f(a):
    v = [a[...], a]
    return np.array([a, a, a]), np.array(v).any(), np.array([[a, 1], [2, a]]), np.array((a, 2.5))


def arguments():
    return (np.array([-4], dtype=np.int64).reshape(()),)
