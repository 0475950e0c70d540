"""sin(x)**2 + cos(x)**2 in float64."""

import importlib

import numpy as np
from common import Workload
from numbus_bench.cases import traced


def code(xp, x):
    return xp.sin(x) ** 2 + xp.cos(x) ** 2


def numexpr():
    ne = importlib.import_module("numexpr")
    return lambda **inputs: ne.evaluate("sin(x)**2 + cos(x)**2", inputs, {})


def numba():
    nb = importlib.import_module("numba")

    @nb.njit(parallel=True)
    def f(x):
        out = np.empty_like(x)
        for i in nb.prange(x.shape[0]):
            for j in range(x.shape[1]):
                out[i, j] = np.sin(x[i, j]) ** 2 + np.cos(x[i, j]) ** 2
        return out

    return lambda x: f(x)


def workloads(quick):
    n = 1000 if quick else 10_000
    yield Workload(
        name="sincos",
        title=f"sin(x)**2 + cos(x)**2, float64, {n}²",
        make=lambda: {"x": np.random.default_rng(0).uniform(-10, 10, (n, n))},
        code=code,
        bytes=16 * n * n,
        flops=40 * n * n,
        programs={"numexpr": numexpr, "numba": numba, **traced(code)},
        cpu=(("best", 5.0),),
        gpu_ms=0.75,
    )
