"""A net with one hidden layer that learns by hand-written gradients, in minibatches.

Class: blas.
Method: backpropagation (Rumelhart, Hinton and Williams, 1986), softmax and cross-entropy.
"""

import numpy as np

SIZES = {"small": (2048, 16, 16), "middle": (30000, 64, 64), "large": (26000, 128, 256)}
BATCH = 64


def setup(size, rng):
    n, inputs, hidden = size
    x = rng.standard_normal((n, inputs))
    labels = (x[:, :4] @ rng.standard_normal((4, 5))).argmax(axis=1)
    w1 = rng.standard_normal((inputs, hidden)) / np.sqrt(inputs)
    w2 = rng.standard_normal((hidden, 5)) / np.sqrt(hidden)
    return x, np.eye(5)[labels], w1, w2


def run(x, y, w1, w2):
    b1, b2 = np.zeros(w1.shape[1]), np.zeros(w2.shape[1])
    losses = []
    for low in range(0, len(x), BATCH):
        xb, yb = x[low : low + BATCH], y[low : low + BATCH]
        h = np.maximum(xb @ w1 + b1, 0.0)
        scores = h @ w2 + b2
        e = np.exp(scores - scores.max(axis=1, keepdims=True))
        p = e / e.sum(axis=1, keepdims=True)
        losses.append(-(yb * np.log(p)).sum() / len(xb))
        d2 = (p - yb) / len(xb)
        d1 = (d2 @ w2.T) * (h > 0)
        w2 = w2 - 0.1 * (h.T @ d2)
        b2 = b2 - 0.1 * d2.sum(axis=0)
        w1 = w1 - 0.1 * (xb.T @ d1)
        b1 = b1 - 0.1 * d1.sum(axis=0)
    return np.array(losses), w1, w2
