"""What C's operators and functions do that Python's do not, for code that compiles."""

import numpy as np


def divide(a, b):
    """C's a / b of integers: towards zero."""
    return (a - np.fmod(a, b)) // b


def round_away(x):
    """C's round(): halves go away from zero."""
    t = np.trunc(x)
    if np.abs(x - t) >= 0.5:
        return t + np.copysign(x * 0 + 1, x)
    return t


def positive_difference(a, b):
    """C's fdim()."""
    return a - b if a > b else a * 0
