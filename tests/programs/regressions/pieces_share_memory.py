"""seed 28616: what np.split gives lies in the array that it divides."""
import numpy as np


def f(a2):
    v6 = np.split(a2[:2], 2)[1]
    a2 += v6
    return a2


def arguments():
    return (np.array([0.0, 1.0, 0.0, 0.0]),)
