"""seed 447321: to a ufunc np.float64 is no float of Python's, so that nothing is raised."""
import numpy as np


def f():
    a0 = np.zeros(2)
    for i5, i6 in zip(a0, a0 + 2):
        v8 = np.divide(0.5j, i5), np.power(0j, i5 - 1), np.divide(0.5j, i6), 0.5j / i6
    return v8


def arguments():
    return ()
