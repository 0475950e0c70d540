"""[njit] dies with status -11:  """
import numpy as np
from numbus import prange

G1 = 0

def f(a1, a3):

    def g7():
        return a3.max()
    v14 = np.zeros(0, np.float64)
    for i13 in prange(0):
        v14[i13] = g7()

def arguments():
    return (0, np.array([0.0], dtype=np.float64))
