"""Python functions compiled to native code: jit, njit, prange."""

from . import types
from ._dispatch import Dispatcher, jit, njit, prange
from ._errors import CompileError, UnsupportedError

__all__ = ["CompileError", "Dispatcher", "UnsupportedError", "jit", "njit", "prange", "types"]
