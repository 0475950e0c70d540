"""Heat diffusion with a source by kernels: Jacobi steps, a thread for each point.

python examples/heat_cuda.py                          with Numba and a GPU
python -m numbus examples/heat_cuda.py                with or without a GPU
"""

import math
import time

import common
import numpy as np
from heat import middle
from numba import cuda, float64

SIDE = 16  # points a side of a block


@cuda.jit
def step(p, q, f, squares):
    """The new field q, and in squares[0] the sum of the squared changes."""
    changes = cuda.shared.array((SIDE, SIDE), float64)
    i, j = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    changes[x, y] = 0.0
    if 0 < i < p.shape[0] - 1 and 0 < j < p.shape[1] - 1:
        q[i, j] = 0.25 * (p[i - 1, j] + p[i + 1, j] + p[i, j - 1] + p[i, j + 1] + f[i, j])
        changes[x, y] = (q[i, j] - p[i, j]) ** 2
    half = SIDE // 2
    while half > 0:  # rows of the block are added to rows, until one is left
        cuda.syncthreads()
        if x < half:
            changes[x, y] += changes[x + half, y]
        half //= 2
    if x == 0:
        cuda.atomic.add(squares, 0, changes[0, y])


def main():
    parser = common.options(__doc__, 256, "points a side")
    parser.add_argument("--tolerance", type=float, default=1e-4, help="(default: %(default)s)")
    chosen = parser.parse_args()
    p, f = (cuda.to_device(a) for a in middle(chosen.size))
    q = cuda.to_device(np.zeros((chosen.size, chosen.size)))
    blocks = (chosen.size + SIDE - 1) // SIDE
    nothing = np.zeros(1)
    squares = cuda.to_device(nothing)
    start = time.perf_counter()
    steps, change = 0, np.inf
    while change > chosen.tolerance:
        squares.copy_to_device(nothing)
        step[(blocks, blocks), (SIDE, SIDE)](p, q, f, squares)
        change = math.sqrt(squares.copy_to_host()[0])
        p, q = q, p
        steps += 1
    speed = steps / (time.perf_counter() - start)
    print(f"{chosen.size}²: at rest after {steps} steps, {speed:.0f} steps/s")
    field = p.copy_to_host()
    common.save(chosen, field)
    common.colour_map(np.sqrt(field), chosen.picture)


if __name__ == "__main__":
    main()
