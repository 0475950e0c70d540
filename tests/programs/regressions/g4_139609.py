"""[njit] hangs"""
import math

def f(a2):
    return math.frexp(a2)[1]

import numpy as np

def arguments():
    return (np.int32(-2147483648),)
