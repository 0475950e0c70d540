"""CuPy's names over Numbus: what `import cupy` gives in a script that Numbus runs.

The array is numbus.ndarray and functions are Numbus's own. Every public name of `numbus` is here,
and what CuPy has beside NumPy's names; the rest raises AttributeError.
"""

# ruff: noqa: F401 – names for users
import importlib as _importlib

import numbus as _numbus

from .._missing import missing as _missing
from . import _arrays, _legacy, _memory, _misc
from ._convert import (
    array,
    asanyarray,
    asarray,
    ascontiguousarray,
    asfortranarray,
    asnumpy,
    from_dlpack,
    get_array_module,
)
from ._legacy import *  # noqa: F403
from ._memory import get_default_memory_pool, get_default_pinned_memory_pool
from ._misc import clear_memo, fuse, is_available, memoize, show_config, vectorize

__name__ = "cupy"
__version__ = "13.4.1"

ndarray = _numbus.ndarray
ufunc = _numbus.ufunc
fromDlpack = from_dlpack

_SUBMODULES = frozenset(
    "cuda exceptions fft lib linalg polynomial random testing typing".split()
)  # loaded when they are asked for
_KERNELS = {
    "ElementwiseKernel": "_elementwise",
    "RawKernel": "_raw",
    "RawModule": "_raw",
    "ReductionKernel": "_reduction",
}
# Of NumPy's module that are none of its functions, and of Numbus's own.
_NOT_SERVED = frozenset(
    "compat core ctypeslib distutils f2py kernels ma matrix memmap rec recarray strings "
    "chararray char jit njit prange stencil guvectorize types".split()
)

_arrays.attach()
# Who imports CuPy names the GPU.
_numbus._core.ask_for_gpu()


def __getattr__(name):
    if name == "__all__":
        return __dir__()
    if name in _SUBMODULES:
        value = _importlib.import_module(f"{__package__}.{name}")
    elif name in _KERNELS:
        value = getattr(_importlib.import_module(f"{__package__}.{_KERNELS[name]}"), name)
    elif name.startswith("_") or name in _NOT_SERVED:
        return _missing("cupy", name)
    else:
        try:
            value = getattr(_numbus, name)
        except AttributeError:
            return _missing("cupy", name)
    globals()[name] = value
    return value


def __dir__():
    names = {*dir(_numbus), *globals(), *_SUBMODULES, *_KERNELS} - _NOT_SERVED
    return sorted(name for name in names if not name.startswith("_"))
