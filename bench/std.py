"""The standard deviation of a float64 matrix, read once."""

import numpy as np
from common import Workload
from numbus_bench.cases import jax_program
from numbus_bench.suites.arrays import deviation, numba_std, torch_std


def workloads(quick):
    n = 1000 if quick else 10_000
    yield Workload(
        name="std",
        title=f"std, float64, {n}²",
        make=lambda: {"a": np.random.default_rng(0).random((n, n))},
        code=deviation,
        bytes=8 * n * n,
        reads_only=True,
        flops=4 * n * n,
        programs={"numba": numba_std, "jax": jax_program(deviation), "torch": torch_std},
        cpu=(("best", 2.5),),
        gpu_ms=0.21,
    )
