"""np.round keeps integers; an array of short ones takes shorter ones in place."""
import numpy as np


def f(a0, a1):
    v2 = np.round(a0), np.around(a1), np.round(7)
    v3 = np.ones(2, np.int16)
    v3 += np.int8(2)
    return v2, v3


def arguments():
    return (2, np.uint8(3))
