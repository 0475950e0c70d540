"""[njit] CompileError: [jit] operator + does not work on bool; want no error"""
import numpy as np

def f():
    v1 = np.float64(0)
    if +(0.5j != v1):
        v6 = v1

def arguments():
    return ()
