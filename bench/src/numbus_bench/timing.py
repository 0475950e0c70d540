"""Timing and comparing: synchronised samples, their median and spread, results against NumPy's."""

from __future__ import annotations

import gc
import statistics
import time

import numpy as np

__all__ = ["compare", "micro", "sample_of", "samples", "spread"]


def samples(run, wait, seconds, least=3, most=50):
    """Seconds of each run(); `wait` synchronises around it. As many as fit into `seconds`, but at
    least `least` and at most `most`. Results live until the device has finished them.
    """
    out: list[float] = []
    gc.collect()
    gc.disable()
    try:
        while len(out) < least or (sum(out) < seconds and len(out) < most):
            wait()
            start = time.perf_counter()
            result = run()
            wait()
            out.append(time.perf_counter() - start)
            del result
    finally:
        gc.enable()
    return out


def spread(times):
    """Median, least, both quartiles (seconds) and the number of samples."""
    low, _, high = statistics.quantiles(times, n=4) if len(times) > 1 else times * 3
    return {
        "median": statistics.median(times),
        "min": min(times),
        "low": max(low, min(times)),
        "high": min(high, max(times)),
        "samples": len(times),
    }


def micro(call, number, repeats=7):
    """Seconds of one call, from the best of several loops of `number` calls."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(number):
            call()
        best = min(best, (time.perf_counter() - start) / number)
    return best


def sample_of(x, most=65536):
    """A fixed sample of the elements of a result: all of them up to `most`."""
    flat = np.ascontiguousarray(x).reshape(-1)
    if flat.size <= most:
        return flat.copy()
    return flat[np.linspace(0, flat.size - 1, most).astype(np.int64)]


def compare(got, want, rtol):
    """How lists of sampled results differ; "" where they agree to rtol of the largest magnitude,
    integers and booleans of both exactly.
    """
    if len(got) != len(want):
        return f"{len(got)} results, NumPy {len(want)}"
    for g, w in zip(got, want):
        if g.shape != w.shape:
            return f"shape {g.shape}, NumPy {w.shape}"
        if g.dtype.kind in "biu" and w.dtype.kind in "biu":
            if not np.array_equal(g, w):
                return f"differs in {np.count_nonzero(g != w)} of {w.size} whole numbers"
            continue
        scale = np.abs(w).max() if w.size else 1
        with np.errstate(invalid="ignore"):
            d = np.where((g == w) | (np.isnan(g) & np.isnan(w)), 0, np.abs(g - w.astype(g.dtype)))
        worst = d.max(initial=0)
        if not worst <= rtol * max(scale, 1e-300):
            return f"differs by {worst:.3g} with magnitude {scale:.3g}"
    return ""
