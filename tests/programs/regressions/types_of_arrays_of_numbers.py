"""seeds 29194, 38077, 51154, 51446: of which type arrays are that are made with Python's numbers."""
import numpy as np

G1 = False


def f(a0, a1, a2):
    return a0**2, np.gcd(a1, G1), np.arange(0, a2), np.arange(a2, 9.0)


def arguments():
    return (np.array([True, False]), np.array([4, 9, 4], dtype=np.uint8), np.float32(3.5))
