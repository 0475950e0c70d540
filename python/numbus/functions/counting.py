"""Counting values: bincount and histogram, as scatters that add up."""

import numpy

from .. import _core
from ..core.errors import message
from ..core.fallback import call
from ..core.operands import dtype_of, operand, to_ndarray
from ..core.ufuncs import UFUNCS
from .ranges import linspace

__all__ = ["bincount", "histogram"]

_INT64 = numpy.dtype(numpy.int64)
_FLOAT64 = numpy.dtype(numpy.float64)


def bincount(x, /, weights=None, minlength=0):
    """How often each value 0, 1, … occurs in the 1-d integers `x`, or the sum of its `weights`."""
    x = to_ndarray(x)
    if x.ndim != 1:
        raise ValueError(message("bincount", "x has to be 1-d", f"{x.ndim}-d", "1-d"))
    if x.dtype.kind not in "iub" and x.size:
        raise TypeError(message("bincount", "x has to be integers", x.dtype, "an integer dtype"))
    if not numpy.can_cast(x.dtype, _INT64, "safe") and x.size:
        raise TypeError(message("bincount", "cannot cast x safely", x.dtype, "at most int64"))
    if minlength < 0:
        raise ValueError(message("bincount", "negative minlength", minlength, "at least 0"))
    if weights is not None:
        weights = to_ndarray(weights)
        if weights.shape != x.shape:
            raise ValueError(
                message("bincount", "weights of another length", weights.shape, x.shape)
            )
        if not numpy.can_cast(weights.dtype, _FLOAT64, "safe"):
            raise TypeError(message("bincount", "weights", weights.dtype, "safe for float64"))
    length = minlength
    if x.size:
        low, high = int(x.min()), int(x.max())
        if low < 0:
            raise ValueError(message("bincount", "negative values", low, "values >= 0"))
        length = max(length, high + 1)
    return _counts(x.astype(_INT64), weights, length)


def _counts(index, weights, length, where=None):
    """Sums over the points of each index, which are within [0, length)."""
    kind = _INT64 if weights is None else _FLOAT64
    counts = _core.full((length,), 0, kind)
    if index.size:
        add = 1 if weights is None else weights.astype(kind)
        _core.scatter(counts, 1, [index], 0, add, "add", where=where)
    return counts


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
    counts = _counts(index, weights, bins, inside)
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
