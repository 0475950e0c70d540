"""Where the libraries that the core loads at first use may be. Nothing is loaded here."""

import functools
import importlib.util
import os
import sys
from pathlib import Path

# Newest first.
_CUBLAS = ("libcublas.so.13", "libcublas.so.12", "libcublas.so.11")


def candidates(name):
    """The paths and file names to try for 'blas' or 'cublas', in order."""
    return list(dict.fromkeys({"blas": _blas, "cublas": _cublas}[name]()))


@functools.cache
def offer(name):
    """Tells the core where to look, before the first operation that may need the library."""
    from . import _core

    _core.set_library_candidates(name, candidates(name))


def report(name):
    """What was found and every path tried: (path or None, [(path, outcome)])."""
    from . import _core

    offer(name)
    return _core.library_report(name)


def _blas():
    chosen = os.environ.get("NUMBUS_BLAS")
    if chosen:
        yield chosen
    for folder in _package_folders("scipy_openblas32"):
        yield from _files(folder / "lib", "libscipy_openblas*.so*")
    # NumPy's own copy is in the process already: no second pool of threads.
    for folder in _package_folders("numpy"):
        yield from _files(folder.parent / "numpy.libs", "*openblas*.so*")
    # A Conda environment's libraries are not on the loader's path.
    yield from _files(Path(sys.prefix) / "lib", "libopenblas.so.0")
    yield from ("libopenblas.so.0", "libopenblas.so", "libcblas.so.3", "libblas.so.3")


def _cublas():
    # The order of NVIDIA's cuda-pathfinder; the core looks first for a copy loaded already.
    for entry in sys.path:
        for folder in ("nvidia/cu13/lib", "nvidia/cublas/lib"):
            for file in _CUBLAS:
                yield from _files(Path(entry or ".") / folder, file)
    if conda := os.environ.get("CONDA_PREFIX"):
        for file in _CUBLAS:
            yield from _files(Path(conda) / "lib", file)
    yield from _CUBLAS
    homes = [os.environ.get("CUDA_PATH"), os.environ.get("CUDA_HOME"), "/usr/local/cuda"]
    for home in filter(None, homes):
        for file in _CUBLAS:
            yield str(Path(home) / "lib64" / file)


def _package_folders(name):
    """Where a package is installed; it is not imported for that."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):  # ValueError: it is in sys.modules without a specification
        return []
    return [Path(folder) for folder in (spec and spec.submodule_search_locations) or ()]


def _files(folder, pattern):
    """The files in a folder, sorted; nothing where there is no folder."""
    try:
        return sorted(str(file) for file in folder.glob(pattern))
    except OSError:
        return []
