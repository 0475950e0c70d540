"""[njit] CompileError: [jit] 'v11' carries a value from one turn of a parallel loop to the next, but turns have no order; want no error"""
from numbus import prange


def f(a0, a1):
    a0 %= a1 != 0.0 < a1 >> 0
    v11 = a0
    for i10 in prange(0):
        v11 += a1

def arguments():
    return (0, 1)
