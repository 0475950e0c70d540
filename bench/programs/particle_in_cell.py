"""Two beams of electrons that pass through each other.

Class: fused.
Method: particle in cell in one dimension, linear weighting, the field by FFT; Birdsall and
Langdon, 1985.
"""

import numpy as np

SIZES = {"small": (3000, 64, 10), "middle": (60000, 128, 22), "large": (1000000, 512, 24)}


def setup(size, rng):
    n, cells, steps = size
    x = rng.random(n) * cells
    v = np.where(np.arange(n) % 2 == 0, 1.0, -1.0) + 0.05 * rng.standard_normal(n)
    return x, v, cells, steps


def field(x, cells):
    left = np.floor(x).astype(np.int64)
    part = x - left
    left, right = left % cells, (left + 1) % cells
    density = np.bincount(left, weights=1.0 - part, minlength=cells)
    density = density + np.bincount(right, weights=part, minlength=cells)
    density = density * cells / x.size - 1.0
    k = 2.0 * np.pi * np.fft.rfftfreq(cells)
    k[0] = 1.0
    spectrum = -np.fft.rfft(density) / (1j * k)
    spectrum[0] = 0.0
    e = np.fft.irfft(spectrum, cells)
    return e[left] * (1.0 - part) + e[right] * part, (e * e).sum()


def run(x, v, cells, steps):
    h = 0.1
    energy = np.empty(steps)
    for step in range(steps):
        force, energy[step] = field(x, cells)
        v = v - h * force
        x = (x + h * v) % cells
    return v, energy
