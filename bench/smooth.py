"""3×3 smoothing by nine shifted slices."""

import numpy as np
from common import Workload
from numbus_bench.cases import traced
from numbus_bench.suites.arrays import numba_cuda_stencil, numba_stencil, stencil


def workloads(quick):
    n = 1000 if quick else 10_000
    yield Workload(
        name="smooth",
        title=f"3×3 smoothing by slices, float64, {n}²",
        make=lambda: {"a": np.random.default_rng(0).random((n, n))},
        code=stencil,
        bytes=16 * n * n,
        flops=9 * n * n,
        programs={"numba": numba_stencil, "numba.cuda": numba_cuda_stencil, **traced(stencil)},
        cpu=(("numba", 1.0), ("numpy", 6.0)),
        gpu_ms=0.42,
        rtol=1e-14,
    )
