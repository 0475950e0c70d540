"""Python kernels beside Numba's: the same source, compiled by each library in a process of its own.

python bench/kernels.py [--device cpu|cuda] [--json FILE] [workload ...]

Results are compared with NumPy, or with the other library's, before they are timed. Times are
medians; on a GPU each launch is waited for. Numba's simulator is timed on a small problem and
scaled by the number of threads, as it would take minutes.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np


def median(run, wait=lambda: None, seconds=0.5):
    """The median time of run() in milliseconds, after one call that is not timed."""
    run()
    wait()
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 3:
        start = time.perf_counter()
        run()
        wait()
        times.append(time.perf_counter() - start)
    return float(np.median(times)) * 1e3


def first(run, wait=lambda: None):
    """The time of the first call in milliseconds."""
    start = time.perf_counter()
    run()
    wait()
    return (time.perf_counter() - start) * 1e3


class Libraries:
    """What the programs below take from numbus or from numba."""

    def __init__(self, name):
        self.name = name
        if name == "numbus":
            import numbus
            from numbus import cuda, njit, prange

            self.float32 = numbus.float32
            self.stencil = getattr(numbus, "stencil", None)
        else:
            np.row_stack = np.vstack  # Numba's CUDA target is older than NumPy 2.5
            from numba import cuda, float32, njit, prange, stencil

            self.float32, self.stencil = float32, stencil
        self.cuda, self.njit, self.prange = cuda, njit, prange


def block_maximum(lib):
    cuda, float32 = lib.cuda, lib.float32

    @cuda.jit
    def kernel(x, out):
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

    x = np.random.default_rng(0).random(1 << 20).astype(np.float32)
    dx, out = cuda.to_device(x), cuda.to_device(np.zeros(4096, np.float32))

    def run():
        kernel[4096, 256](dx, out)

    result = {"first call ms": first(run, cuda.synchronize)}
    assert np.array_equal(out.copy_to_host(), x.reshape(-1, 256).max(axis=1))
    result["ms"] = median(run, cuda.synchronize)
    return result


def tiled_matmul(lib, n=1024):
    cuda, float32 = lib.cuda, lib.float32

    @cuda.jit
    def kernel(a, b, c):
        sa = cuda.shared.array((16, 16), float32)
        sb = cuda.shared.array((16, 16), float32)
        x, y = cuda.grid(2)
        tx = cuda.threadIdx.x
        ty = cuda.threadIdx.y
        total = float32(0)
        for k in range(a.shape[1] // 16):
            sa[ty, tx] = a[y, tx + k * 16]
            sb[ty, tx] = b[ty + k * 16, x]
            cuda.syncthreads()
            for j in range(16):
                total += sa[ty, j] * sb[j, tx]
            cuda.syncthreads()
        c[y, x] = total

    rng = np.random.default_rng(0)
    a, b = rng.random((n, n)).astype(np.float32), rng.random((n, n)).astype(np.float32)
    da, db, dc = cuda.to_device(a), cuda.to_device(b), cuda.to_device(np.zeros_like(a))

    def run():
        kernel[(n // 16, n // 16), (16, 16)](da, db, dc)

    run()
    np.testing.assert_allclose(dc.copy_to_host(), a @ b, rtol=1e-4)
    return {"ms": median(run, cuda.synchronize)}


def naive_matmul(lib):
    cuda, float32, n = lib.cuda, lib.float32, 2048

    @cuda.jit
    def kernel(a, b, c):
        i, j = cuda.grid(2)
        if i < c.shape[0] and j < c.shape[1]:
            total = float32(0)
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total

    rng = np.random.default_rng(0)
    a, b = rng.random((n, n)).astype(np.float32), rng.random((n, n)).astype(np.float32)
    da, db, dc = cuda.to_device(a), cuda.to_device(b), cuda.to_device(np.zeros_like(a))

    def run():
        kernel[(n // 16, n // 16), (16, 16)](da, db, dc)

    run()
    np.testing.assert_allclose(dc.copy_to_host(), a @ b, rtol=1e-4)
    return {"ms": median(run, cuda.synchronize)}


def escape(y, x, n):
    """The reference for one pixel of the Mandelbrot set."""
    c = complex(-2.0 + 3.0 * x / 1024, -1.5 + 3.0 * y / 1024)
    z = 0j
    for k in range(n):
        if z.real * z.real + z.imag * z.imag > 4.0:
            return k
        z = z * z + c
    return n


def mandelbrot_cuda(lib):
    cuda = lib.cuda

    @cuda.jit
    def kernel(out, n):
        x, y = cuda.grid(2)
        if x < out.shape[1] and y < out.shape[0]:
            cr = -2.0 + 3.0 * x / out.shape[1]
            ci = -1.5 + 3.0 * y / out.shape[0]
            zr = 0.0
            zi = 0.0
            k = 0
            while k < n and zr * zr + zi * zi <= 4.0:
                zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
                k += 1
            out[y, x] = k

    out = cuda.to_device(np.zeros((1024, 1024), np.int32))

    def run():
        kernel[(64, 64), (16, 16)](out, 200)

    run()
    found = out.copy_to_host()
    assert all(found[y, x] == escape(y, x, 200) for y, x in ((0, 0), (512, 300), (100, 900)))
    return {"ms": median(run, cuda.synchronize)}


def mandelbrot(lib):
    prange = lib.prange

    @lib.njit(parallel=True)
    def fill(out, n):
        h, w = out.shape
        for y in prange(h):
            for x in range(w):
                cr = -2.0 + 3.0 * x / w
                ci = -1.5 + 3.0 * y / h
                zr = 0.0
                zi = 0.0
                k = 0
                while k < n and zr * zr + zi * zi <= 4.0:
                    zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
                    k += 1
                out[y, x] = k

    out = np.zeros((1024, 1024), np.int32)
    fill(out, 200)
    assert all(out[y, x] == escape(y, x, 200) for y, x in ((0, 0), (512, 300), (100, 900)))
    return {"ms": median(lambda: fill(out, 200))}


def sums(lib):
    prange = lib.prange

    def plain(x):
        t = 0.0
        for i in range(x.shape[0]):
            t += x[i]
        return t

    def spread(x):
        t = 0.0
        for i in prange(x.shape[0]):
            t += x[i]
        return t

    serial, parallel = lib.njit(plain), lib.njit(parallel=True)(spread)
    x = np.random.default_rng(0).random(100_000_000)
    np.testing.assert_allclose([serial(x), parallel(x)], x.sum(), rtol=1e-10)
    return {"serial ms": median(lambda: serial(x)), "parallel ms": median(lambda: parallel(x))}


def smoothing(lib):
    @lib.stencil
    def kernel(a):
        return (
            a[-1, -1] + a[-1, 0] + a[-1, 1] + a[0, -1] + a[0, 0]
            + a[0, 1] + a[1, -1] + a[1, 0] + a[1, 1]
        ) / 9.0  # fmt: skip

    n = 10_000
    x = np.random.default_rng(0).random((n, n))
    if lib.name == "numba":
        # Numba runs stencils in parallel inside a parallel function only.
        apply = lib.njit(parallel=True)(lambda a: kernel(a))
    else:
        apply = kernel
    r = apply(x)
    np.testing.assert_allclose(r[5, 7], x[4:7, 6:9].mean(), rtol=1e-13)
    return {"ms": median(lambda: apply(x), seconds=2)}


def smoothing_cuda(lib):
    if lib.name != "numbus":
        return {}  # numba.stencil runs on CPUs only
    cuda = lib.cuda

    @lib.stencil
    def kernel(a):
        above = a[-1, -1] + a[-1, 0] + a[-1, 1]
        below = a[1, -1] + a[1, 0] + a[1, 1]
        return (above + a[0, -1] + a[0, 0] + a[0, 1] + below) / 9.0

    n = 10_000
    host = np.random.default_rng(0).random((n, n))
    x = cuda.to_device(host)
    r = kernel(x).copy_to_host()
    np.testing.assert_allclose(r[5, 7], host[4:7, 6:9].mean(), rtol=1e-13)
    kept = []

    def run():
        kept[:] = [kernel(x)]

    return {"ms": median(run, cuda.synchronize)}


def launch(lib):
    cuda = lib.cuda

    @cuda.jit
    def kernel(x, y):
        pass

    x = cuda.to_device(np.zeros(32, np.float32))
    kernel[1, 32](x, x)
    cuda.synchronize()
    n = 10_000
    start = time.perf_counter()
    for _ in range(n):
        kernel[1, 32](x, x)
    host = (time.perf_counter() - start) / n
    cuda.synchronize()
    return {"µs on the host": host * 1e6}


def recursion(lib):
    @lib.njit
    def fib(n):
        if n < 2:
            return n
        return fib(n - 1) + fib(n - 2)

    assert fib(20) == 6765
    return {"ms": median(lambda: fib(32))}


def first_call(lib):
    @lib.njit
    def f(x, a):
        t = 0.0
        for i in range(x.shape[0]):
            t += a * x[i]
        return t

    x = np.ones(10)
    return {"ms": first(lambda: f(x, 2.0))}


CPU = {
    "block maximum of 2**20 float32, one core": (block_maximum, {"NUMBUS_NUM_THREADS": "1"}),
    "tiled matmul 1024": (tiled_matmul, {}),
    "Mandelbrot 1024**2 x 200, prange": (mandelbrot, {}),
    "sum of 1e8 float64": (sums, {}),
    "3x3 stencil 10000**2": (smoothing, {}),
    "recursive fib(32)": (recursion, {}),
    "first call of a small function": (first_call, {"NUMBUS_CACHE": "0"}),
    "the same from the disk cache": (first_call, {}),
}
GPU = {
    "block maximum of 2**20 float32": (block_maximum, {}),
    "tiled matmul 1024": (tiled_matmul, {}),
    "naive matmul 2048": (naive_matmul, {}),
    "Mandelbrot 1024**2 x 200": (mandelbrot_cuda, {}),
    "3x3 stencil 10000**2": (smoothing_cuda, {}),
    "launch": (launch, {}),
}


SIMULATED = """
import os, time
os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
import numpy as np
from numba import cuda, float32

@cuda.jit
def kernel(a, b, c):
    sa = cuda.shared.array((16, 16), float32)
    sb = cuda.shared.array((16, 16), float32)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    total = float32(0)
    for k in range(a.shape[1] // 16):
        sa[ty, tx] = a[y, tx + k * 16]
        sb[ty, tx] = b[ty + k * 16, x]
        cuda.syncthreads()
        for j in range(16):
            total += sa[ty, j] * sb[j, tx]
        cuda.syncthreads()
    c[y, x] = total

a = np.ones((32, 32), np.float32)
c = np.zeros_like(a)
start = time.perf_counter()
kernel[(2, 2), (16, 16)](a, a, c)
print((time.perf_counter() - start) * 1e3)
assert (c == 32).all()
"""


def simulated():
    """Numba's simulator on the tiled product of 32 x 32, in ms for 1024 x 1024."""
    # Numba's simulator finds `cuda` in the globals of a file, not of a string.
    with tempfile.NamedTemporaryFile("w", suffix=".py") as f:
        f.write(SIMULATED)
        f.flush()
        done = subprocess.run([sys.executable, f.name], capture_output=True, text=True)
    if done.returncode:
        return {"error": done.stderr[-200:]}
    return {"ms": float(done.stdout) * 32**3}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--json")
    parser.add_argument("--worker", nargs=2)
    parser.add_argument("workloads", nargs="*")
    args = parser.parse_args()
    table = GPU if args.device.startswith("cuda") else CPU
    if args.worker:
        print("\n" + json.dumps(table[args.worker[1]][0](Libraries(args.worker[0]))))
        return
    report = {}
    for name, (program, setting) in table.items():
        if args.workloads and not any(w in name for w in args.workloads):
            continue
        report[name] = {}
        for library in ("numbus", "numba"):
            if library == "numba" and args.device == "cpu" and program in (
                block_maximum, tiled_matmul,
            ):  # fmt: skip
                if program is tiled_matmul:
                    report[name]["numba's simulator, scaled"] = simulated()
                continue
            env = {**os.environ, "NUMBUS_DEVICE": args.device, **setting}
            command = [sys.executable, __file__, "--device", args.device, "--worker", library, name]
            done = subprocess.run(command, capture_output=True, text=True, env=env)
            try:
                report[name][library] = json.loads(done.stdout.strip().split("\n")[-1])
            except ValueError:
                report[name][library] = {"error": done.stderr.strip()[-300:]}
        print(name)
        for library, found in report[name].items():
            figures = (
                f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in found.items()
            )
            print(f"  {library:28}", ", ".join(figures))
        sys.stdout.flush()
    if args.json:
        with open(args.json, "w") as f:
            json.dump({"device": args.device, "results": report}, f, indent=1)


if __name__ == "__main__":
    main()
