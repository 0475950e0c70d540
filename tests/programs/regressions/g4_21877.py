"""[njit] result: got ('array', dtype('float64'), (0,)), want ('array', dtype('float16'), (0,)) (array([], dtype=float64) for array([], dtype=float16))"""
import numpy as np


def f(a0):
    v1 = np.linspace(a0, np.heaviside(a0, a0), 0)
    return v1

def arguments():
    return (np.int8(0),)
