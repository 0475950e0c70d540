"""[njit] got [(554, 0), (554, 0)]; want OverflowError('math range error')"""
import math


def f(a1):
    v9 = a1
    v11 = math.gamma(v9)
    v12 = [(a1, 0), (a1, 0)]
    return v12

def arguments():
    return (554,)
