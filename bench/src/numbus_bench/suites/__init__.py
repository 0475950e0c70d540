"""The suites of the benchmark, one module each: TITLE, ABOUT and cases(quick).

A suite may also be a file of the user's own with these names.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
from pathlib import Path

__all__ = ["SUITES", "find", "load"]

# In the order in which they run.
SUITES = ("arrays", "matmul", "sin", "crossover", "mandelbrot", "heat", "atomics", "transfer",
          "latency")  # fmt: skip


@functools.cache
def load(name):
    """The module of a suite, by its name or by the path of a file."""
    if name in SUITES:
        return importlib.import_module(f"{__name__}.{name}")
    spec = importlib.util.spec_from_file_location("numbus_bench_" + Path(name).stem, name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.cache
def _cases(suite, quick):
    return {case.name: case for case in load(suite).cases(quick)}


def find(suite, name, quick):
    """One case of a suite."""
    return _cases(suite, quick)[name]
