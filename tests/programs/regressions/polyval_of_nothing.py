"""seed 10362: a polynomial without coefficients is 0, whatever the sign of x."""

import numpy as np


def f(a0):
    v1 = np.linspace(0.0, 0, 1)
    v1[0] = np.polyval(a0, -1)
    return v1


def arguments():
    return (np.array([0.0], dtype=np.float16)[1:],)
