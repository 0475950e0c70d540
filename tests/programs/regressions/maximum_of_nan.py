"""seed 20899: max() of an array is that of comparisons, which NaN does not win."""

import math

import numpy as np


def f(a0):
    return math.exp2(max(a0)), min(a0[1:]), max([a0[0], a0[1], a0[2]])


def arguments():
    return (np.array([2.0, np.nan, 3.25, 3.25], dtype=np.float64),)
