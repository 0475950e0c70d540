"""[njit] got (0, [(0, False)]); want ValueError('too many values to unpack (expected 2)')"""
import numpy as np


def f(a2):
    v11, v12 = a2
    v15 = [(0, False)]
    v20 = 0
    return (v20, v15)

def arguments():
    return (np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], dtype=np.float64),)
