"""What or chose among constants was taken for a constant, so that float32 held it."""

import math

import numpy as np


def f(x, n, out):
    out[0] *= math.erfc(x) if n else 0.0 or 0.0
    return out


def arguments():
    return np.float32(2.0), 1, np.array([0.0, 3.25], dtype=np.float16)
