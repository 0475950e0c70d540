"""The field that heat diffusion began with, found from the one that it ended with: the gradient of
a misfit through all steps, which are written as plain slices.

python examples/inverse_heat.py                       draws inverse_heat.png
python examples/inverse_heat.py --size 64 --steps 50 --iterations 100
"""

import time

import common
import numbus as nb
import numpy as np


def hidden(n):
    """A cold plate with warm letters: T, and a spot."""
    u = np.zeros((n, n))
    u[n // 6 : n // 4, n // 6 : n // 2] = 1.0
    u[n // 6 : 5 * n // 6, 7 * n // 24 : 9 * n // 24] = 1.0
    y, x = np.indices((n, n)) / n
    return u + (np.hypot(y - 0.55, x - 0.7) < 0.12)


def diffuse(u, steps):
    """So many explicit steps of the heat equation, in place."""
    for _ in range(steps):
        inner = u[1:-1, 1:-1]
        u[1:-1, 1:-1] = inner + 0.2 * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * inner
        )
    return u


def recover(seen, steps, iterations):
    """The initial field, zero at its edges, whose diffusion comes closest to `seen`, and the misfit
    before each iteration of Nesterov's accelerated descent.
    """

    def misfit(inner):
        u = nb.zeros(seen.shape)
        u[1:-1, 1:-1] = inner
        return ((diffuse(u, steps) - seen) ** 2).sum()

    slope = nb.value_and_grad(misfit)
    u = nb.zeros((seen.shape[0] - 2, seen.shape[1] - 2))
    ahead, misfits = u, []
    for k in range(iterations):
        value, gradient = slope(ahead)
        # No step of diffusion raises the norm, so that the curvature is 2 at most.
        moved = nb.clip(ahead - 0.5 * gradient, 0, 1)
        ahead = moved + k / (k + 3) * (moved - u)
        u = moved
        misfits.append(float(value))
    return nb.pad(u, 1), misfits


def main():
    parser = common.options(__doc__, 128, "points along an edge")
    parser.add_argument("--steps", type=common.count, default=200, help="of diffusion")
    parser.add_argument("--iterations", type=common.count, default=300, help="of the descent")
    args = parser.parse_args()
    truth = hidden(args.size)
    seen = diffuse(nb.array(truth), args.steps)
    start = time.perf_counter()
    found, misfits = recover(seen, args.steps, args.iterations)
    seconds = time.perf_counter() - start
    found = common.host(found)
    blurred = common.host(seen)
    print(
        f"{args.iterations} gradients through {args.steps} steps of {args.size}²: {seconds:.2f} s"
    )
    print(f"misfit {misfits[0]:.3g}, in the end {misfits[-1]:.3g}")
    print(f"distance from the hidden field: seen {np.linalg.norm(blurred - truth):.3g}, ", end="")
    print(f"found {np.linalg.norm(found - truth):.3g}")
    common.save(args, found)
    both = [truth, np.clip(blurred, 0, 1), found]
    common.colour_map(np.hstack([np.pad(f, 2) for f in both]), args.picture)


if __name__ == "__main__":
    main()
