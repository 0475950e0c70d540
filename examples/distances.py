"""Distances between all pairs of random points in space, by arrays.

python examples/distances.py [--module cupy]
python -m numbus examples/distances.py [--module cupy]
"""

import common
import numpy as np


def points(n):
    """n points of the unit cube, the first in its lowest layer of n, the last in its highest."""
    p = np.random.default_rng(7).random((n, 3))
    p[:, 0] = (p[:, 0] + np.arange(n)) / n
    return p


def distances(xp, p):
    """The matrix of Euclidean distances; no array is larger than the result."""
    squares = 0.0
    for k in range(3):
        d = p[:, None, k] - p[None, :, k]
        squares = squares + d * d
    return xp.sqrt(squares)


def show(chosen, d):
    """Saves the distances and draws some 400 rows and columns of them."""
    common.save(chosen, d)
    every = -(-chosen.size // 400)
    common.colour_map(d[::every, ::every], chosen.picture, "sea")


def main():
    chosen = common.array_options(__doc__, 1000, "points").parse_args()
    xp = common.array_module(chosen.module)
    p = xp.asarray(points(chosen.size))
    d = common.host(common.timed(f"{chosen.size} points", distances, xp, p, xp=xp))
    show(chosen, d)


if __name__ == "__main__":
    main()
