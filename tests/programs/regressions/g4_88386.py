"""[njit] result: got array([-0., -0., -0.], dtype=float32), want array([0., 0., 0.], dtype=float32)"""
import numpy as np

def f(a1):
    v13 = np.median(-a1, axis=0)
    return v13

def arguments():
    return (np.array([0.0, 0.0, 0.0], dtype=np.float32).reshape((1, 3)),)
