"""seed 50979: a[i] += x reads a[i] before x is computed."""
import math

import numpy as np


def f(a1):
    w11 = 0
    while w11 < 5:
        w11 += 1
        a1[w11] += math.lgamma(w11 % 3)
    return a1


def arguments():
    return (np.array([1.0, 2.0, 3.0]),)
