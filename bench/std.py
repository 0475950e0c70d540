"""The standard deviation of a float64 matrix, read once."""

import importlib

import numpy as np
from common import Workload, jit


def code(xp, x):
    return xp.std(x)


def numba(inputs):
    nb = importlib.import_module("numba")

    @nb.njit(parallel=True, fastmath={"reassoc", "nsz"})
    def f(x):
        s = 0.0
        for i in nb.prange(x.size):
            s += x[i]
        mean = s / x.size
        q = 0.0
        for i in nb.prange(x.size):
            d = x[i] - mean
            q += d * d
        return np.sqrt(q / x.size)

    flat = inputs["x"].reshape(-1)
    return lambda: f(flat)


def torch(inputs):
    return lambda: inputs["x"].std(correction=0)


def workloads(quick):
    n = 1000 if quick else 10_000
    yield Workload(
        name="std",
        title=f"std, float64, {n}²",
        make=lambda: {"x": np.random.default_rng(0).random((n, n))},
        code=code,
        bytes=8 * n * n,
        reads_only=True,
        flops=4 * n * n,
        peers={"numba": numba, "jax": jit(code), "torch": torch},
        cpu=(("best", 2.5),),
        gpu_ms=0.21,
    )
