"""seed 27830: ravel of what happens to lie in C order is a view."""
import numpy as np


def f(a0):
    v17 = np.ravel(a0[None])
    a0[0] = 0
    return v17, np.ravel(1)


def arguments():
    return (np.array([-1.0, -2.5, 1.5, -2.5, 3.25], dtype=np.float16).T,)
