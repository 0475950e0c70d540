"""Adding vectors by a kernel, and universal functions of one's own.

python examples/vectors_numba.py                      by Numba; the kernel needs a GPU
python -m numbus examples/vectors_numba.py            with or without a GPU
"""

import math

import common
import numpy as np
from numba import cuda, guvectorize, vectorize
from vectors import WIDTH, show, signals


@cuda.jit
def add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:  # the last block reaches beyond the end
        out[i] = a[i] + b[i]


@vectorize(["float64(float64, float64)"])
def wave(x, damping):
    """Of numbers; applied to arrays it works element by element and broadcasts."""
    return math.exp(-damping * x) * math.cos(40 * x)


@guvectorize(["void(float64[:], int64, float64[:])"], "(n),()->(n)")
def running_mean(a, width, out):
    """Of one vector; applied to arrays with more dimensions it works on each row."""
    total = 0.0
    for i in range(a.size):
        total += a[i]
        if i >= width:
            total -= a[i - width]
        out[i] = total / min(i + 1, width)


def main():
    chosen = common.options(__doc__, 1_000_000, "elements").parse_args()
    n = chosen.size
    noise, x = signals(n)
    clean = common.timed("a function of each element", wave, x, 4.0)
    a, b = cuda.to_device(clean), cuda.to_device(0.2 * noise)
    out = cuda.device_array(n, np.float64)

    def run():
        add[(n + 255) // 256, 256](a, b, out)
        cuda.synchronize()

    common.timed("the sum of two vectors", run)
    total = out.copy_to_host()
    mean = common.timed("a running mean", running_mean, total, WIDTH)
    show(chosen, total, mean, clean)


if __name__ == "__main__":
    main()
