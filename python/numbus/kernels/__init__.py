"""Python functions compiled to native code: jit, njit, prange, vectorize, stencil."""

from . import types
from ._cfunc import carray, cfunc, farray
from ._dispatch import Dispatcher, jit, njit, prange
from ._errors import CompileError, UnsupportedError
from ._guvectorize import guvectorize
from ._object_mode import objmode
from ._stencil import stencil
from ._vectorize import DUFunc, vectorize

__all__ = [
    "CompileError",
    "DUFunc",
    "Dispatcher",
    "UnsupportedError",
    "carray",
    "cfunc",
    "farray",
    "guvectorize",
    "jit",
    "njit",
    "objmode",
    "prange",
    "stencil",
    "types",
    "vectorize",
]
