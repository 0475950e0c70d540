"""The edges of an image: smoothed, differentiated, thinned, thresholded.

Class: fused.
Method: a separable Gaussian, Sobel's gradient, the two-threshold part of Canny, 1986.
"""

import numpy as np

SIZES = {"small": 130, "middle": 650, "large": 3300}


def setup(n, rng):
    x = np.linspace(-1.0, 1.0, n)
    disc = (x[:, None] ** 2 + x[None, :] ** 2 < 0.4).astype(np.float64)
    return (disc + 0.2 * rng.random((n, n)),)


def run(image):
    kernel = np.exp(-0.5 * (np.arange(-3, 4) / 1.4) ** 2)
    kernel = kernel / kernel.sum()
    n = image.shape[0]
    padded = np.pad(image, 3, mode="edge")
    rows = sum(kernel[k] * padded[k : k + n] for k in range(7))
    smooth = sum(kernel[k] * rows[:, k : k + n] for k in range(7))
    p = np.pad(smooth, 1, mode="edge")
    gx = p[:-2, 2:] - p[:-2, :-2] + 2.0 * (p[1:-1, 2:] - p[1:-1, :-2]) + p[2:, 2:] - p[2:, :-2]
    gy = p[2:, :-2] - p[:-2, :-2] + 2.0 * (p[2:, 1:-1] - p[:-2, 1:-1]) + p[2:, 2:] - p[:-2, 2:]
    size = np.hypot(gx, gy)
    q = np.pad(size, 1)
    steep = np.abs(gy) > np.abs(gx)
    one = np.where(steep, q[:-2, 1:-1], q[1:-1, :-2])
    two = np.where(steep, q[2:, 1:-1], q[1:-1, 2:])
    thin = np.where((size >= one) & (size >= two), size, 0.0)
    strong, weak = thin > 1.0, thin > 0.4
    w = np.pad(strong, 1)
    near = w[:-2, 1:-1] | w[2:, 1:-1] | w[1:-1, :-2] | w[1:-1, 2:]
    return size, strong | (weak & near)
