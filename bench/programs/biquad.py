"""A recursive low-pass filter over a signal, sample by sample.

Class: loops.
Method: a second-order section, direct form II transposed; Oppenheim and Schafer, 6.3.
"""

import numpy as np

SIZES = {"small": 2100, "middle": 64000, "large": 2100000}


def setup(n, rng):
    signal = np.sin(0.02 * np.arange(n)) + 0.3 * rng.standard_normal(n)
    b = np.array([0.0675, 0.1349, 0.0675])
    a = np.array([1.0, -1.143, 0.4128])
    return signal, b, a


def run(signal, b, a):
    out = np.empty_like(signal)
    s1 = s2 = 0.0
    for i in range(signal.size):
        x = signal[i]
        y = b[0] * x + s1
        s1 = b[1] * x - a[1] * y + s2
        s2 = b[2] * x - a[2] * y
        out[i] = y
    return out
