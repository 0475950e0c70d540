"""Low points of Rosenbrock's function, sought without derivatives from several starts.

Class: small.
Method: the downhill simplex of Nelder and Mead, 1965, for a fixed number of iterations.
"""

import numpy as np

SIZES = {"small": 1, "middle": 28, "large": 900}


def setup(starts, rng):
    return rng.uniform(-1.0, 1.0, (starts, 6)), 80


def cost(x):
    return (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2).sum()


def search(start, iterations):
    simplex = np.concatenate((start[None], start + 0.5 * np.eye(start.size)))
    f = np.array([cost(x) for x in simplex])
    for _ in range(iterations):
        order = np.argsort(f)
        simplex, f = simplex[order], f[order]
        centre = simplex[:-1].mean(axis=0)
        mirrored = 2.0 * centre - simplex[-1]
        value = cost(mirrored)
        if value < f[0]:
            further = 3.0 * centre - 2.0 * simplex[-1]
            far = cost(further)
            simplex[-1], f[-1] = (further, far) if far < value else (mirrored, value)
        elif value < f[-2]:
            simplex[-1], f[-1] = mirrored, value
        else:
            nearer = 0.5 * (centre + simplex[-1])
            near = cost(nearer)
            if near < f[-1]:
                simplex[-1], f[-1] = nearer, near
            else:
                simplex[1:] = 0.5 * (simplex[1:] + simplex[0])
                f[1:] = np.array([cost(x) for x in simplex[1:]])
    return f.min()


def run(starts, iterations):
    return np.array([search(start, iterations) for start in starts])
