"""seed 422996: lists in a list have items of one type, as a list has."""
import numpy as np


def f(a0, a1):
    v1 = 0
    return np.array([[0, 0], [v1, a0]]), np.array([[a1, 1]]), np.array([(0, a1), (0.5, 2)])


def arguments():
    return (np.uint64(3), np.int8(-1))
