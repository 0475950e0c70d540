"""[njit] argument 0: got array([[[0., 0.],"""
import numpy as np

def f(a0):
    v5 = [a0, np.ascontiguousarray(a0), a0]
    v5[1] += a0
    for i7 in v5:
        a0 = i7[:, :0]

def arguments():
    return (np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], dtype=np.float64).reshape((2, 2, 2)),)
