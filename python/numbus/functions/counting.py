"""Counting integers: bincount."""

import numpy

from ..core import routines
from ..core.errors import message
from ..core.operands import to_ndarray
from ..core.quick import quick
from .registry import Any, Array, Int, function

__all__ = ["bincount"]

_FLOAT64 = numpy.dtype(numpy.float64)


@function("np.bincount", kind="primitive")
@quick("bincount")
def bincount(x: Array, /, weights: Any = None, minlength: Int = 0):
    """How often each value 0, 1, … occurs in the 1-d integers `x`, int64, or the float64 sum of its
    `weights`; at least `minlength` of them.

    Raises ValueError for negative values and other shapes, TypeError for other dtypes.
    """
    if x.ndim != 1:
        raise ValueError(message("bincount", "x has to be 1-d", f"{x.ndim}-d", "1-d"))
    if x.dtype.kind not in "iub" and x.size:
        raise TypeError(message("bincount", "x has to be integers", x.dtype, "an integer dtype"))
    if minlength < 0:
        raise ValueError(message("bincount", "negative minlength", minlength, "at least 0"))
    if weights is not None and x.size:
        weights = to_ndarray(weights)
        if weights.shape != x.shape:
            raise ValueError(
                message("bincount", "weights of another length", weights.shape, x.shape)
            )
        if not numpy.can_cast(weights.dtype, _FLOAT64, "safe"):
            raise TypeError(message("bincount", "weights", weights.dtype, "safe for float64"))
        weights = weights.astype(_FLOAT64, copy=False)
    length = minlength
    if x.size:
        low, high = int(x.min()), int(x.max())
        if low < 0:
            raise ValueError(message("bincount", "negative values", low, "values >= 0"))
        length = max(length, high + 1)
    return routines.bincount(x, length, weights if x.size else None)
