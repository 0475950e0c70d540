KERNEL = True
# A name that is one of two arrays, one of them read-only: not yet,
# also where a GPU computes on copies.
import numpy as np


def f(a1, a2):
    v5 = 0
    a1[0] = v5
    if a1[0]:
        a1 = a2


def arguments():
    return (np.array([0.0, 0.0, 0.0, 0.0, 0.0], dtype=np.float64), np.broadcast_to(0.0, 0))
