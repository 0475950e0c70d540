"""seed 23072: np.interp compares with the last point first."""
import numpy as np


def f(a0, a1):
    return np.interp(1.0, a0, a0), np.interp(a1, a1, a0)


def arguments():
    return (np.array([2.0, 0.0, 0.0]), np.array([1.0, 5.0, 2.0, 4.0, 3.0, 0.0])[:3])
