"""seed 10149: a negative shift count of Python's ints is an error."""

import numpy as np


def f(a0):
    v12 = a0 << a0
    return (np.zeros(0, dtype=np.uint16), v12, a0)


def arguments():
    return (-1,)
