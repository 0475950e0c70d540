"""typeof and from_dtype: from values and dtypes to types."""

import numpy

from numbus import _core
from numbus.kernels import types


def from_dtype(dtype):
    """The type of elements of a dtype. Raises NotImplementedError for those that kernels lack."""
    name = numpy.dtype(dtype).name
    found = types.boolean if name == "bool" else getattr(types, name, None)
    if not isinstance(found, types.Type):
        raise NotImplementedError(
            f"[from_dtype] a dtype that compiled functions do not know yet; got {dtype}; expected "
            "numbers or bool"
        )
    return found


def typeof(val, purpose=None):
    """The type of a value: of a number, an array or a tuple. Raises ValueError for others."""
    if isinstance(val, (numpy.ndarray, _core.ndarray)):
        layout = "C" if val.flags["C_CONTIGUOUS"] else "F" if val.flags["F_CONTIGUOUS"] else "A"
        return types.Array(from_dtype(val.dtype), val.ndim, layout)
    if isinstance(val, bool):
        return types.boolean
    if isinstance(val, (numpy.generic, _core.generic)):
        return from_dtype(val.dtype)
    if isinstance(val, int):
        return types.int64 if -(2**63) <= val < 2**63 else types.uint64
    if isinstance(val, float):
        return types.float64
    if isinstance(val, complex):
        return types.complex128
    if isinstance(val, tuple):
        return types.Tuple([typeof(v) for v in val])
    if val is None:
        return types.none
    raise ValueError(
        f"[typeof] a value of a type that compiled functions do not know yet; got "
        f"{type(val).__name__}; expected a number, an array or a tuple"
    )
