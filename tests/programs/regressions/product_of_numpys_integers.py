"""seed 35402: math.prod of NumPy's integers is one of these, no int of Python's."""
import math

import numpy as np


def f(a0, a1):
    a0 *= math.prod([np.sum(a1) for k3 in range(4)])
    return a0


def arguments():
    return (np.array([0.0, 1.0], dtype=np.float16), np.array([-7, 127, 58], dtype=np.int8))
