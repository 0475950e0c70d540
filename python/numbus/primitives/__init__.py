"""The device kernels of the core's routines, in the kernel language: one file a subject.

src/routines/ decides on grids, scratch memory and the order of launches.
"""

import importlib
import threading

import numpy

__all__ = ["load"]

# Which file has the kernels of a routine, and the function there that makes them for a dtype.
_LOADERS = {
    "sort": ("sort", "load_sort"),
    "argsort": ("sort", "load_argsort"),
    "partition": ("sort", "load_sort"),
    "argpartition": ("sort", "load_argsort"),
    "select": ("select", "load_select"),
    "bincount": ("count", "load_bincount"),
    "weighted_bincount": ("count", "load_weighted_bincount"),
    "weigh": ("count", "load_weighted_bincount"),
    "histogram": ("count", "load_histogram"),
    "compact": ("compact", "load_compact"),
    "flatnonzero": ("compact", "load_flatnonzero"),
    "search": ("search", "load_search"),
    "interp": ("search", "load_interp"),
    "reduceat": ("fold", "load_reduceat"),
    "fold_runs": ("fold", "load_fold_runs"),
    "convolve": ("convolution", "load_convolve"),
    "pcg64": ("random", "load_pcg64"),
    "philox": ("random", "load_philox"),
    "normal": ("random", "load_normal"),
    "pcg64_sample": ("samples", "load_pcg64"),
    "philox_sample": ("samples", "load_philox"),
}
_loaded = set()
_lock = threading.RLock()


def load(routine, *dtypes):
    """Makes the kernels of a routine known to the core, for elements of these dtypes; once.

    A routine that applies an operation is named with it, and with the dtype in which that computes
    where it is another one: "reduceat.add", "fold_runs.hypot.float64"; one that draws samples with
    their kind: "pcg64_sample.normal". Raises KeyError for a routine that has none.
    """
    key = (routine, *(numpy.dtype(t).name for t in dtypes))
    if key in _loaded:
        return
    with _lock:
        if key in _loaded:
            return
        plain, _, op = routine.partition(".")
        file, name = _LOADERS[plain]
        more = op.split(".") if op else ()
        getattr(importlib.import_module(f"{__name__}.{file}"), name)(*key[1:], *more)
        _loaded.add(key)
