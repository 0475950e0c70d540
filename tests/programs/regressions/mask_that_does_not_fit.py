"""seed 621290: nothing is written through a mask where the number of values does not fit."""

import numpy as np


def f(a0, a1, a2):
    a2[a2 > 1.0] = a1
    a0[a0] = a0


def arguments():
    return np.array([True, False])[::-1], np.array([5.0, 6.0]), np.array([[3.0, 1.0], [0.0, 2.0]])
