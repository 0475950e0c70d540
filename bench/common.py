"""What every benchmark shares: workloads, libraries, timing, the machine's limits.

A workload is plain NumPy code `code(xp, **inputs)` and the same by hand for each peer. One process
runs one library on one workload: its result is consumed and compared with NumPy's before anything
is timed; samples are synchronised; the median and the spread are reported.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
if any((ROOT / "python" / "numbus").glob("_core*.so")):
    sys.path.insert(0, str(ROOT / "python"))

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
    peers: dict = field(default_factory=dict)  # name: f(inputs) -> callable giving the result
    steps: int = 1  # time steps in one run; `code` takes steps= where this is above 1
    cpu: tuple = ()  # ((peer or "best", at least this many times faster), …)
    gpu_ms: float = 0.0  # at most
    rtol: float = 1e-12
    reads_only: bool = False  # no array is written: the limit is reading, not copying
    exact: Callable | None = None  # inputs -> float64/longdouble result, to count ULP


# ---- libraries -----------------------------------------------------------------------------------
class Library:
    """How to bring data in, run, wait and bring results out."""

    def __init__(self, name: str):
        self.name = name
        self.sync = lambda: None
        self.array = np.array
        if name in ("numpy", "numexpr"):
            self.xp = np
        elif name == "numbus":
            # NUMBUS_BENCH_MODULE=numpy stands in for Numbus, to debug the benchmarks.
            self.xp = importlib.import_module(os.environ.get("NUMBUS_BENCH_MODULE", "numbus"))
            self.array = self.xp.array
            self.sync = getattr(self.xp, "synchronize", self.sync)
        elif name == "cupy":
            self.xp = importlib.import_module("cupy")
            self.array, self.sync = self.xp.asarray, self.xp.cuda.Device().synchronize
        elif name.startswith("torch"):
            self.xp = torch = importlib.import_module("torch")
            device = "cuda" if on_gpu() else "cpu"
            self.array = lambda x: torch.as_tensor(x, device=device)
            self.sync = torch.cuda.synchronize if on_gpu() else self.sync
        elif name == "jax":
            jax = importlib.import_module("jax")
            jax.config.update("jax_enable_x64", True)
            self.xp = importlib.import_module("jax.numpy")
            self.array = self.xp.asarray
        elif name == "numba.cuda":
            np.row_stack = np.vstack  # Numba's CUDA target still looks for it
            cuda = importlib.import_module("numba.cuda")
            self.array, self.sync, self.xp = cuda.to_device, cuda.synchronize, cuda
        else:
            self.xp = importlib.import_module(name.split(".")[0])

    def wait(self, result):
        if hasattr(result, "block_until_ready"):
            result.block_until_ready()
        self.sync()
        return result

    def host(self, x) -> np.ndarray:
        if self.name == "cupy":
            return self.xp.asnumpy(x)
        if self.name.startswith("torch") and hasattr(x, "cpu"):
            return x.cpu().numpy()
        if hasattr(x, "copy_to_host"):
            return x.copy_to_host()
        return np.asarray(x)

    def version(self) -> str:
        known = {"numbus": self.xp}.get(self.name)
        module = known or importlib.import_module(self.name.split(".")[0])
        return getattr(module, "__version__", "?")


def on_gpu() -> bool:
    return os.environ.get("NUMBUS_BENCH_DEVICE", "cpu").startswith("cuda")


def jit(code, static=()):
    """A peer for JAX: the same code, compiled."""

    def make(inputs):
        jax = importlib.import_module("jax")
        jnp = importlib.import_module("jax.numpy")
        names = list(inputs)
        f = jax.jit(lambda *args: code(jnp, **dict(zip(names, args))), static_argnums=static)
        return lambda: f(*inputs.values())

    return make


def torch_peers(code) -> dict:
    """Eager and compiled PyTorch from code that takes the module."""

    def eager(inputs):
        torch = importlib.import_module("torch")
        return lambda: code(torch, **inputs)

    def compiled(inputs):
        torch = importlib.import_module("torch")
        f = torch.compile(lambda **kw: code(torch, **kw))
        return lambda: f(**inputs)

    return {"torch": eager, "torch.compile": compiled}


# ---- timing --------------------------------------------------------------------------------------
def samples(run: Callable, sync: Callable, seconds: float, least: int = 3, most: int = 50) -> list:
    """Seconds of each run, synchronised; as many as fit into the time given."""
    out: list[float] = []
    gc.collect()
    gc.disable()
    try:
        while len(out) < least or (sum(out) < seconds and len(out) < most):
            sync()
            start = time.perf_counter()
            result = run()
            sync()
            out.append(time.perf_counter() - start)
            del result
    finally:
        gc.enable()
    return out


def spread(times: list) -> dict:
    q = statistics.quantiles(times, n=4) if len(times) > 1 else [times[0]] * 3
    return {
        "median": statistics.median(times),
        "min": min(times),
        "low": q[0],
        "high": q[2],
        "samples": len(times),
    }


def sample_of(x: np.ndarray, most: int = 65536) -> np.ndarray:
    """A fixed sample of the elements of a result."""
    flat = np.ascontiguousarray(x).reshape(-1)
    if flat.size <= most:
        return flat.copy()
    return flat[np.linspace(0, flat.size - 1, most).astype(np.int64)]


def results(result, library: Library) -> list[np.ndarray]:
    parts = result if isinstance(result, (tuple, list)) else [result]
    return [sample_of(library.host(p)) for p in parts]


def compare(got: list, want: list, rtol: float) -> str:
    """ "" when the samples agree to rtol of the largest magnitude."""
    if len(got) != len(want):
        return f"{len(got)} results, NumPy {len(want)}"
    for g, w in zip(got, want):
        if g.shape != w.shape:
            return f"shape {g.shape}, NumPy {w.shape}"
        scale = np.abs(w).max() if w.size else 1
        with np.errstate(invalid="ignore"):
            d = np.where((g == w) | (np.isnan(g) & np.isnan(w)), 0, np.abs(g - w.astype(g.dtype)))
        worst = d.max(initial=0)
        if not worst <= rtol * max(scale, 1e-300):
            return f"differs by {worst:.3g} with magnitude {scale:.3g}"
    return ""


def ulps(got: np.ndarray, exact: np.ndarray) -> float:
    """Largest error of a sample in units in the last place, where nothing cancelled (|x| > 1 %)."""
    size = np.abs(exact)
    unit = np.spacing(size.astype(got.dtype)).astype(exact.dtype)
    error = np.abs(got.astype(exact.dtype) - exact) / unit
    return float(error[size > 0.01 * size.max()].max())


def run_library(workload: Workload, name: str, reference: str, seconds: float) -> dict:
    """One library on one workload, in this process; the reference file holds NumPy's samples."""
    library = Library(name)
    own = workload.peers.get(name)
    if own is None and name not in ("numpy", "numbus", "cupy"):
        return {"skipped": "no code for this peer"}
    host = workload.make()
    inputs = {k: library.array(v) if isinstance(v, np.ndarray) else v for k, v in host.items()}

    def prepare(steps):
        if own is not None:
            return own({**inputs, "steps": steps} if workload.steps > 1 else inputs)
        extra = {"steps": steps} if workload.steps > 1 else {}
        return lambda: workload.code(library.xp, **inputs, **extra)

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


# ---- what the machine can do ---------------------------------------------------------------------
LIMITS_C = r"""
#include <immintrin.h>
#include <stddef.h>
typedef double v8 __attribute__((vector_size(64), aligned(8)));
/* ahead: doubles to prefetch ahead; the caller tries several. */
void copy_stream(double* d, const double* s, size_t n, size_t ahead) {
  for (size_t i = 0; i + 8 <= n; i += 8) {
    if (ahead) _mm_prefetch((const char*)(s + i + ahead), _MM_HINT_T0);
    for (int k = 0; k < 8; k += 2) _mm_stream_pd(d + i + k, _mm_loadu_pd(s + i + k));
  }
  _mm_sfence();
}
double read_all(const double* s, size_t n, size_t ahead) {
  v8 a = {0}, b = {0}, c = {0}, e = {0};
  for (size_t i = 0; i + 32 <= n; i += 32) {
    if (ahead)
      for (int k = 0; k < 32; k += 8) _mm_prefetch((const char*)(s + i + ahead + k), _MM_HINT_T0);
    a += *(const v8*)(s + i);
    b += *(const v8*)(s + i + 8);
    c += *(const v8*)(s + i + 16);
    e += *(const v8*)(s + i + 24);
  }
  a += b + c + e;
  return a[0] + a[1] + a[2] + a[3] + a[4] + a[5] + a[6] + a[7];
}
"""
AHEAD = (0, 128, 256, 512)  # prefetch distances tried, in doubles


def _streams():
    """(copy, read) of double pointers, from C where a compiler is at hand, else from Numba."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "limits.c", Path(folder) / "limits.so"
        source.write_text(LIMITS_C)
        command = ["cc", "-O3", "-march=native", "-shared", "-fPIC", "-o", library, source]
        try:
            subprocess.run(list(map(str, command)), check=True, capture_output=True)
            lib = ctypes.CDLL(str(library))
        except (OSError, subprocess.CalledProcessError):
            return None
    lib.copy_stream.argtypes = [ctypes.c_void_p] * 2 + [ctypes.c_size_t] * 2
    lib.read_all.argtypes = [ctypes.c_void_p] + [ctypes.c_size_t] * 2
    lib.read_all.restype = ctypes.c_double
    return lib


def _parallel(call, n: int, threads: int):
    """call(start, length) on equal parts of n elements, one thread each."""
    part = (n // threads) // 8 * 8
    workers = [threading.Thread(target=call, args=(i * part, part)) for i in range(threads)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()


def cpu_limits(quick: bool = False) -> dict:
    """Bytes per second of a copy (read + write) and of reading; flops per second of BLAS."""
    n = (1 << 23) if quick else (1 << 26)
    a, b = np.ones(n), np.zeros(n)
    threads = len(os.sched_getaffinity(0))
    lib = _streams()
    out = {"threads": threads}
    if lib is None:
        read = copy = _best(lambda: np.copyto(b, a))
    else:
        pa, pb = a.ctypes.data, b.ctypes.data

        def copy_part(start, m, ahead):
            lib.copy_stream(pb + 8 * start, pa + 8 * start, m, ahead)

        def read_part(start, m, ahead):
            lib.read_all(pa + 8 * start, m, ahead)

        copy, read = (
            min(_best(lambda: _parallel(lambda s, m: f(s, m, d), n, threads), 5) for d in AHEAD)  # noqa: B023
            for f in (copy_part, read_part)
        )
    out["copy"], out["read"] = 16 * n / copy, 8 * n / read
    m = 1000 if quick else 2000
    x = np.random.default_rng(0).random((m, m))
    out["blas"] = 2 * m**3 / _best(lambda: x @ x)
    return out


def gpu_limits() -> dict:
    """The same of the GPU, by CuPy or PyTorch, whichever is installed."""
    n = 1 << 28
    try:
        cp = importlib.import_module("cupy")
        a, b = cp.ones(n), cp.zeros(n)
        sync = cp.cuda.Device().synchronize
        move = lambda: cp.copyto(b, a)  # noqa: E731
        x = cp.ones((8192, 8192))
        multiply = lambda: x @ x  # noqa: E731
    except ImportError:
        try:
            torch = importlib.import_module("torch")
        except ImportError:
            return {}
        a = torch.ones(n, dtype=torch.float64, device="cuda")
        b = torch.zeros_like(a)
        sync = torch.cuda.synchronize
        move = lambda: b.copy_(a)  # noqa: E731
        x = torch.ones((8192, 8192), dtype=torch.float64, device="cuda")
        multiply = lambda: x @ x  # noqa: E731

    def timed(call):
        return _best(lambda: (call(), sync()))

    copy = 16 * n / timed(move)
    return {"copy": copy, "read": copy, "blas": 2 * 8192**3 / timed(multiply)}


def _best(call, repeats: int = 7) -> float:
    call()
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def shortest(workload: Workload, limits: dict) -> float:
    """The least time that the machine's limits allow this workload; 0 where unknown."""
    if "copy" not in limits:
        return 0.0
    rate = limits["read"] if workload.reads_only else limits["copy"]
    return max(workload.bytes / rate, workload.flops / limits["blas"] if "blas" in limits else 0)


def micro(call, number: int, repeats: int = 7) -> float:
    """Seconds of one call, from the best of several loops."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(number):
            call()
        best = min(best, (time.perf_counter() - start) / number)
    return best
