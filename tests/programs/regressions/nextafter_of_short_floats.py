"""seed 20105: math.nextafter is one of float64, np.nextafter one of the type."""

import math

import numpy as np


def f(a0):
    return math.nextafter(np.log10(a0), -5) // 2, np.nextafter(np.float32(a0), 0.0)


def arguments():
    return (True,)
