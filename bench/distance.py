"""All squared distances of points: einsum of squares, -2 P Pᵀ, abs. And its peak of memory."""

import resource
import sys

import numpy as np
from common import Library, Workload, on_gpu
from numbus_bench.cases import traced
from numbus_bench.suites.crossover import distance, numba_distance


def workloads(quick):
    n = 1024 if quick else 4096
    yield Workload(
        name="distance",
        title=f"distance matrix, {n}×3 float64",
        make=lambda: {"P": np.random.default_rng(0).random((n, 3))},
        code=distance,
        bytes=8.0 * n * n,
        flops=9.0 * n * n,
        programs={"numba": numba_distance, **traced(distance)},
        cpu=(("numba", 1.0), ("numpy", 6.0)),
        gpu_ms=0.2,
        rtol=1e-13,
    )


def memory(n=27_000, name="numbus"):
    """Peak memory over the size of the output."""
    library = Library(name)
    P = library.array(np.random.default_rng(0).random((n, 3)))
    warm = library.wait(distance(library.xp, P[:16]))
    del warm
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    D = library.wait(distance(library.xp, P))
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
