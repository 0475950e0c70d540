"""The discrete Fourier transform of a sequence whose length is a power of two.

Class: fused.
Method: Stockham's self-sorting radix-2 stages; Van Loan, Computational Frameworks for the FFT,
1.7.
"""

import numpy as np

SIZES = {"small": 16384, "middle": 262144, "large": 2097152}


def setup(n, rng):
    return (rng.standard_normal(n) + 1j * rng.standard_normal(n),)


def run(x):
    n = x.size
    y = x.reshape(1, n)
    half = 1
    while half < n:
        even, odd = y[:, : y.shape[1] // 2], y[:, y.shape[1] // 2 :]
        twiddle = np.exp(-1j * np.pi * np.arange(half) / half)[:, None]
        odd = twiddle * odd
        y = np.concatenate((even + odd, even - odd), axis=0)
        half *= 2
    return y.ravel()
