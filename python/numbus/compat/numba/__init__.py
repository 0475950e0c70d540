"""Numba's names over Numbus: what `import numba` gives in a script that Numbus runs.

Functions and types are those of numbus.kernels; `numba.cuda` is numbus.cuda itself. What is not
served yet raises an error that names the line.
"""

# ruff: noqa: F401 – names for users
import importlib as _importlib
import inspect as _inspect
import sys as _sys

import numpy as _numpy

from numbus.kernels import (
    carray,
    cfunc,
    farray,
    guvectorize,
    jit,
    njit,
    objmode,
    prange,
    stencil,
    vectorize,
)
from numbus.kernels._resolve import name_object as _name_object

from .._missing import missing as _missing
from . import _threads, types
from ._threads import (
    get_num_threads,
    get_parallel_chunksize,
    get_thread_id,
    parallel_chunksize,
    set_num_threads,
    set_parallel_chunksize,
    threading_layer,
)
from ._typeof import from_dtype, typeof
from .core import config, errors
from .core.errors import *  # noqa: F403
from .types import *  # noqa: F403

__name__ = "numba"
__version__ = "0.61.0"
version_info = (0, 61, 0)


class pndindex(_numpy.ndindex):
    """ndindex: its loops run on one thread, in the order of the elements."""


_name_object(pndindex, "np.ndindex")


def jit_module(**options):
    """Has `jit(**options)` decorate the functions that the caller's module has defined so far.

    Raises what jit() does for the options.
    """
    space = _sys._getframe(1).f_globals
    for name, value in list(space.items()):
        if _inspect.isfunction(value) and value.__module__ == space.get("__name__"):
            space[name] = jit(**options)(value)


def __getattr__(name):
    if name == "cuda":
        cuda = _importlib.import_module("numbus.cuda")
        # Not inside of this package: import hooks of other packages watch for "numba.cuda".
        cuda.cudadrv = _importlib.import_module("numbus.compat.numba_driver")
        return cuda
    if name == "literal_unroll":
        return _importlib.import_module("numbus.cuda").literal_unroll
    if name in ("typed", "experimental", "extending"):
        return _importlib.import_module(f"{__package__}.{name}")
    return _missing("numba", name)
