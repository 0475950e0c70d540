"""Where the libraries that the core loads at first use may be. Nothing is loaded here, and little
is imported: the first product of a program waits for this.
"""

import functools
import importlib.machinery
import os
import sys
from os.path import dirname, exists, join

# NVIDIA's libraries: the folder of the wheel, files from the newest on, other libraries needed.
_NVIDIA = {
    "cublas": ("cublas", ("libcublas.so.13", "libcublas.so.12", "libcublas.so.11"), ()),
    "cufft": ("cufft", ("libcufft.so.12", "libcufft.so.11", "libcufft.so.10"), ()),
    "cudnn": ("cudnn", ("libcudnn.so.9",), ("cublas",)),
    "nvjitlink": ("nvjitlink", ("libnvJitLink.so.13", "libnvJitLink.so.12"), ()),
    "cusparse": ("cusparse", ("libcusparse.so.12", "libcusparse.so.11"), ("nvjitlink",)),
    "cusolver": (
        "cusolver",
        ("libcusolver.so.12", "libcusolver.so.11"),
        ("nvjitlink", "cusparse", "cublas"),
    ),
    "nvrtc": ("cuda_nvrtc", ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"), ()),
    "nccl": ("nccl", ("libnccl.so.2",), ()),
}
NAMES = ("blas", *_NVIDIA)


def candidates(name):
    """The paths and file names to try for one of NAMES, in order."""
    if name == "nccl" and (chosen := os.environ.get("NUMBUS_NCCL")):
        return [chosen]
    return list(dict.fromkeys(_blas() if name == "blas" else _nvidia(*_NVIDIA[name][:2])))


@functools.cache
def offer(name):
    """Tells the core where to look, before the first operation that may need the library."""
    from .. import _core

    for needed in _NVIDIA[name][2] if name in _NVIDIA else ():
        offer(needed)
    _core.set_library_candidates(name, candidates(name))


def report(name):
    """What was found and every path tried: (path or None, [(path, outcome)])."""
    from .. import _core

    offer(name)
    return _core.library_report(name)


def _blas():
    chosen = os.environ.get("NUMBUS_BLAS")
    if chosen:
        yield chosen
    for folder in _package_folders("scipy_openblas32"):
        yield from _files(join(folder, "lib"), "libscipy_openblas")
    # NumPy's own copy is in the process already: no second pool of threads.
    for folder in _package_folders("numpy"):
        yield from _files(join(dirname(folder), "numpy.libs"), "openblas")
    # A Conda environment's libraries are not on the loader's path.
    yield from _file(join(sys.prefix, "lib"), "libopenblas.so.0")
    yield from ("libopenblas.so.0", "libopenblas.so", "libcblas.so.3", "libblas.so.3")


def _nvidia(package, files):
    # The order of NVIDIA's cuda-pathfinder; the core looks first for a copy loaded already.
    for entry in sys.path:
        for folder in ("nvidia/cu13/lib", f"nvidia/{package}/lib"):
            for file in files:
                yield from _file(join(entry or ".", folder), file)
    if conda := os.environ.get("CONDA_PREFIX"):
        for file in files:
            yield from _file(join(conda, "lib"), file)
    yield from files
    for home in _cuda_homes():
        for file in files:
            yield join(home, "lib64", file)


def headers():
    """The folders that have CUDA's own headers (cuda_fp16.h), for NVRTC's option -I; the first
    suffices.
    """
    found = []
    for entry in sys.path:
        for folder in ("nvidia/cu13/include", "nvidia/cuda_runtime/include"):
            found += _file(join(entry or ".", folder), "cuda_runtime_api.h")
    roots = [os.environ.get("CONDA_PREFIX"), *_cuda_homes()]
    for root in filter(None, roots):
        for folder in ("include", "targets/x86_64-linux/include"):
            found += _file(join(root, folder), "cuda_runtime_api.h")
    return list(dict.fromkeys(dirname(file) for file in found))


def _cuda_homes():
    homes = [os.environ.get("CUDA_PATH"), os.environ.get("CUDA_HOME"), "/usr/local/cuda"]
    return list(filter(None, homes))


def _package_folders(name):
    """Where a package is installed; it is not imported for that."""
    if name in sys.modules:
        return list(getattr(sys.modules[name], "__path__", ()))
    try:
        spec = importlib.machinery.PathFinder.find_spec(name)
    except (ImportError, ValueError):
        return []
    return list((spec and spec.submodule_search_locations) or ())


def _file(folder, name):
    """The path of a file as a list; empty where there is none."""
    path = join(folder, name)
    return [path] if exists(path) else []


def _files(folder, word):
    """The shared libraries in a folder with that word in their names, sorted; nothing where there
    is no folder.
    """
    try:
        names = [name for name in os.listdir(folder) if word in name and ".so" in name]
    except OSError:
        return []
    return [join(folder, name) for name in sorted(names)]
