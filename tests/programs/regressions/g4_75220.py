"""[njit] result: got (nan+infj), want (nan+nanj)"""
import numpy as np

def f():
    v6 = 0.953 * complex(0.0, np.inf)
    v6 **= 1
    return v6

def arguments():
    return ()
