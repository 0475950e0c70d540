"""[njit] IndexError: index 0 is out of bounds for axis 1 of 'a' with size 0; want no error"""
import numpy as np

def f(a1):
    v3 = 0.0
    v8, v9 = (v3, np.take(a1, 0, axis=1))

def arguments():
    return (np.array([], dtype=np.int64).reshape((0, 0)),)
