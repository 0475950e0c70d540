"""The Yule-Walker equations of an autoregressive model, order by order.

Class: loops.
Method: Levinson-Durbin recursion; Golub and Van Loan, 4.7.
"""

import numpy as np

SIZES = {"small": 420, "middle": 5400, "large": 40000}


def setup(n, rng):
    noise = 0.001 * rng.standard_normal(n)
    return (0.4 ** np.arange(1, n + 1) + noise / n,)


def run(r):
    n = r.size
    y = np.empty(n)
    alpha, beta = -r[0], 1.0
    y[0] = -r[0]
    for k in range(1, n):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + r[:k][::-1] @ y[:k]) / beta
        y[:k] += alpha * y[:k][::-1]
        y[k] = alpha
    return y
