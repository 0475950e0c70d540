"""seed 20845 of grammar 4: the diagonal of a matrix shows what the matrix becomes."""

import numpy as np


def f(a0):
    v9 = np.diag(a0)
    a0[1:, 0:] = 7.0
    return v9, a0


def arguments():
    return (np.eye(3),)
