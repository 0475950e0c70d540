"""What checks of indices cost: kernels with boundscheck=True beside the same without.

python bench/bounds.py [kernel ...]

On the device that is the default (NUMBUS_DEVICE). Both take turns, results are compared, times are
medians in milliseconds; a launch on a GPU is waited for.
"""

import statistics
import sys
import time

import numpy as np
from numbus import cuda, float32, njit, prange

R = np.random.default_rng(0)


def total(x, out):
    s = 0.0
    for i in range(x.size):
        s += x[i]
    out[0] = s


def axpy(a, x, y):
    for i in range(x.shape[0]):
        y[i] = a * x[i] + 1


def stencil(x, y):
    n, m = x.shape
    for i in prange(1, n - 1):
        for j in range(1, m - 1):
            y[i, j] = 0.25 * (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1])


def matmul(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = 0
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def gather(x, at, y):
    for k in range(at.size):
        y[k] = x[at[k]]


def running_sum(x, y):
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = y[i - 1] + x[i]


def grid_axpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + 1


def block_maximum(x, out):
    s = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    k = 128
    while k > 0:
        if t < k:
            s[t] = max(s[t], s[t + k])
        cuda.syncthreads()
        k //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


def tiled_matmul(a, b, c):
    sa = cuda.shared.array((16, 16), float32)
    sb = cuda.shared.array((16, 16), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    s = float32(0)
    for k in range(a.shape[1] // 16):
        sa[ty, tx] = a[y, tx + k * 16]
        sb[ty, tx] = b[ty + k * 16, x]
        cuda.syncthreads()
        for j in range(16):
            s += sa[ty, j] * sb[j, tx]
        cuda.syncthreads()
    c[y, x] = s


def heat(x, y):
    i, j = cuda.grid(2)
    if 0 < i < x.shape[0] - 1 and 0 < j < x.shape[1] - 1:
        y[i, j] = 0.25 * (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1])


def f32(*shape):
    return R.random(shape).astype(np.float32)


def on_grid(grid, block):
    return lambda f, check: cuda.jit(f, boundscheck=check)[grid, block]


def serial(f, check):
    return njit(f, boundscheck=check)


def parallel(f, check):
    return njit(f, boundscheck=check, parallel=True)


# The last argument is what a kernel writes.
KERNELS = {
    "njit: sum of 10⁷": (serial, total, (R.random(10**7), np.zeros(1))),
    "njit: a x + 1 of 10⁶": (serial, axpy, (2.0, R.random(10**6), np.zeros(10**6))),
    "njit: stencil 1000²": (serial, stencil, (R.random((1000, 1000)), np.zeros((1000, 1000)))),
    "njit: the same, prange": (parallel, stencil, (R.random((1000, 1000)), np.zeros((1000, 1000)))),
    "njit: matmul 200": (serial, matmul, (*R.random((2, 200, 200)), np.zeros((200, 200)))),
    "njit: gather of 10⁶": (
        serial,
        gather,
        (R.random(10**5), R.integers(0, 10**5, 10**6), np.zeros(10**6)),
    ),
    "njit: running sum of 10⁶": (serial, running_sum, (R.random(10**6), np.zeros(10**6))),
    "cuda: a x + 1 of 10⁶": (
        on_grid(3907, 256),
        grid_axpy,
        (2.0, R.random(10**6), np.zeros(10**6)),
    ),
    "cuda: block maximum of 2²⁰": (
        on_grid(4096, 256),
        block_maximum,
        (f32(2**20), np.zeros(4096, np.float32)),
    ),
    "cuda: tiled matmul 512": (
        on_grid((32, 32), (16, 16)),
        tiled_matmul,
        (f32(512, 512), f32(512, 512), np.zeros((512, 512), np.float32)),
    ),
    "cuda: heat 1024²": (
        on_grid((64, 64), (16, 16)),
        heat,
        (R.random((1024, 1024)), np.zeros((1024, 1024))),
    ),
}


def compare(make, function, args):
    """Median times without and with checks, in milliseconds."""
    runs, results = [make(function, check) for check in (False, True)], []
    grid = "cuda" in function.__code__.co_names
    if grid:
        args = [cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in args]
    for run in runs:
        args[-1][:] = 0
        run(*args)
        results.append(args[-1].copy_to_host() if grid else args[-1].copy())
    np.testing.assert_array_equal(*results)
    assert results[0].any()
    times = [[], []]
    end = time.perf_counter() + 2
    while time.perf_counter() < end or len(times[0]) < 5:
        for run, t in zip(runs, times, strict=True):
            start = time.perf_counter()
            run(*args)
            if grid:
                cuda.synchronize()
            t.append(time.perf_counter() - start)
    return [1e3 * statistics.median(t) for t in times]


def main():
    for name, (make, function, args) in KERNELS.items():
        if sys.argv[1:] and not any(word in name for word in sys.argv[1:]):
            continue
        plain, checked = compare(make, function, args)
        print(f"{name:28s} {plain:9.3f} {checked:9.3f} ms  {100 * (checked / plain - 1):+6.1f} %")


if __name__ == "__main__":
    main()
