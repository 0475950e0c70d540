"""[njit] result: got array([-0., -0., -0., -0., -0., -0., -0.]), want array([ 0., -0., -0., -0., -0., -0., -0.])"""
import numpy as np
from numbus import prange

def f(a2):
    v17 = np.zeros(7, np.float64)
    for i16 in prange(7):
        v17[i16] = max(np.copysign(a2, -0.0))
    for i23 in a2:
        v17[0] = np.median(v17)
    return v17

def arguments():
    return (np.array([0], dtype=np.uint16),)
