"""What a device can do at most, measured: bandwidth of memory and of the link, rate of products."""

from __future__ import annotations

import functools
import os
import threading
import time
from dataclasses import asdict, dataclass

import numpy as np

__all__ = ["Limits", "measure"]

FLOAT = ("float32", "float64")


@dataclass(frozen=True)
class Limits:
    """The limits of one device; rates are bytes or floating-point operations per second.

    device: 'cpu' or 'cuda:N'. copy_bytes_per_s: of a copy, counting what is read and what is
    written. read_bytes_per_s: of reading alone. flops: of a large matrix product, by dtype
    ('float32', 'float64'), two operations for each multiply-add. link_bytes_per_s: of copies
    from pinned memory of the host 'to' the device and back ('from'); None for the CPU.
    """

    device: str
    copy_bytes_per_s: float
    read_bytes_per_s: float
    flops: dict[str, float]
    link_bytes_per_s: dict[str, float] | None = None

    def shortest(self, nbytes=0.0, flops=0.0, dtype="float64", reads_only=False):
        """The seconds that moving `nbytes` and doing `flops` take at least on this device."""
        rate = self.read_bytes_per_s if reads_only else self.copy_bytes_per_s
        return max(nbytes / rate, flops / self.flops.get(dtype, self.flops["float64"]))

    def as_dict(self):
        """The fields, for JSON."""
        return asdict(self)


@functools.cache
def measure(device="cpu", quick=False) -> Limits:
    """Measures a device: 'cpu', 'cuda' or 'cuda:N'. About 5 s; with `quick` 0.3 s and less exactly.

    The best of several runs of each, with Numbus and with NumPy: a limit is what the machine has
    shown it can do. Arrays are larger than caches, unless `quick`. Raises RuntimeError where the
    device cannot be used.
    """
    import numbus as nb

    with nb.device(device) as used:
        name = str(used)
        gpu = name.startswith("cuda")
        # 512 MB each on a CPU, 2 GB on a GPU.
        n = 1 << (22 if quick else 28 if gpu else 26)
        if gpu:
            n = min(n, nb.cuda.memory_stats(name)["limit"] // 64)
        copy, read = _memory(nb, n)
        if not gpu:
            copy = min(copy, _threaded_copy(n))
        flops = {dtype: _product(nb, dtype, gpu, quick) for dtype in FLOAT}
        nb.synchronize()
        link = _link(nb, name, quick) if gpu else None
        nb.cuda.trim(name)
    moved = 16 * n / copy
    return Limits(name, moved, max(8 * n / read, moved), flops, link)


def _best(run, wait=lambda: None, repeats=7, seconds=0.4):
    """The shortest time of run(), waited for, of up to `repeats` runs in about `seconds`."""
    run()
    wait()
    best, end = float("inf"), time.perf_counter() + seconds
    for _ in range(repeats):
        start = time.perf_counter()
        result = run()
        wait()
        best = min(best, time.perf_counter() - start)
        del result
        if time.perf_counter() > end:
            break
    return best


def _memory(nb, n):
    """The times of a copy of n float64 and of their sum."""
    source = nb.ones(n)
    copy = _best(source.copy, nb.synchronize)
    return copy, _best(source.sum, nb.synchronize)


def _threaded_copy(n):
    """The time of NumPy's copy of n float64 by as many threads as there are processors."""
    threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    source, target = np.ones(n), np.zeros(n)
    parts = list(zip(np.array_split(target, threads), np.array_split(source, threads)))

    def run():
        workers = [threading.Thread(target=np.copyto, args=part) for part in parts]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    return _best(run)


def _product(nb, dtype, gpu, quick):
    """Floating-point operations per second of a square matrix product."""
    size = 1024 if quick else 8192 if gpu else 2048
    host = np.random.default_rng(0).random((size, size), dtype)
    x = nb.array(host)
    times = [_best(lambda: x @ x, nb.synchronize)]
    if not gpu:
        times.append(_best(lambda: host @ host))
    return 2.0 * size**3 / min(times)


def _link(nb, device, quick):
    """Bytes per second from pinned memory of the host to the device, and back."""
    n = 1 << (20 if quick else 25)
    host = nb.cuda.pinned_array(n, np.float64)
    host[:] = 1.0
    there = nb.to_device(host, device)
    nb.synchronize()
    to = _best(lambda: nb.cuda.to_device(host, to=there), nb.synchronize)
    back = _best(lambda: there.copy_to_host(host), nb.synchronize)
    return {"to": 8 * n / to, "from": 8 * n / back}
