"""[njit] got ([(nan+nanj), (nan+nanj), (nan+nanj), (nan+nanj)], (nan+nanj)); want ZeroDivisionError('complex division by zero')"""
import numpy as np

def f(a0):
    for i7 in range(0, -2, -1):
        a0 /= np.float64(i7)
    v19 = a0
    v23 = [v19, a0, a0, v19]
    return (v23, v19)

def arguments():
    return (2.5j,)
