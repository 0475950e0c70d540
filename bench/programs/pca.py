"""The main directions of a cloud of points, and the points seen along them.

Class: blas.
Method: principal components by the eigenvectors of the covariance; Pearson, 1901; Jolliffe.
"""

import numpy as np

SIZES = {"small": (3000, 32), "middle": (14000, 128), "large": (60000, 350)}


def setup(size, rng):
    n, features = size
    mixing = rng.standard_normal((features, features)) * 0.8 ** np.arange(features)
    return rng.standard_normal((n, features)) @ mixing.T + rng.random(features), 5


def run(x, count):
    centred = x - x.mean(axis=0)
    covariance = centred.T @ centred / (len(x) - 1)
    values, vectors = np.linalg.eigh(covariance)
    values, vectors = values[::-1][:count], vectors[:, ::-1][:, :count]
    vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(count)])
    scores = centred @ vectors
    return values, scores.var(axis=0), ((centred - scores @ vectors.T) ** 2).mean()
