"""Heat steps with a source and a norm: copy, five-point update of the interior, norm of the change.

4096² for 100 steps (bandwidth), and 256² for 1000 steps with the norm read on the host (latency).
"""

import importlib

import numpy as np
from common import Workload
from numbus_bench.suites.heat import PROGRAMS, code, code_and_read


def numba_fused():
    """By hand: two buffers, one pass for update and norm."""
    nb = importlib.import_module("numba")

    @nb.njit(parallel=True, fastmath={"reassoc", "nsz"})
    def step(p, q, f):
        n, m = p.shape
        total = 0.0
        for i in nb.prange(1, n - 1):
            s = 0.0
            for j in range(1, m - 1):
                v = 0.25 * (p[i - 1, j] + p[i + 1, j] + p[i, j - 1] + p[i, j + 1] - f[i, j])
                d = v - p[i, j]
                q[i, j] = v
                s += d * d
            total += s
        return np.sqrt(total)

    def run(p, f, steps):
        p, q = p.copy(), p.copy()
        norm = 0.0
        for _ in range(steps):
            norm = step(p, q, f)
            p, q = q, p
        return p, norm

    return run


def inputs(n):
    r = np.random.default_rng(0)
    return {"p": r.random((n, n)), "f": r.random((n, n)) * 1e-3}


def workloads(quick):
    n, steps = (512, 20) if quick else (4096, 100)
    yield Workload(
        name="heat",
        title=f"heat step with source and norm, float64 {n}², {steps} steps",
        make=lambda: inputs(n),
        code=code,
        bytes=24.0 * n * n * steps,
        flops=8.0 * n * n * steps,
        programs={**PROGRAMS, "numba.fused": numba_fused},
        steps=steps,
        cpu=(("numba", 2.0),),
        gpu_ms=13.0,
        rtol=1e-10,
    )
    m, more = (256, 50) if quick else (256, 1000)
    yield Workload(
        name="heat256",
        title=f"heat, {m}², {more} steps, the norm read each step",
        make=lambda: inputs(m),
        code=code_and_read,
        bytes=24.0 * m * m * more,
        flops=8.0 * m * m * more,
        programs={**PROGRAMS, "numba.fused": numba_fused},
        steps=more,
        cpu=(("numpy", 10.0),),
        gpu_ms=30.0,
        rtol=1e-10,
    )
