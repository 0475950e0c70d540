"""A Python int is compared by its value, whatever NumPy's type on the other side can hold."""

import numpy as np


def f(u, s, n):
    return u > n, u == n, s < 300, s > -300, np.uint64(5) >= n, n < np.uint64(0), s == 200


def arguments():
    return np.uint8(255), np.int8(-56), -1
