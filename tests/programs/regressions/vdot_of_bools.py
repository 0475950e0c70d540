"""seed 10845: the product of bools is a bool."""

import numpy as np

G1 = np.array([False], dtype=np.bool_)


def f():
    return np.vdot(G1, G1)


def arguments():
    return ()
