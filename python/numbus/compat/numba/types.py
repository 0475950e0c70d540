"""numba.types: the types of numbus.kernels, under Numba's names."""

from numbus.kernels import types as _types
from numbus.kernels.classes import deferred_type
from numbus.kernels.types import *  # noqa: F403

from .._missing import missing as _missing

__name__ = "numba.types"

uchar, ulong = _types.uint8, _types.uint64
Array, Tuple, UniTuple = _types.Array, _types.Tuple, _types.UniTuple
DictType, ListType = _types.DictType, _types.ListType
CPointer, Set = _types.CPointer, _types.Set
Number, Integer, Float, Complex = _types.Number, _types.Integer, _types.Float, _types.Complex
Boolean, UnicodeType, NoneType = _types.Boolean, _types.UnicodeType, _types.NoneType
BaseTuple, Optional, optional = _types.BaseTuple, _types.Optional, _types.optional
ClassInstanceType = _types.ClassInstanceType
Type = _types.Type
float, int, bool = _types.float64, _types.int64, _types.boolean
# Not `float`, `int` and `bool`, which would hide Python's in `from numba import *`.
__all__ = [n for n in _types.__all__ if n not in ("Type", "is_arguments", "signature")]
__all__ += ["deferred_type", "optional", "uchar", "ulong"]


def __getattr__(name):
    return _missing("numba.types", name, "numbers, arrays and tuples of these")
