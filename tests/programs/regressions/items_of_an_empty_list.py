"""seed 447609: a list without items has a type, which a name that gets their product has, too."""
import math


def f(a3, a4):
    w8 = 0
    while w8:
        a3 = math.prod([0.0] * 0)
        a4 = sum([1.5][w8:0])
    return a3, a4


def arguments():
    return (0, 1)
