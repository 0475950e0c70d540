"""What every benchmark shares: workloads, libraries, timing, the machine's limits.

A workload is plain NumPy code `code(xp, **inputs)` and the same by hand for each peer; libraries,
timing and most programs are those of `python -m numbus bench` (numbus_bench). One process runs one
library on one workload: its result is consumed and compared with NumPy's before anything
is timed; samples are synchronised; the median and the spread are reported.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
if any((ROOT / "python" / "numbus").glob("_core*.so")):
    sys.path.insert(0, str(ROOT / "python"))
sys.path.insert(0, str(ROOT / "bench" / "src"))

from numbus.measure.limits import measure  # noqa: E402
from numbus_bench import libraries  # noqa: E402
from numbus_bench.timing import compare, sample_of, samples, spread  # noqa: E402

CPU_PEERS = ("numpy", "numexpr", "numba", "numba.fused", "jax", "torch")
GPU_PEERS = ("cupy", "torch", "torch.compile", "jax", "numba.cuda")


@dataclass
class Workload:
    """One line of the table. bytes and flops: what the whole computation needs, at the least."""

    name: str
    title: str
    make: Callable[[], dict]
    code: Callable
    bytes: float
    flops: float = 0.0
    programs: dict = field(default_factory=dict)  # name: build() -> f(**inputs), beside `code`
    steps: int = 1  # time steps in one run; `code` takes steps= where this is above 1
    cpu: tuple = ()  # ((peer or "best", at least this many times faster), …)
    gpu_ms: float = 0.0  # at most
    rtol: float = 1e-12
    reads_only: bool = False  # no array is written: the limit is reading, not copying
    exact: Callable | None = None  # inputs -> float64/longdouble result, to count ULP


class Library(libraries.Library):
    """A library on the device of this run."""

    def __init__(self, name: str):
        super().__init__(name, "cuda" if on_gpu() else "cpu")


def on_gpu() -> bool:
    return os.environ.get("NUMBUS_BENCH_DEVICE", "cpu").startswith("cuda")


def results(result, library: Library) -> list[np.ndarray]:
    parts = result if isinstance(result, (tuple, list)) else [result]
    return [sample_of(library.host(p)) for p in parts]


def ulps(got: np.ndarray, exact: np.ndarray) -> float:
    """Largest error of a sample in units in the last place, where nothing cancelled (|x| > 1 %)."""
    size = np.abs(exact)
    unit = np.spacing(size.astype(got.dtype)).astype(exact.dtype)
    error = np.abs(got.astype(exact.dtype) - exact) / unit
    return float(error[size > 0.01 * size.max()].max())


def run_library(workload: Workload, name: str, reference: str, seconds: float) -> dict:
    """One library on one workload, in this process; the reference file holds NumPy's samples."""
    library = Library(name)
    program = library.program(workload)
    if program is None:
        return {"skipped": "no code for this peer"}
    host = workload.make()
    inputs = library.put(host)

    def prepare(steps):
        extra = {"steps": steps} if workload.steps > 1 else {}
        return lambda: program(**inputs, **extra)

    slow = workload.steps > 5 and workload.bytes / workload.steps > 1e7
    check_steps = 3 if slow else workload.steps
    start = time.perf_counter()
    result = library.wait(prepare(check_steps)())
    first = time.perf_counter() - start
    got = results(result, library)
    del result
    out: dict = {"first": first, "version": library.version()}
    if name == "numpy":
        np.savez(reference, *got)
        if on_gpu():
            return {**out, "skipped": "the reference only"}
    elif os.path.exists(reference):
        with np.load(reference) as stored:
            wrong = compare(got, [stored[k] for k in stored.files], workload.rtol)
        if wrong:
            return {**out, "wrong": wrong}
    if workload.exact is not None:
        exact = sample_of(workload.exact(**host))
        out["ulp"] = ulps(got[0], exact)
    steps = workload.steps
    if name == "numpy" and slow:
        steps = 5  # scaled up below
    run = prepare(steps)
    library.wait(run())
    times = samples(lambda: library.wait(run()), library.sync, seconds)
    scale = workload.steps / steps
    out.update({k: v * scale if k != "samples" else v for k, v in spread(times).items()})
    if name == "numbus" and hasattr(library.xp, "stats"):
        out["stats"] = {k: v for k, v in library.xp.stats().items() if isinstance(v, (int, float))}
    return out


def machine_limits(device: str, quick: bool = False) -> dict:
    """Bytes per second of a copy (read + write) and of reading; flops per second of BLAS."""
    found = measure(device, quick)
    return {
        "copy": found.copy_bytes_per_s,
        "read": found.read_bytes_per_s,
        "blas": found.flops["float64"],
    }


def shortest(workload: Workload, limits: dict) -> float:
    """The least time that the machine's limits allow this workload; 0 where unknown."""
    if "copy" not in limits:
        return 0.0
    rate = limits["read"] if workload.reads_only else limits["copy"]
    return max(workload.bytes / rate, workload.flops / limits["blas"] if "blas" in limits else 0)
