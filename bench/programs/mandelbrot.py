"""Escape times of the Mandelbrot set, iterating only the points that have not escaped yet.

Class: fused.
Method: z <- z^2 + c with compaction of the arrays after every iteration.
"""

import numpy as np

SIZES = {"small": (90, 70), "middle": (420, 150), "large": (1600, 150)}


def setup(size, rng):
    n, iterations = size
    x = np.linspace(-2.0, 0.6, n)
    y = np.linspace(-1.3, 1.3, n)
    return (x[None, :] + 1j * y[:, None]).ravel(), iterations


def run(points, iterations):
    escaped = np.full(points.size, iterations)
    index = np.arange(points.size)
    c = points
    z = np.zeros_like(c)
    for step in range(iterations):
        z = z * z + c
        out = z.real**2 + z.imag**2 > 4.0
        escaped[index[out]] = step
        stay = ~out
        index, z, c = index[stay], z[stay], c[stay]
    return escaped
