"""The most likely path through the states of a hidden Markov model.

Class: small.
Method: Viterbi's algorithm on logarithms; Rabiner, 1989.
"""

import numpy as np

SIZES = {"small": (250, 12), "middle": (7000, 16), "large": (60000, 64)}


def setup(size, rng):
    steps, states = size
    log_move = np.log(rng.dirichlet(np.ones(states), states))
    log_emit = np.log(rng.dirichlet(np.ones(8), states))
    return log_move, log_emit, rng.integers(0, 8, steps)


def run(log_move, log_emit, observed):
    steps, states = observed.size, log_move.shape[0]
    best = log_emit[:, observed[0]] - np.log(states)
    back = np.zeros((steps, states), dtype=np.int64)
    for t in range(1, steps):
        scores = best[:, None] + log_move
        back[t] = scores.argmax(axis=0)
        best = scores.max(axis=0) + log_emit[:, observed[t]]
    path = np.empty(steps, dtype=np.int64)
    path[-1] = best.argmax()
    for t in range(steps - 1, 0, -1):
        path[t - 1] = back[t, path[t]]
    return path, best.max()
