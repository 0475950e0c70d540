"""np.tri takes floats, as np.arange does."""

import numpy as np


def f(n):
    return np.tri(n), np.tri(2, n), np.tri(True)


def arguments():
    return (2.5,)
