"""Counting values: bincount and histogram, as scatters that add up."""

import numpy

from .. import _core
from ..core import routines
from ..core.errors import message
from ..core.fallback import call
from ..core.operands import dtype_of, operand, to_ndarray
from ..core.ufuncs import UFUNCS
from .ranges import linspace
from .registry import Any, Array, Int, function

__all__ = ["bincount", "histogram"]

_INT64 = numpy.dtype(numpy.int64)
_FLOAT64 = numpy.dtype(numpy.float64)


@function("np.bincount", kind="primitive")
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


def histogram(a, bins=10, range=None, density=None, weights=None):
    """How many values fall into each of `bins` equal parts of `range`, and the edges of these."""
    a = operand(a)
    plain = (
        type(bins) is int
        and dtype_of(a).kind in "iuf"
        and dtype_of(a) != numpy.float16
        and (weights is None or dtype_of(weights).kind in "iuf")
    )
    if not plain:  # edges given, or a rule for their number: a search in sorted edges
        args = {"bins": bins, "range": range, "density": density, "weights": weights}
        return call("numpy.histogram", numpy.histogram, (a,), args)
    a = to_ndarray(a)
    if weights is not None:
        weights = to_ndarray(weights)
        if weights.shape != a.shape:
            raise ValueError(
                message("histogram", "weights of another shape", weights.shape, a.shape)
            )
        weights = weights.ravel()
    a = a.ravel()
    if bins < 1:
        raise ValueError(message("histogram", "too few bins", bins, "at least 1"))
    first, last = _limits(a, range)
    kind = numpy.result_type(first, last, a.dtype.type(0))
    kind = kind if kind.kind == "f" else _FLOAT64
    edges = linspace(first, last, bins + 1, dtype=kind)
    inside = UFUNCS["logical_and"](a >= first, a <= last)
    # NumPy's way: by the quotient, then right by one where the edges themselves say otherwise.
    a = a.astype(kind)
    place = (a - first) / (last - first) * bins
    index = _core.where(inside, place, 0.0).astype(_INT64)
    index = UFUNCS["minimum"](index, bins - 1)
    index = index - (a < edges[index])
    index = index + UFUNCS["logical_and"](a >= edges[index + 1], index != bins - 1)
    counts = routines.bincount(index, bins, weights, inside)
    if weights is not None:
        counts = counts.astype(weights.dtype)
    if not density:
        return counts, edges
    return counts / (edges[1:] - edges[:-1]) / counts.sum(), edges


def _limits(a, range):
    """The outer edges: as given, or of the values; not one point."""
    if range is not None:
        first, last = range
        if first > last:
            raise ValueError(message("histogram", "limits out of order", range, "first <= last"))
        what = "range"
    elif a.size == 0:
        return 0.0, 1.0
    else:
        first, last, what = *[a.dtype.type(x.item()) for x in (a.min(), a.max())], "values'"
    if not (numpy.isfinite(first) and numpy.isfinite(last)):
        raise ValueError(
            message("histogram", f"{what} limits are not finite", (first, last), "finite limits")
        )
    if a.dtype.kind in "iu":
        first, last = float(first), float(last)
    return (first - 0.5, last + 0.5) if first == last else (first, last)
