"""[njit] result: got -0.0844011210204858, want -0.08440112102048558 within 1.67e-16"""
import math

def f(a0):
    v8 = a0 ** 0
    v9 = math.cosh(a0)
    a0 = math.lgamma(a0)
    v11 = a0
    return v11

def arguments():
    return (1.75,)
