"""The largest value of each section of a signal, by atomics in global and in shared memory.

python examples/maximum_cuda.py                       with Numba and a GPU
python -m numbus examples/maximum_cuda.py             with or without a GPU
"""

import common
import numpy as np
from maximum import BLOCK, SECTIONS, length, show, signal
from numba import cuda, float32


@cuda.jit
def by_global(x, top):
    """All threads of a section queue up at one element of global memory."""
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.max(top, i // (x.size // SECTIONS), x[i])


@cuda.jit
def by_shared(x, top):
    """The threads of a block meet in its own fast memory; then one of them goes outside."""
    best = cuda.shared.array(1, float32)
    i = cuda.grid(1)
    if cuda.threadIdx.x == 0:
        best[0] = x[i]
    cuda.syncthreads()
    cuda.atomic.max(best, 0, x[i])
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.atomic.max(top, i // (x.size // SECTIONS), best[0])


def main():
    chosen = common.options(__doc__, 1 << 20, "values").parse_args()
    x = signal(length(chosen))
    there = cuda.to_device(x)
    lowest = np.full(SECTIONS, -np.inf, np.float32)
    results = []
    for kernel in (by_global, by_shared):
        top = cuda.to_device(lowest)

        def run(kernel=kernel, top=top):
            kernel[x.size // BLOCK, BLOCK](there, top)
            cuda.synchronize()

        common.timed(f"{kernel.__name__}, {x.size} values", run)
        results.append(top.copy_to_host())
    common.check("the kernels", *results, 0.0)
    show(chosen, x, results[1])


if __name__ == "__main__":
    main()
