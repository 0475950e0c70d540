"""[njit] result: got ('array', dtype('int64'), (21,)), want ('array', dtype('int16'), (21,)) (array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]) for array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],"""
import numpy as np

G2 = np.array([0], dtype=np.int16)

def f(a0):
    v10 = a0 - sum(G2)
    return v10

def arguments():
    return (np.array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], dtype=np.int16),)
