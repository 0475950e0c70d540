"""Host costs: recording one operation, and flushing a window whose plan is cached."""

import time

import numpy as np
from common import Library
from numbus_bench.timing import micro

TARGETS = {
    "record one operation": ("µs at most", 0.3),
    "cached flush of 2": ("µs at most", 1.5),
    "cached flush of 8": ("µs at most", 8.0),
}


def cached_flush(record, flush, repeats):
    """Median time of flush() alone, after record()."""
    times = []
    for _ in range(repeats):
        kept = record()
        start = time.perf_counter_ns()
        flush()
        times.append(time.perf_counter_ns() - start)
        del kept
    empty = []
    for _ in range(repeats):
        start = time.perf_counter_ns()
        end = time.perf_counter_ns()
        empty.append(end - start)
    return (float(np.median(times[repeats // 4 :])) - float(np.median(empty))) * 1e-3


def measure(name, quick):
    library = Library(name)
    nb = library.xp
    flush = getattr(nb, "flush", None) or (lambda: None)
    if nb.__name__ == "numbus":
        import numbus._core as core

        flush = core.flush
    a, b = library.array(np.arange(16.0)), library.array(np.ones(16))
    library.sync()
    repeats = 500 if quick else 5000

    def two():
        return a * b + 1.0

    def eight():
        x = a * b + 1.0
        y = x * a - b
        return (x + y) * (y - a) + x

    def ten():  # unrolled: the loop itself would count
        _ = a + b
        _ = a + b
        _ = a + b
        _ = a + b
        _ = a + b
        _ = a + b
        _ = a + b
        _ = a + b
        _ = a + b
        _ = a + b

    per_op = []
    for _ in range(repeats // 10):
        flush()
        start = time.perf_counter_ns()
        ten()
        per_op.append((time.perf_counter_ns() - start) / 10)
        flush()

    def both(record):
        def call():
            kept = record()
            flush()
            return kept

        return call

    assert np.array_equal(library.host(eight()), eight_numpy())
    return {
        "record one operation": float(np.median(per_op)) * 1e-3,
        "cached flush of 2": cached_flush(two, flush, repeats),
        "cached flush of 8": cached_flush(eight, flush, repeats),
        "record and flush 2": micro(both(two), repeats) * 1e6,
        "record and flush 8": micro(both(eight), repeats) * 1e6,
    }


def eight_numpy():
    a, b = np.arange(16.0), np.ones(16)
    x = a * b + 1.0
    y = x * a - b
    return (x + y) * (y - a) + x


PEERS = ("numpy", "numbus")
UNIT = "µs"
