"""Matrix product by kernels: naive, and with tiles in shared memory.

python examples/matmul_cuda.py                        with Numba and a GPU
python -m numbus examples/matmul_cuda.py              with or without a GPU
"""

import common
import numpy as np
from matmul import waves
from numba import cuda, float32

TILE = 16  # a block computes TILE × TILE elements


@cuda.jit
def naive(a, b, c):
    """A thread reads a row of a and a column of b from global memory."""
    i, j = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        total = float32(0.0)
        for k in range(a.shape[1]):
            total += a[i, k] * b[k, j]
        c[i, j] = total


@cuda.jit
def shared(a, b, c):
    """A block reads each tile of a and of b once, and its threads share them."""
    ta = cuda.shared.array((TILE, TILE), float32)
    tb = cuda.shared.array((TILE, TILE), float32)
    i, j = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0.0)
    for tile in range((a.shape[1] + TILE - 1) // TILE):
        k = tile * TILE
        ta[x, y] = a[i, k + y] if i < a.shape[0] and k + y < a.shape[1] else float32(0.0)
        tb[x, y] = b[k + x, j] if k + x < b.shape[0] and j < b.shape[1] else float32(0.0)
        cuda.syncthreads()  # both tiles are complete
        for m in range(TILE):
            total += ta[x, m] * tb[m, y]
        cuda.syncthreads()  # all have read them
    if i < c.shape[0] and j < c.shape[1]:
        c[i, j] = total


def main():
    parser = common.options(__doc__, 512, "rows and columns")
    chosen = parser.parse_args()
    n = chosen.size
    a, b = waves(n)
    da, db = cuda.to_device(a), cuda.to_device(b)
    blocks = (n + TILE - 1) // TILE
    results = []
    for kernel in (naive, shared):
        out = cuda.device_array((n, n), np.float32)

        def run(kernel=kernel, out=out):
            kernel[(blocks, blocks), (TILE, TILE)](da, db, out)
            cuda.synchronize()

        common.timed(f"{n}², {kernel.__name__}", run)
        results.append(out.copy_to_host())
    common.check("the kernels", *results, 1e-4 * n)
    common.check("shared beside the library", results[1], a @ b, 1e-4 * n)
    common.save(chosen, results[1])
    common.colour_map(results[1], chosen.picture)


if __name__ == "__main__":
    main()
