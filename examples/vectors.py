"""Adding vectors, and functions that are applied element by element, by arrays.

python examples/vectors.py [--module cupy]
python -m numbus examples/vectors.py [--module cupy]
"""

import common
import numpy as np

WIDTH = 50  # elements that a running mean takes in


def signals(n):
    """Two vectors of length n: noise, and positions from 0 to 1."""
    return np.random.default_rng(5).standard_normal(n), np.linspace(0, 1, n)


def add(a, b):
    return a + b


def wave(xp, x):
    """A damped oscillation."""
    return xp.exp(-4 * x) * xp.cos(40 * x)


def running_mean(xp, a):
    """The mean of each element and the WIDTH - 1 before it; of fewer at the beginning."""
    sums = xp.cumsum(a)
    sums[WIDTH:] = sums[WIDTH:] - sums[:-WIDTH]
    return sums / xp.minimum(xp.arange(1, a.size + 1), WIDTH)


def show(chosen, total, mean, clean):
    """Saves the three vectors and draws a few hundred positions of each."""
    common.save(chosen, np.stack([total, mean, clean]))
    every = max(1, chosen.size // 600)
    lines = {"wave + noise": total, "running mean": mean, "wave": clean}
    common.curves({name: line[::every] for name, line in lines.items()}, chosen.picture)


def main():
    chosen = common.array_options(__doc__, 1_000_000, "elements").parse_args()
    xp = common.array_module(chosen.module)
    noise, x = (xp.asarray(v) for v in signals(chosen.size))
    clean = common.timed("a function of each element", wave, xp, x, xp=xp)
    total = common.timed("the sum of two vectors", add, clean, 0.2 * noise, xp=xp)
    mean = common.timed("a running mean", running_mean, xp, total, xp=xp)
    show(chosen, *(common.host(v) for v in (total, mean, clean)))


if __name__ == "__main__":
    main()
