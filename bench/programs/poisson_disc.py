"""Points in a square, no two of them closer than a radius.

Class: small.
Method: Bridson, Fast Poisson disk sampling in arbitrary dimensions, 2007: candidates around
active points, a grid of cells to look for neighbours.
"""

import numpy as np

SIZES = {"small": 0.27, "middle": 0.052, "large": 0.009}


def setup(radius, rng):
    return radius, int(rng.integers(1 << 30))


def run(radius, seed):
    rng = np.random.default_rng(seed)
    cell = radius / np.sqrt(2.0)
    side = int(np.ceil(1.0 / cell)) + 4
    grid = np.full((side, side, 2), 10.0)
    first = rng.random(2)
    points, active = [first], [0]
    grid[int(first[0] / cell) + 2, int(first[1] / cell) + 2] = first
    while active:
        chosen = int(rng.integers(len(active)))
        centre = points[active[chosen]]
        draws = rng.random((20, 2))
        angle = 2.0 * np.pi * draws[:, 0]
        far = radius * (1.0 + draws[:, 1])
        candidates = centre + far[:, None] * np.stack((np.cos(angle), np.sin(angle)), axis=1)
        inside = ((candidates >= 0.0) & (candidates < 1.0)).all(axis=1)
        for candidate in candidates[inside]:
            i, j = int(candidate[0] / cell) + 2, int(candidate[1] / cell) + 2
            near = grid[i - 2 : i + 3, j - 2 : j + 3] - candidate
            if ((near * near).sum(axis=2) >= radius * radius).all():
                active.append(len(points))
                points.append(candidate)
                grid[i, j] = candidate
                break
        else:
            active.pop(chosen)
    return np.array(points)
