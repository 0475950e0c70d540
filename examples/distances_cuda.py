"""Distances between all pairs of random points in space, by a kernel: a thread for each pair.

python examples/distances_cuda.py                     with Numba and a GPU
python -m numbus examples/distances_cuda.py           with or without a GPU
"""

import math

import common
import numpy as np
from distances import points, show
from numba import cuda


@cuda.jit
def distances(p, out):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        total = 0.0
        for k in range(p.shape[1]):
            d = p[i, k] - p[j, k]
            total += d * d
        out[i, j] = math.sqrt(total)


def main():
    chosen = common.options(__doc__, 1000, "points").parse_args()
    n = chosen.size
    p = cuda.to_device(points(n))
    out = cuda.device_array((n, n), np.float64)
    blocks = (n + 15) // 16

    def run():
        distances[(blocks, blocks), (16, 16)](p, out)
        cuda.synchronize()

    common.timed(f"{n} points", run)
    show(chosen, out.copy_to_host())


if __name__ == "__main__":
    main()
