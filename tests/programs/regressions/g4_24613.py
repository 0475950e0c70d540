"""[njit] dies with status -11:  """
import numpy as np
from numbus import prange

G1 = 0

def f(a0, a2):

    def g6(p7):
        return a2[p7 % 2, p7 % 1]
    w8 = 0
    w14 = 0
    v17 = 0
    for i16 in prange(0):
        v17 += g6(0)

def arguments():
    return (3.443, np.array([3.25, 0.5], dtype=np.float64).reshape((2, 1)))
