"""3×3 smoothing by nine shifted slices."""

import importlib

import numpy as np
from common import Workload, jit, torch_peers


def code(xp, a):
    return (
        a[:-2, :-2] + a[:-2, 1:-1] + a[:-2, 2:]
        + a[1:-1, :-2] + a[1:-1, 1:-1] + a[1:-1, 2:]
        + a[2:, :-2] + a[2:, 1:-1] + a[2:, 2:]
    ) / 9.0  # fmt: skip


def numba(inputs):
    nb = importlib.import_module("numba")

    @nb.njit(parallel=True)
    def f(a):
        n, m = a.shape
        out = np.empty((n - 2, m - 2))
        for i in nb.prange(n - 2):
            for j in range(m - 2):
                out[i, j] = (
                    a[i, j] + a[i, j + 1] + a[i, j + 2]
                    + a[i + 1, j] + a[i + 1, j + 1] + a[i + 1, j + 2]
                    + a[i + 2, j] + a[i + 2, j + 1] + a[i + 2, j + 2]
                ) / 9.0  # fmt: skip
        return out

    return lambda: f(inputs["a"])


def numba_cuda(inputs):
    cuda = importlib.import_module("numba.cuda")
    a = inputs["a"]
    n, m = a.shape
    out = cuda.device_array((n - 2, m - 2))

    @cuda.jit
    def f(a, out):
        j, i = cuda.grid(2)
        if i < out.shape[0] and j < out.shape[1]:
            s = 0.0
            for k in range(3):
                for l in range(3):
                    s += a[i + k, j + l]
            out[i, j] = s / 9.0

    def run():
        f[((m + 31) // 32, (n + 7) // 8), (32, 8)](a, out)
        return out

    return run


def workloads(quick):
    n = 1000 if quick else 10_000
    yield Workload(
        name="smooth",
        title=f"3×3 smoothing by slices, float64, {n}²",
        make=lambda: {"a": np.random.default_rng(0).random((n, n))},
        code=code,
        bytes=16 * n * n,
        flops=9 * n * n,
        peers={"numba": numba, "jax": jit(code), "numba.cuda": numba_cuda, **torch_peers(code)},
        cpu=(("numba", 1.0), ("numpy", 6.0)),
        gpu_ms=0.42,
        rtol=1e-14,
    )
