"""[njit] result: got ('array', dtype('float64'), (0,)), want ('array', dtype('float16'), (0,)) (array([], dtype=float64) for array([], dtype=float16))"""
import numpy as np


def f(a1):
    v9 = np.linspace(a1, 0.0, 0)
    return v9

def arguments():
    return (np.float16(0.0),)
