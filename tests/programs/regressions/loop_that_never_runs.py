"""seed 29378: what a loop would assign that never runs gives a name its type."""
import numpy as np


def f(a0):
    v5 = [a0 - k for k in range(2)]
    for i7 in range(0):
        a0 = 0
    return v5


def arguments():
    return (np.uint32(0),)
