"""Mandelbrot and Julia sets by a kernel: each point has a loop of its own.

python examples/mandelbrot_kernel.py [--julia]                by Numba, on the CPU's cores
python examples/mandelbrot_kernel.py [--julia] --cuda         by Numba, on a GPU
python -m numbus examples/mandelbrot_kernel.py [--julia] [--cuda]      with or without a GPU
"""

import common
import numpy as np
from mandelbrot import arguments, plane, show
from numba import cuda, njit, prange


def escape(c, z, steps):
    """The number of steps that z stays within |z| <= 2."""
    for k in range(steps):
        z = z * z + c
        if z.real * z.real + z.imag * z.imag > 4.0:
            return k
    return steps


escape_here = njit(escape)
escape_there = cuda.jit(device=True)(escape)


@njit(parallel=True)
def by_cores(c, z, steps, out):
    """An iteration of the outer loop is one row."""
    for i in prange(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = escape_here(c[i, j], z[i, j], steps)


@cuda.jit
def by_threads(c, z, steps, out):
    """A thread is one point."""
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = escape_there(c[i, j], z[i, j], steps)


def main():
    parser = arguments(__doc__, common.options)
    parser.add_argument("--cuda", action="store_true", help="a thread of a grid for each point")
    chosen = parser.parse_args()
    c, z = plane(np, chosen.size, chosen.julia)
    title = f"{chosen.size}², {chosen.steps} steps"
    if chosen.cuda:
        c, z = cuda.to_device(c), cuda.to_device(z)
        out = cuda.device_array(c.shape, np.int32)
        blocks = ((chosen.size + 31) // 32, (chosen.size + 7) // 8)

        def run():
            by_threads[blocks, (32, 8)](c, z, chosen.steps, out)
            cuda.synchronize()

        common.timed(title, run)
        count = out.copy_to_host()
    else:
        count = np.zeros(c.shape, np.int32)
        common.timed(title, by_cores, c, z, chosen.steps, count)
    show(chosen, count)


if __name__ == "__main__":
    main()
