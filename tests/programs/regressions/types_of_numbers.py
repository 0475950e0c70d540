"""NumPy's functions give NumPy's numbers, its comparisons its booleans, math's functions floats."""

import math

import numpy as np


def f(x, n, b):
    short = x[0]
    wide = short * np.sqrt(2.0)
    narrow = short * math.sqrt(float(n))
    both = (x[0] > 1) + (x[1] > 1)
    return np.array([wide]), np.array([narrow]), both, np.add(b, b), np.mod(n, 0 * n), (n > 1) + b


def arguments():
    return np.array([2.0, 3.0], dtype=np.float32), 4, True
