"""All squared distances of points: einsum of squares, -2 P Pᵀ, abs. And its peak of memory."""

import importlib
import resource
import sys

import numpy as np
from common import Library, Workload, jit, on_gpu, torch_peers


def code(xp, P):
    square = xp.einsum("ij,ij->i", P, P)
    return xp.abs(square[:, None] + square[None, :] - 2 * (P @ P.T))


def numba(inputs):
    nb = importlib.import_module("numba")

    @nb.njit(parallel=True)
    def f(P):
        n = P.shape[0]
        out = np.empty((n, n))
        for i in nb.prange(n):
            for j in range(n):
                s = 0.0
                for k in range(P.shape[1]):
                    d = P[i, k] - P[j, k]
                    s += d * d
                out[i, j] = s
        return out

    return lambda: f(inputs["P"])


def workloads(quick):
    n = 1024 if quick else 4096
    yield Workload(
        name="distance",
        title=f"distance matrix, {n}×3 float64",
        make=lambda: {"P": np.random.default_rng(0).random((n, 3))},
        code=code,
        bytes=8.0 * n * n,
        flops=9.0 * n * n,
        peers={"numba": numba, "jax": jit(code), **torch_peers(code)},
        cpu=(("numba", 1.0), ("numpy", 6.0)),
        gpu_ms=0.2,
        rtol=1e-13,
    )


def memory(n=27_000, name="numbus"):
    """Peak memory over the size of the output."""
    library = Library(name)
    P = library.array(np.random.default_rng(0).random((n, 3)))
    warm = library.wait(code(library.xp, P[:16]))
    del warm
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    D = library.wait(code(library.xp, P))
    middle = float(D[n // 2, n // 3])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    if on_gpu() and name == "numbus":
        peak = library.xp.cuda.memory_stats()["peak_bytes"]
    return peak / (8.0 * n * n), middle


if __name__ == "__main__":
    size, name = int((sys.argv[1:] or ["27000"])[0]), (sys.argv[2:] or ["numbus"])[0]
    ratio, value = memory(size, name)
    print(
        f"{name}: distance matrix, n = {size}: peak memory {ratio:.3f} × the output (D = {value})"
    )
