"""seeds 26970, 32625, 33480, 36315: items of lists, also of tuples in lists, have one type."""
import numpy as np


def f(a0, a1):
    v1 = [True, 'ab' != 'abc']
    v1[0] += a1
    v2 = [(a1, a1), (a0, a1)]
    v3, *v4 = (a1, 0, 0.5)
    v5 = [(0, a1), (a1, False), (0, 0.0)]
    return v1, v2, v3, v4, v5


def arguments():
    return (np.uint64(3), 2)
