"""The sum of a float64 matrix."""

import importlib

import numpy as np
from common import Workload, jit, torch_peers


def code(xp, x):
    return xp.sum(x)


def numexpr(inputs):
    ne = importlib.import_module("numexpr")
    return lambda: ne.evaluate("sum(x)", local_dict=inputs, global_dict={})


def numba(inputs):
    nb = importlib.import_module("numba")

    @nb.njit(parallel=True, fastmath={"reassoc", "nsz"})
    def f(x):
        s = 0.0
        for i in nb.prange(x.size):
            s += x[i]
        return s

    flat = inputs["x"].reshape(-1)
    return lambda: f(flat)


def workloads(quick):
    n = 1000 if quick else 10_000
    yield Workload(
        name="sum",
        title=f"sum, float64, {n}²",
        make=lambda: {"x": np.random.default_rng(0).random((n, n))},
        code=code,
        bytes=8 * n * n,
        reads_only=True,
        flops=n * n,
        peers={"numexpr": numexpr, "numba": numba, "jax": jit(code), **torch_peers(code)},
        cpu=(("numba", 1.0),),
        gpu_ms=0.21,
    )
