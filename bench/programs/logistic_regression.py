"""Two classes of points told apart by a line that is learnt in small batches.

Class: small.
Method: stochastic gradient descent with momentum on the logistic loss; Bishop, 4.3.
"""

import numpy as np

SIZES = {"small": 4000, "middle": 110000, "large": 3700000}


def setup(n, rng):
    x = rng.standard_normal((n, 10))
    y = (x @ rng.standard_normal(10) + 0.3 * rng.standard_normal(n) > 0.0).astype(np.float64)
    return x, y


def run(x, y):
    w, momentum, bias = np.zeros(x.shape[1]), np.zeros(x.shape[1]), 0.0
    for low in range(0, x.shape[0], 32):
        part, want = x[low : low + 32], y[low : low + 32]
        p = 1.0 / (1.0 + np.exp(-(part @ w + bias)))
        error = p - want
        momentum = 0.9 * momentum + part.T @ error / error.size
        w = w - 0.1 * momentum
        bias = bias - 0.1 * error.mean()
    p = 1.0 / (1.0 + np.exp(-(x @ w + bias)))
    return np.append(w, bias), ((p > 0.5) == (y > 0.5)).mean()
