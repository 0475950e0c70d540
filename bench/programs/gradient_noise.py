"""A landscape of smooth noise, several octaves.

Class: fused.
Method: Perlin's improved noise, 2002: hashed gradients at lattice points, a quintic fade between
them.
"""

import numpy as np

SIZES = {"small": (65, 3), "middle": (260, 4), "large": (1400, 5)}


def setup(size, rng):
    n, octaves = size
    table = rng.permutation(256)
    angle = 2.0 * np.pi * rng.random(256)
    return np.concatenate((table, table)), np.cos(angle), np.sin(angle), n, octaves


def noise(x, y, table, gx, gy):
    xi, yi = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
    xf, yf = x - xi, y - yi
    xi, yi = xi & 255, yi & 255
    u = xf * xf * xf * (xf * (6.0 * xf - 15.0) + 10.0)
    v = yf * yf * yf * (yf * (6.0 * yf - 15.0) + 10.0)

    def corner(i, j):
        h = table[table[xi + i] + yi + j]
        return gx[h] * (xf - i) + gy[h] * (yf - j)

    low = corner(0, 0) + u * (corner(1, 0) - corner(0, 0))
    high = corner(0, 1) + u * (corner(1, 1) - corner(0, 1))
    return low + v * (high - low)


def run(table, gx, gy, n, octaves):
    x, y = np.meshgrid(np.linspace(0.0, 8.0, n), np.linspace(0.0, 8.0, n))
    out = np.zeros((n, n))
    for octave in range(octaves):
        out += 0.5**octave * noise(2.0**octave * x, 2.0**octave * y, table, gx, gy)
    return out
