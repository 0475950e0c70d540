"""The chain of 20 float32 operations, summed: no intermediate and no result array."""

import chain
from chain import code, inputs, numba, size
from common import Workload
from numbus_bench.cases import traced


def total(xp, S, K, T):
    return code(xp, S, K, T).sum()


def numexpr():
    terms = chain.numexpr()
    return lambda **inputs: terms(**inputs).sum()


def workloads(quick):
    n = size(quick)
    yield Workload(
        name="chain_sum",
        title=f"the same, summed, {n:.0e}",
        make=lambda: inputs(n),
        code=total,
        bytes=12 * n,
        reads_only=True,
        flops=21 * n,
        programs={"numexpr": numexpr, "numba": lambda: numba(summed=True), **traced(total)},
        cpu=(("numpy", 6.0),),
        gpu_ms=0.36,
        rtol=1e-4,
    )
