"""Counting integers: bincount."""

from ..core import routines
from ..core.quick import quick
from . import names as np
from .names import compiled as _compiled
from .registry import Any, Array, IntOnly, function

__all__ = ["bincount"]


@function("np.bincount", kind="primitive")
@quick("bincount")
def bincount(x: Array, /, weights: Any = None, minlength: IntOnly = 0):
    """How often each value 0, 1, … occurs in the 1-d integers `x`, int64, or the float64 sum of its
    `weights`; at least `minlength` of them.

    Raises ValueError for negative values and other shapes, TypeError for other dtypes.
    """
    if x.ndim != 1:
        raise ValueError(f"[bincount] x has to be 1-d; got {x.ndim}-d; expected 1-d")
    if x.dtype.kind not in "iub" and (_compiled or x.size > 0):
        raise TypeError("[bincount] x has to be integers; got another dtype; expected integers")
    if minlength < 0:
        raise ValueError(f"[bincount] negative minlength; got {minlength}; expected at least 0")
    length = minlength
    if x.size > 0:
        low, high = int(x.min()), int(x.max())
        if low < 0:
            raise ValueError(f"[bincount] negative values; got {low}; expected values >= 0")
        length = max(length, high + 1)
    if weights is None or (not _compiled and x.size == 0):
        return routines.bincount(x, length)
    shares = np.asarray(weights)
    if shares.ndim != 1 or shares.shape[0] != x.shape[0]:
        raise ValueError("[bincount] weights of another length; got others; expected that of x")
    if not np.can_cast(shares.dtype, np.float64, "safe"):
        raise TypeError("[bincount] weights; got another dtype; expected one safe for float64")
    return routines.bincount(x, length, shares.astype(np.float64, copy=False))
