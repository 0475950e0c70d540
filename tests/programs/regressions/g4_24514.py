"""[njit] result: got -1, want 18446744073709551615"""
import numpy as np


def f(a0):
    a0 = round(a0, 0)
    v4 = ~a0
    return v4

def arguments():
    return (np.uint64(0),)
