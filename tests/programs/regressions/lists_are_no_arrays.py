"""seed 500881: a list is an array to NumPy's numbers alone; what an array holds, it is asked for."""
import numpy as np


def f(a0, a1, a2):
    v1 = [1, 2]
    v2 = (v1 == 1, [a0, 2] != a0, a1 == v1, (1, 2) == a1, a1 < (1, 2), v1 == (1, 2))
    v3 = (a2 in a2, v1 in a2, (7.5,) in a2, [7.5] not in a2, (1, 2) in v1)
    return v2, v3, v1 + [a0], a1 + [1, 2]


def arguments():
    return (1, np.int64(1), np.array([1, 2]))
