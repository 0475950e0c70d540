"""The chain of 20 float32 operations, summed: no intermediate and no result array."""

import importlib

from chain import CONSTANTS, TEXT, code, inputs, numba, size
from common import Workload, jit, torch_peers


def total(xp, S, K, T):
    return code(xp, S, K, T).sum()


def numexpr(inputs):
    import numpy as np

    ne = importlib.import_module("numexpr")
    names = {**inputs, **{k: np.float32(v) for k, v in CONSTANTS.items()}}
    return lambda: ne.evaluate(TEXT, local_dict=names, global_dict={}).sum()


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
        peers={
            "numexpr": numexpr,
            "numba": lambda inputs: numba(inputs, summed=True),
            "jax": jit(total),
            **torch_peers(total),
        },
        cpu=(("numpy", 6.0),),
        gpu_ms=0.36,
        rtol=1e-4,
    )
