"""seed 10089: an int where the other side of `or` is a float has the type of both."""

import numpy as np


def f(a0):
    v5 = np.linspace(0, 1, 2)
    return 7 // (v5[a0] or 1), np.linalg.norm(v5[:a0]) or 0


def arguments():
    return (0,)
