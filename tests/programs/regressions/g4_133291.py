"""[njit] got 0; want ValueError('Integers to negative integer powers are not allowed.')"""
import numpy as np
G1 = (0, 0.0)

def f():
    v2 = 0
    v4, v5 = G1
    if v4 ** (-1):
        v6 = v2
    for i7 in range(0, v4):
        v4 = np.isnan(v5)
    return v6

def arguments():
    return ()
