"""seed 10761: nothing has no position to be out of."""

import numpy as np


def f(a1):
    return np.partition(a1, 0)


def arguments():
    return (np.array([], dtype=np.int64),)
