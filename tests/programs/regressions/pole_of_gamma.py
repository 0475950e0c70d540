"""Floats beyond int64 were no integers for math.gamma and math.lgamma."""

import math

import numpy as np


def f(x):
    x[:] += math.gamma(np.log2(0))
    return x


def arguments():
    return (np.zeros(3),)
