"""Ordinary, pinned and mapped memory of the host, by a kernel: how fast a GPU gets at each.

python examples/memory_cuda.py                        with Numba and a GPU
python -m numbus examples/memory_cuda.py              with or without a GPU
"""

import common
import numpy as np
from memory import measure, show, values
from numba import cuda


@cuda.jit
def line(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = 2.0 * x[i] + 1.0


def copied(x, y):
    """Copied to the GPU and back: from ordinary memory by way of the driver's own pinned memory,
    from pinned memory directly.
    """
    a, b = cuda.to_device(x), cuda.device_array(x.size)
    line[(x.size + 255) // 256, 256](a, b)
    b.copy_to_host(y)


def in_place(x, y):
    """The GPU reads and writes the host's memory over the link."""
    line[(x.size + 255) // 256, 256](x, y)
    cuda.synchronize()


def main():
    chosen = common.options(__doc__, 1 << 22, "values").parse_args()
    n = chosen.size
    x = values(n)
    results, rates = {}, {}
    for way, make, function in (
        ("ordinary", np.empty, copied),
        ("pinned", cuda.pinned_array, copied),
        ("mapped", cuda.mapped_array, in_place),
    ):
        a, b = make(n), make(n)
        a[:] = x
        measure(results, rates, way, b, function, a, b)
    show(chosen, results, rates)


if __name__ == "__main__":
    main()
