"""seed 625577: which sign a zero has in a product of complex numbers hangs on the order."""

import numpy as np


def f(a0):
    v1 = (False - a0).prod()
    a0 *= v1
    return v1


def arguments():
    return (np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1, 0.5j], dtype=np.complex128),)
