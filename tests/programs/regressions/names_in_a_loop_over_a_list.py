"""seed 449454: a name has one type in a loop over a list, also where the list acts as a tuple."""
import numpy as np


def f(a0, a1):
    v6 = 1
    v7 = [(0, a0), (v6, v6 ** (-1)), (v6, 0.0)]
    for i8, i9 in v7:
        v6 = a1
    return v7, v6


def arguments():
    return (0, np.int8(0))
