"""What checks of indices cost: kernels with boundscheck=True beside the same with False.

    python bench/bounds.py [--device cpu|cuda] [--seconds S] [word of a name ...]

`njit` kernels run on the CPU, `cuda` kernels on that device: with a GPU, only these run. The two
alternate, results are compared, times are medians in milliseconds; a launch on a GPU is waited for.
"compiling" is what the first call takes longer, in a process that has compiled other functions.
"""

import argparse
import os
import statistics
import time

import numpy as np

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument("--device", choices=["cpu", "cuda"], default=os.environ.get("NUMBUS_DEVICE"))
parser.add_argument("--seconds", type=float, default=2.0)
parser.add_argument("words", nargs="*")
CHOSEN = parser.parse_args()
if CHOSEN.device:
    os.environ["NUMBUS_DEVICE"] = CHOSEN.device
os.environ.setdefault("NUMBUS_CACHE", "0")

from numbus import cuda, float32, njit, prange  # noqa: E402

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


def three_points(x, y):
    for i in range(1, len(x) - 1):
        y[i] = 0.25 * x[i - 1] + 0.5 * x[i] + 0.25 * x[i + 1]


def ring(x, y):
    n = len(x)
    for i in range(n):
        y[i] = x[i] - x[i - 1] + x[(i + 1) % n]


def nested(x, y):
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            y[i, j] = x[i, j] * 2.0 + x[i, 0]


def flat(x, w, y):
    for i in range(y.size // w):
        for j in range(w):
            y[i * w + j] = x[i * w + j] + 1.0


def recurrence(at, x, y):
    y[0] = 0.0
    for i in range(1, len(at)):
        y[i] = y[i - 1] + x[at[i]]


def bubble(x, y):
    for i in range(len(x)):
        y[i] = x[i]
    n = len(y)
    while n > 1:
        last = 0
        for i in range(1, n):
            if y[i - 1] > y[i]:
                y[i - 1], y[i] = y[i], y[i - 1]
                last = i
        n = last


def insertion(x, y):
    for i in range(len(x)):
        v = x[i]
        j = i
        while j > 0 and y[j - 1] > v:
            y[j] = y[j - 1]
            j -= 1
        y[j] = v


def histogram(x, y):
    for i in range(len(x)):
        y[x[i]] += 1


def histogram_of_floats(x, y):
    n = len(y)
    for i in range(len(x)):
        y[int(x[i] * n)] += 1


def sieve(y):
    y[:] = 1
    y[0] = y[1] = 0
    i = 2
    while i * i < len(y):
        if y[i]:
            for j in range(i * i, len(y), i):
                y[j] = 0
        i += 1


def gathered_total(x, at, y):
    s = 0
    for i in range(len(at)):
        s += x[at[i]]
    y[0] = s


def scatter(x, at, y):
    for i in range(len(at)):
        y[at[i]] = x[i]


def sparse(first, column, value, x, y):
    for i in range(len(y)):
        s = 0.0
        for k in range(first[i], first[i + 1]):
            s += value[k] * x[column[k]]
        y[i] = s


def quicksort(x, y):
    stack = np.empty((64, 2), np.int64)
    for i in range(len(x)):
        y[i] = x[i]
    stack[0, 0], stack[0, 1] = 0, len(y) - 1
    top = 1
    while top > 0:
        top -= 1
        low, high = stack[top, 0], stack[top, 1]
        while low < high:
            pivot = y[(low + high) // 2]
            i, j = low, high
            while i <= j:
                while y[i] < pivot:
                    i += 1
                while pivot < y[j]:
                    j -= 1
                if i <= j:
                    y[i], y[j] = y[j], y[i]
                    i += 1
                    j -= 1
            stack[top, 0], stack[top, 1] = i, high
            top += 1
            high = j


def filtered(x, y):
    y[0] = y[1] = 0.0
    for i in range(2, len(x)):
        y[i] = 0.2 * x[i] + 1.3 * y[i - 1] - 0.5 * y[i - 2]


def search(x, what, y):
    for k in range(len(what)):
        low, high = 0, len(x)
        while low < high:
            middle = (low + high) // 2
            if x[middle] < what[k]:
                low = middle + 1
            else:
                high = middle
        y[k] = low


def distances(a, b, y):
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            y[i, j] = min(y[i - 1, j] + 1, y[i, j - 1] + 1, y[i - 1, j - 1] + cost)


def floyd(x, y):
    n = len(y)
    for i in range(n):
        for j in range(n):
            y[i, j] = x[i, j]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                y[i, j] = min(y[i, j], y[i, k] + y[k, j])


def life(x, y):
    n, m = x.shape
    for i in range(n):
        for j in range(m):
            near = 0
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    if di != 0 or dj != 0:
                        near += x[(i + di) % n, (j + dj) % m]
            y[i, j] = near == 3 or (near == 2 and x[i, j])


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


def naive_matmul(a, b, c):
    i, j = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        s = float32(0)
        for k in range(a.shape[1]):
            s += a[i, k] * b[k, j]
        c[i, j] = s


def mandelbrot(most, y):
    i, j = cuda.grid(2)
    if i < y.shape[0] and j < y.shape[1]:
        c = complex(-2.0 + 3.0 * j / y.shape[1], -1.5 + 3.0 * i / y.shape[0])
        z = 0j
        n = 0
        while n < most and z.real * z.real + z.imag * z.imag < 4.0:
            z = z * z + c
            n += 1
        y[i, j] = n


def grid_gather(x, at, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = x[at[i]]


def f32(*shape):
    return R.random(shape).astype(np.float32)


def on_grid(grid, block):
    return lambda f, check: cuda.jit(f, boundscheck=check)[grid, block]


def serial(f, check):
    return njit(f, boundscheck=check)


def parallel(f, check):
    return njit(f, boundscheck=check, parallel=True)


SMALL = CHOSEN.device != "cuda"  # a CPU is given less to do

# The last argument is what a kernel writes.
KERNELS = {
    "njit: sum of 10⁷": (serial, total, (R.random(10**7), np.zeros(1))),
    "njit: a x + 1 of 10⁶": (serial, axpy, (2.0, R.random(10**6), np.zeros(10**6))),
    "njit: running sum of 10⁶": (serial, running_sum, (R.random(10**6), np.zeros(10**6))),
    "njit: three points of 10⁶": (serial, three_points, (R.random(10**6), np.zeros(10**6))),
    "njit: ring of 10⁶": (serial, ring, (R.random(10**6), np.zeros(10**6))),
    "njit: stencil 1000²": (serial, stencil, (R.random((1000, 1000)), np.zeros((1000, 1000)))),
    "njit: the same, prange": (parallel, stencil, (R.random((1000, 1000)), np.zeros((1000, 1000)))),
    "njit: nested 1000²": (serial, nested, (R.random((1000, 1000)), np.zeros((1000, 1000)))),
    "njit: flat 1000²": (serial, flat, (R.random(10**6), 1000, np.zeros(10**6))),
    "njit: matmul 200": (serial, matmul, (*R.random((2, 200, 200)), np.zeros((200, 200)))),
    "njit: bubble sort of 2000": (serial, bubble, (R.random(2000), np.zeros(2000))),
    "njit: insertion sort of 3000": (serial, insertion, (R.random(3000), np.zeros(3000))),
    "njit: sieve of 10⁶": (serial, sieve, (np.zeros(10**6, np.uint8),)),
    "njit: histogram of bytes, 10⁶": (
        serial,
        histogram,
        (R.integers(0, 256, 10**6).astype(np.uint8), np.zeros(256, np.int64)),
    ),
    "njit: histogram of 10⁶": (
        serial,
        histogram,
        (R.integers(0, 1000, 10**6), np.zeros(1000, np.int64)),
    ),
    "njit: histogram of floats, 10⁶": (
        serial,
        histogram_of_floats,
        (R.random(10**6), np.zeros(100, np.int64)),
    ),
    "njit: gather of 10⁶": (
        serial,
        gather,
        (R.random(10**5), R.integers(0, 10**5, 10**6), np.zeros(10**6)),
    ),
    "njit: sum of gathered 10⁶": (
        serial,
        recurrence,
        (R.integers(0, 1000, 10**6), R.random(1000), np.zeros(10**6)),
    ),
    "njit: sum of integers gathered, 10⁶": (
        serial,
        gathered_total,
        (R.integers(0, 9, 1000), R.integers(0, 1000, 10**6), np.zeros(1, np.int64)),
    ),
    "njit: scatter of 10⁶": (
        serial,
        scatter,
        (R.random(10**6), R.permutation(10**6), np.zeros(10**6)),
    ),
    "njit: sparse product, 10⁵ x 10": (
        serial,
        sparse,
        (
            np.arange(0, 10**6 + 1, 10),
            R.integers(0, 10**5, 10**6),
            R.random(10**6),
            R.random(10**5),
            np.zeros(10**5),
        ),
    ),
    "njit: quicksort of 10⁵": (serial, quicksort, (R.random(10**5), np.zeros(10**5))),
    "njit: filter of 10⁶": (serial, filtered, (R.random(10**6), np.zeros(10**6))),
    "njit: binary search, 10⁵ in 10⁵": (
        serial,
        search,
        (np.sort(R.random(10**5)), R.random(10**5), np.zeros(10**5, np.int64)),
    ),
    "njit: edit distance 1000²": (
        serial,
        distances,
        (R.integers(0, 4, 1000), R.integers(0, 4, 1000), np.zeros((1001, 1001), np.int64)),
    ),
    "njit: Floyd-Warshall 200": (serial, floyd, (R.random((200, 200)), np.zeros((200, 200)))),
    "njit: life 300²": (
        serial,
        life,
        (R.integers(0, 2, (300, 300)).astype(np.uint8), np.zeros((300, 300), np.uint8)),
    ),
    "cuda: a x + 1": (
        on_grid(3907 if SMALL else 390625, 256),
        grid_axpy,
        (2.0, R.random(10**6 if SMALL else 10**8), np.zeros(10**6 if SMALL else 10**8)),
    ),
    "cuda: block maximum of 2²⁰": (
        on_grid(4096, 256),
        block_maximum,
        (f32(2**20), np.zeros(4096, np.float32)),
    ),
    "cuda: tiled matmul": (
        on_grid((32, 32) if SMALL else (64, 64), (16, 16)),
        tiled_matmul,
        (*(f32(512, 512) if SMALL else f32(1024, 1024) for _ in range(3)),),
    ),
    "cuda: naive matmul": (
        on_grid((16, 16) if SMALL else (64, 64), (16, 16)),
        naive_matmul,
        (*(f32(256, 256) if SMALL else f32(1024, 1024) for _ in range(3)),),
    ),
    "cuda: heat": (
        on_grid((64, 64) if SMALL else (256, 256), (16, 16)),
        heat,
        (*(R.random((1024, 1024) if SMALL else (4096, 4096)) for _ in range(2)),),
    ),
    "cuda: Mandelbrot": (
        on_grid((64, 64), (16, 16)),
        mandelbrot,
        (100, np.zeros((1024, 1024), np.int32)),
    ),
    "cuda: gather": (
        on_grid(3907 if SMALL else 39063, 256),
        grid_gather,
        (
            R.random(10**5 if SMALL else 10**6),
            R.integers(0, 10**5 if SMALL else 10**6, 10**6 if SMALL else 10**7),
            np.zeros(10**6 if SMALL else 10**7),
        ),
    ),
}


def compare(make, function, args):
    """Median times in milliseconds without and with checks, and what first calls take longer."""
    runs, results, first = [make(function, check) for check in (False, True)], [], []
    grid = "cuda" in function.__code__.co_names
    if grid:
        args = [cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in args]
    for run in runs:
        args[-1][:] = 0
        start = time.perf_counter()
        run(*args)
        if grid:
            cuda.synchronize()
        first.append(time.perf_counter() - start)
        results.append(args[-1].copy_to_host() if grid else args[-1].copy())
    np.testing.assert_array_equal(*results)
    assert results[0].any()
    times = [[], []]
    end = time.perf_counter() + CHOSEN.seconds
    while time.perf_counter() < end or len(times[0]) < 5:
        for run, t in zip(runs, times, strict=True):
            start = time.perf_counter()
            run(*args)
            if grid:
                cuda.synchronize()
            t.append(time.perf_counter() - start)
    # The sooner half: what else the machine does is not what is asked for.
    quick = [statistics.median(sorted(t)[: (len(t) + 1) // 2]) for t in times]
    return [1e3 * t for t in (*quick, first[0] - quick[0], first[1] - quick[1])]


def main():
    print(f"{'kernel':32s} {'without':>9s} {'with':>9s} ms  checks cost   compiling, ms")
    for name, (make, function, args) in KERNELS.items():
        if CHOSEN.words and not any(word in name for word in CHOSEN.words):
            continue
        if CHOSEN.device == "cuda" and not name.startswith("cuda"):
            continue
        plain, checked, before, after = compare(make, function, args)
        print(
            f"{name:32s} {plain:9.3f} {checked:9.3f} ms  {100 * (checked / plain - 1):+7.1f} %"
            f"   {before:8.1f} {after:8.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
