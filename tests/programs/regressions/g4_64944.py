"""[njit] got 0; want AssertionError('own 39')"""
import math
import numpy as np

def f(a0):
    v5, v6 = divmod(a0, a0)
    assert math.floor(np.invert(v5)), 'own 39'
    return v6

def arguments():
    return (np.uint64(0),)
