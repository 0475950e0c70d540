"""seed 471314: a sum of prange that starts as an int and adds floats, also where nothing is added."""
from numbus import prange


def f(a0, n):
    v1 = v2 = v3 = 4
    for i in prange(0):
        v1 += a0
    for i in prange(n):
        v2 += max(a0, i)
    for i in prange(n):
        v3 = min(v3, i * a0)
    return v1, v2, v3


def arguments():
    return (0.5, 5)
