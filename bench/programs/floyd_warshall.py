"""All shortest paths of a directed graph, a row of distances at a time.

Class: small.
Method: Floyd, 1962; Warshall, 1962.
"""

import numpy as np

SIZES = {"small": 30, "middle": 160, "large": 800}


def setup(n, rng):
    weights = rng.uniform(1.0, 10.0, (n, n))
    weights[rng.random((n, n)) < 0.7] = np.inf
    np.fill_diagonal(weights, 0.0)
    return (weights,)


def run(weights):
    d = weights.copy()
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            d[i] = np.minimum(d[i], d[i, k] + d[k])
    return d
