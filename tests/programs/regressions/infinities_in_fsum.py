"""seed 39439: what fsum raises."""
import math

import numpy as np


def f(a0):
    v1 = math.fsum(a0[:2])
    return v1, math.fsum(a0)


def arguments():
    return (np.array([1.0, -np.inf, np.inf]),)
