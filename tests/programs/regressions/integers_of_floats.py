"""seeds 29799, 40532: NumPy's integers of Python's floats are those of int()."""
import math

import numpy as np


def f(x):
    v1 = np.int8(math.floor(x / 8)), np.uint64(x), np.int16(x)
    return v1, np.int64(math.sinh(x))


def arguments():
    return (1000.5,)
