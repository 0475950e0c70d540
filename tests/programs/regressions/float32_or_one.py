"""seed 10595: NumPy's bool or Python's int is NumPy's int64."""

import math

import numpy as np

G1 = 0.0


def f(a0):
    v11 = math.tanh(a0[0])
    v12 = G1 >= v11 > v11
    w18 = 1
    while w18 < 9:
        w18 += 1
        v11 += v12 or 1
    return v11


def arguments():
    return (np.array([2.0, 0.0, 0.0, 0.0], dtype=np.float32),)
