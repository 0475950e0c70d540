KERNEL = True
# round() of NumPy's integers gives Python's: -1 follows ~ of it.
import numpy as np


def f(a0):
    v2 = round(a0[0])
    v2 = ~v2
    v7 = v2 + 0.5
    v8 = v7 * v2
    return v8


def arguments():
    return (np.array([0], dtype=np.uint64),)
