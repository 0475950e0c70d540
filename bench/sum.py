"""The sum of a float64 matrix."""

import numpy as np
from common import Workload
from numbus_bench.cases import traced
from numbus_bench.suites.arrays import numba_sum, numexpr_sum, total


def workloads(quick):
    n = 1000 if quick else 10_000
    yield Workload(
        name="sum",
        title=f"sum, float64, {n}²",
        make=lambda: {"a": np.random.default_rng(0).random((n, n))},
        code=total,
        bytes=8 * n * n,
        reads_only=True,
        flops=n * n,
        programs={"numexpr": numexpr_sum, "numba": numba_sum, **traced(total)},
        cpu=(("numba", 1.0),),
        gpu_ms=0.21,
    )
