"""Echoes of a chirp found in noise.

Class: fused.
Method: correlation with the pulse sent, an envelope, peaks above a threshold; Turin, 1960.
"""

import numpy as np

SIZES = {"small": (40000, 100), "middle": (600000, 300), "large": (4000000, 1000)}


def setup(size, rng):
    n, length = size
    t = np.arange(length) / length
    pulse = np.sin(2.0 * np.pi * (5.0 * t + 20.0 * t * t)) * np.hanning(length)
    signal = 0.5 * rng.standard_normal(n)
    for start in rng.integers(0, n - length, 5):
        signal[int(start) : int(start) + length] += pulse
    return signal, pulse


def run(signal, pulse):
    found = np.convolve(signal, pulse[::-1], mode="same")
    power = found**2
    envelope = np.convolve(power, np.ones(11) / 11.0, mode="same")
    level = envelope.mean() + 4.0 * envelope.std()
    peak = (envelope[1:-1] > envelope[:-2]) & (envelope[1:-1] >= envelope[2:])
    at = np.nonzero(peak & (envelope[1:-1] > level))[0] + 1
    return envelope, at
