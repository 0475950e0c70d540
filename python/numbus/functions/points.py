"""Histograms of points: histogram2d and histogramdd."""

import numpy

from ..core.dtypes import kind_of
from ..core.operands import to_ndarray
from . import names as np
from .axes import product
from .histograms import (
    _binned,
    _cast,
    _check_real,
    _given_edges,
    _is_number,
    _limits,
    _spaced,
    _whole,
)
from .names import compiled as _compiled
from .names import is_known, not_yet
from .registry import Any, Array, Flag, function

__all__ = []


@function("np.histogram2d")
def histogram2d(
    x: Array,
    y: Array,
    bins: Any = 10,
    range: Any = None,
    density: Flag = None,
    weights: Array = None,
):
    """Histogram of points (x, y), float64, and the edges of both: the first axis is that of `x`.

    bins: an int or edges for both, or a pair with one for each; range: a pair of pairs. Otherwise
    as histogramdd().
    """
    if x.shape[0] != y.shape[0]:
        raise ValueError("[histogram2d] lengths differ; got another for y; expected that of x")
    _check_real(x)
    _check_real(y)
    t = np.result_type(x.dtype, y.dtype)
    columns = (_cast(x, t), _cast(y, t))
    limits = _each("histogram2d", "range", range, 2)
    _check_weights("histogram2d", weights, x.shape)
    hist, edges = _joint("histogram2d", columns, _pair(bins), limits, density, weights)
    return hist, edges[0], edges[1]


def _pair(bins):
    """The bins of each axis; edges for both of a sequence other than a pair."""
    if _compiled:
        listed = isinstance(bins, (tuple, list))
        if not listed and np.ndim(bins) > 0:
            _check_long(bins)
        several = listed and len(bins) < 3
    else:
        several = hasattr(bins, "__len__") and len(bins) < 3
    return _each("histogram2d", "bins", bins, 2) if several else (bins, bins)


def _check_long(bins):
    """How many bins an array of two has is not known while compiling."""
    if bins.shape[0] < 3:
        raise NotImplementedError("[histogram2d] bins; got a short array; expected a tuple")


def _check_weights(op, weights, shape):
    if weights is not None and shape[0] > 0 and weights.shape != shape:
        raise ValueError(f"[{op}] weights; got another shape; expected one for each point")
    if weights is not None and weights.dtype.kind == "c":
        raise TypeError(f"[{op}] weights; got complex ones; expected real ones")


def _each(op, name, given, count):
    """What is given for each coordinate; None for all where nothing is."""
    if given is None:
        return (None,) * count
    if len(given) != count:
        raise ValueError(f"[{op}] {name}; got another number; expected one per coordinate")
    return given


@function("np.histogramdd")
def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Flag = None, weights: Array = None
):
    """Histogram of points of D coordinates: (counts or sums of weights, float64 with an axis for
    each coordinate; a list of the edges).

    sample: an array (N, D), or D sequences. bins: an int for all, or an int or edges for each.
    range: the outer edges (first, last) or None for each. density, weights: as in histogram().
    Raises ValueError where the numbers of bins, ranges and coordinates differ. In compiled
    functions the sample is a tuple of coordinates, or one coordinate, or an array whose number of
    coordinates is a constant or the length of the tuple `bins` or `range`.
    """
    columns = _coordinates(sample, bins, range) if _compiled else _columns(sample)
    _check_real(columns[0])
    if _compiled:
        several = isinstance(bins, (tuple, list, numpy.ndarray))
    else:
        several = hasattr(bins, "__len__")
    given = bins if several else (bins,) * len(columns)
    given = _each("histogramdd", "bins", given, len(columns))
    limits = _each("histogramdd", "range", range, len(columns))
    _check_weights("histogramdd", weights, columns[0].shape)
    hist, edges = _joint("histogramdd", columns, given, limits, density, weights)
    return hist, list(edges)


def _coordinates(sample, bins, limits):
    """The columns of what a compiled function is given, all of one type."""
    if isinstance(sample, (tuple, list)):
        parts = tuple([np.asarray(x) for x in sample])
        for part in parts:
            if part.ndim != 1 or part.shape[0] != parts[0].shape[0]:
                raise ValueError("[histogramdd] coordinates; expected lines of one length")
        dtype = np.result_type(*parts)
        return tuple([part.astype(dtype) for part in parts])
    if sample.ndim == 1:
        return (sample,)
    if sample.ndim != 2:
        raise ValueError("[histogramdd] points; got another number of axes; expected one or two")
    if isinstance(bins, (tuple, list)):
        count = len(bins)
    elif isinstance(limits, (tuple, list)):
        count = len(limits)
    elif is_known(sample.shape[1]):
        count = sample.shape[1]
    else:
        not_yet("np.histogramdd() of an array of points", "a tuple of coordinates, or of bins")
    if sample.shape[1] != count:
        raise ValueError("[histogramdd] bins or range; got another number; expected one per axis")
    return _first_columns(sample, count)


def _first_columns(sample, count):
    """The first columns of an array as a tuple."""
    if count == 0:
        return ()
    return (*_first_columns(sample, count - 1), sample[:, count - 1])


def _columns(sample):
    shape = getattr(sample, "shape", ())
    points = to_ndarray(sample) if len(shape) else np.stack([to_ndarray(x) for x in sample])
    if len(shape) != 2:
        points = np.atleast_2d(points).T
    return tuple([points[:, i] for i in range(points.shape[1])])


def _joint(op, columns, bins, limits, density, weights):
    edges = _all_edges(op, columns, bins, limits)
    extents = _extents(edges)
    sums = _binned(_indices(columns, edges), weights, product(extents))
    hist = sums.reshape(extents).astype(np.float64)[_core_of(edges)]
    if density:
        return _over(hist, edges) / np.sum(hist), edges
    return hist, edges


def _all_edges(op, columns, bins, limits):
    if len(columns) == 0:
        return ()
    own = _axis_edges(op, columns[0], bins[0], limits[0])
    return (own,) + _all_edges(op, columns[1:], bins[1:], limits[1:])


def _axis_edges(op, column, bins, limits):
    if _is_number(bins):
        count = _whole(op, bins)
        if _compiled and column.size == 0 and kind_of(column.dtype) == "f":
            raise NotImplementedError(f"[{op}] no elements; got 0; expected at least 1")
        first, last = _limits(op, column, limits)
        return _spaced(first, last, count)
    return _given_edges(op, bins)


def _extents(edges):
    """The number of bins along each axis; one more at each end counts what lies outside."""
    if len(edges) == 0:
        return ()
    return (edges[0].shape[0] + 1,) + _extents(edges[1:])


def _core_of(edges):
    if len(edges) == 0:
        return ()
    return (slice(1, -1),) + _core_of(edges[1:])


def _indices(columns, edges):
    """Of each point the bin, of all bins in C order."""
    own = _own_bins(columns[-1], edges[-1])
    if len(columns) == 1:
        return own
    return _indices(columns[:-1], edges[:-1]) * (edges[-1].shape[0] + 1) + own


def _own_bins(column, edges):
    found = np.searchsorted(edges, column, "right")
    return found - (column == edges[edges.shape[0] - 1])


def _over(hist, edges):
    """Divided by the widths of the bins, axis by axis."""
    if len(edges) == 0:
        return hist
    e = edges[-1]
    widths = (e[1:] - e[:-1]).reshape((e.shape[0] - 1,) + (1,) * (hist.ndim - len(edges)))
    return _over(hist / widths, edges[:-1])
