"""[njit] got ([(0, False), (0, False)], 0, [(0, False), (0, False)]); want ZeroDivisionError('0.0 to a negative or complex power')"""
import math

def f(a2, a3):
    w10 = 0
    v13, v14 = a3
    for i15 in [False, 0.0, 2j]:
        v14 *= i15 ** (-1)
    v16 = [(v13, a2), (w10, math.isinf(0.0))]
    v17 = v16
    return (v16, v13, v17)

def arguments():
    return (False, (0, 0.0))
