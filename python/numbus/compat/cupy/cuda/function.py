"""cupy.cuda.function: modules of machine code or PTX, and their kernels."""

from ..._missing import getter
from .._raw import Function, Module

__name__ = "cupy.cuda.function"
__all__ = ["Function", "Module"]
__getattr__ = getter(__name__)
