"""Histograms: how many values, or how much weight, lies in each bin, and the edges of the bins."""

from ..core import routines
from ..core.dtypes import kind_of
from ..core.errors import one_int
from . import names as np
from .names import compiled as _compiled
from .names import not_yet
from .quantiles import percentile
from .registry import Any, Array, Flag, function

__all__ = []

_BLOCK = 4096  # elements that compiled functions take at a time, so that indices stay in caches
_RULES = ("auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt")


@function("np.histogram")
def histogram(
    a: Array, bins: Any = 10, range: Any = None, density: Flag = None, weights: Array = None
):
    """How many elements of `a`, or how much of their `weights`, lie in each bin; and the edges.

    bins: how many of equal width over `range` (of the elements where that is None); the edges,
    which do not decrease; or a rule for their number, as in histogram_bin_edges. A bin has its left
    edge, the last one both; complex numbers are ordered by their real parts, then the imaginary
    ones. density: over the bins' widths and the sum, so that the integral is 1.
    Counts are int64, sums have the dtype of `weights`. Raises ValueError for edges out of order,
    limits that are not finite, and weights of another shape; TypeError for a number of bins that is
    no integer.
    """
    if weights is not None and weights.shape != a.shape:
        raise ValueError("[histogram] shape of weights; got another; expected that of the elements")
    flat = _flat(a)
    edges = _edges("histogram", flat, bins, range, weights is not None)
    even = _is_even(bins)
    if edges.size < 2:
        counts = np.zeros(0, np.int64 if weights is None else weights.dtype)
    elif weights is None:
        counts = _counts(flat, edges, even)
    else:
        counts = _sums(flat, edges, even, weights.ravel())
    if density:
        return counts / (edges[1:] - edges[:-1]).astype(np.float64) / np.sum(counts), edges
    return counts, edges


@function("np.histogram_bin_edges")
def histogram_bin_edges(a: Array, bins: Any = 10, range: Any = None, weights: Array = None):
    """The edges that histogram() would use, one more than bins.

    bins: an int, the edges themselves, or a rule for the width of bins: 'auto', 'fd', 'doane',
    'scott', 'stone', 'rice', 'sturges', 'sqrt'. Raises as histogram() does; weights only have to
    have the shape of `a`, and go with no rule.
    """
    if weights is not None and weights.shape != a.shape:
        raise ValueError(
            "[histogram_bin_edges] shape of weights; got another; expected that of the elements"
        )
    return _edges("histogram_bin_edges", _flat(a), bins, range, weights is not None)


def _flat(a):
    """The elements in a line; booleans, of which there is no difference, as numbers."""
    _check_real(a)
    return a.ravel().astype(np.uint8) if a.dtype.kind == "b" else a.ravel()


def _check_real(a):
    """Complex numbers, ordered by their real parts first, are not in compiled functions."""
    if _compiled and a.dtype.kind == "c":
        not_yet("histograms of complex numbers", "x.real")


def _is_even(bins):
    """Whether the bins will have equal widths."""
    return isinstance(bins, str) or _is_number(bins)


def _is_number(bins):
    return not isinstance(bins, (tuple, list)) and np.ndim(bins) == 0


# Edges.


def _edges(op, flat, bins, limits, weighted):
    if isinstance(bins, str):
        if bins not in _RULES:
            raise ValueError(f"[{op}] bins; got no known rule; expected an int, edges, or a rule")
        if flat.dtype.kind == "c":
            raise TypeError(f"[{op}] bins by a rule; got complex numbers; expected real ones")
        if weighted:
            raise TypeError(f"[{op}] bins by a rule; got weights; expected none")
        first, last = _limits(op, flat, limits)
        x = flat if limits is None else _inside(flat, first, last)
        count = _estimated(bins, x, first, last)
        return _even_edges(op, flat.dtype, first, last, count)
    if _is_number(bins):
        count = _whole(op, bins)
        first, last = _limits(op, flat, limits)
        return _even_edges(op, flat.dtype, first, last, count)
    return _given_edges(op, bins)


def _whole(op, bins):
    """The number of bins."""
    if _compiled:
        if np.result_type(bins).kind not in "iub":
            raise TypeError(f"[{op}] bins; got a number that is no integer; expected an int")
        count = int(bins)
    else:
        count = one_int(op, "bins", bins)
    if count < 1:
        raise ValueError(f"[{op}] bins; got fewer than 1; expected at least 1")
    return count


def _given_edges(op, bins):
    edges = np.asarray(bins)
    if edges.ndim != 1:
        raise ValueError(f"[{op}] bins; got edges of more than one axis; expected one axis")
    if edges.size > 1 and bool(np.any(edges[:-1] > edges[1:])):
        raise ValueError(f"[{op}] bins; got edges that decrease; expected increasing ones")
    return edges


def _limits(op, flat, limits):
    """The outer edges, in the type of the values where these are floats and give them."""
    if limits is not None:
        first, last = _given(limits[0]), _given(limits[1])
        if first > last:
            raise ValueError(f"[{op}] range; got limits out of order; expected first <= last")
    else:
        first, last = _extremes(flat)
    finite = -np.inf < first and first < np.inf and -np.inf < last and last < np.inf
    if not _compiled and np.iscomplexobj(first + last):
        finite = np.isfinite(first + last)
    if not finite:
        raise ValueError(f"[{op}] limits are not finite; got infinity or NaN; expected numbers")
    if first == last:
        return first - 0.5, last + 0.5
    return first, last


def _given(x):
    return x if _compiled or not hasattr(x, "item") else x.dtype.type(x.item())


def _extremes(flat):
    own = flat.dtype.type if kind_of(flat.dtype) in "fc" else np.float64
    if flat.size == 0:
        return (own(0), own(1)) if _compiled else (0.0, 1.0)
    low, high = flat.min(), flat.max()
    if _compiled:
        return own(low), own(high)
    return own(low.item()), own(high.item())


def _even_edges(op, dtype, first, last, count):
    kind = np.result_type(first, last, dtype)
    spaced = _spaced(first, last, count)
    edges = _cast(spaced, kind) if kind_of(kind) in "fc" else spaced
    if kind_of(kind) == "c":
        near = last - first <= count * 4e-3 * max(abs(first), abs(last))
    else:
        # Only edges this near together, or further apart than any number, can be equal.
        low, high = float(first), float(last)
        most = 65504.0 if kind == np.float16 else 3.4e38 if kind.itemsize <= 4 else 1.7e308
        spread = high - low
        near = spread <= count * 4e-3 * max(abs(low), abs(high)) or spread > most
    if near and bool(np.any(edges[:-1] >= edges[1:])):
        raise ValueError(f"[{op}] too many bins; got no room between edges; expected fewer bins")
    return edges


def _spaced(first, last, count):
    """Edges of `count` bins of equal width, computed in the type that linspace() takes."""
    if not _compiled:
        return np.linspace(first, last, count + 1)
    t = np.result_type(first, last, 0.0)
    edges = np.arange(count + 1).astype(t) * ((t.type(last) - t.type(first)) / t.type(count))
    edges = edges + t.type(first)
    edges[count] = last
    return edges


# Rules for the number of bins.


def _inside(flat, first, last):
    return flat[_between(flat, first, last)]


def _estimated(rule, x, first, last):
    """How many bins a rule wants."""
    if x.size == 0:
        return 1
    width = float(_width(rule, x, first, last))
    if width == 0 or width != width:
        return 1
    if x.dtype.kind in "iu" and width < 1:
        width = 1.0
    return int(np.ceil(float(last - first) / width))


def _width(rule, x, first, last):
    if rule == "fd":
        return _fd(x)
    if rule == "scott":
        return (24.0 * np.pi**0.5 / x.size) ** (1.0 / 3.0) * np.std(x)
    low, high = _extremes(x)
    spread = high - low
    if rule == "auto":
        return min(max(_fd(x), spread / np.sqrt(x.size) / 2), spread / (np.log2(x.size) + 1.0))
    if rule == "sqrt":
        return spread / np.sqrt(x.size)
    if rule == "sturges":
        return spread / (np.log2(x.size) + 1.0)
    if rule == "rice":
        return spread / (2.0 * x.size ** (1.0 / 3))
    if rule == "doane":
        return _doane(x, spread)
    return _stone(x, spread, first, last)


def _fd(x):
    """By the distance of the quartiles (Freedman and Diaconis)."""
    quartiles = percentile(x, [75, 25])
    return 2.0 * float(quartiles[0] - quartiles[1]) * x.size ** (-1.0 / 3.0)


def _doane(x, spread):
    """Sturges' rule, with the skewness."""
    n = x.size
    if n <= 2:
        return 0.0
    sigma = float(np.std(x))
    if sigma == 0:
        return 0.0
    d = (x - np.mean(x)) / sigma
    skewness = abs(float(np.mean(d * d * d)))
    unit = np.sqrt(6.0 * (n - 2) / ((n + 1.0) * (n + 3)))
    return float(spread) / (1.0 + np.log2(n) + np.log2(1.0 + skewness / unit))


def _stone(x, spread, first, last):
    """The number of bins with the least estimated loss, by leaving values out one by one."""
    n = x.size
    if n <= 1 or spread == 0:
        return 0.0
    best, least = 1, np.inf
    count = 1
    while count <= max(100, int(np.sqrt(n))):
        share = _counts(x, _even_edges("histogram", x.dtype, first, last, count), True) / n
        loss = (2 - (n + 1) * float(np.sum(share * share))) / (float(spread) / count)
        if loss < least:
            best, least = count, loss
        count += 1
    return float(spread) / best


# Counts.


def _counts(flat, edges, even):
    real = flat.dtype.kind != "c" and edges.dtype.kind != "c"
    if not _compiled and real and routines.takes_edges(flat, edges, even):
        if even:
            return routines.histogram(flat, edges, True)
        t = np.result_type(flat.dtype, edges.dtype)
        return routines.histogram(_cast(flat, t), _cast(edges, t), False)
    return _tallied(flat, edges, even, None, np.int64)


def _cast(x, dtype):
    return x if x.dtype == dtype else x.astype(dtype)


def _even_bins(flat, edges):
    """The bin of each value by its quotient, corrected by the edges beside it; one bin too many for
    those outside.
    """
    bins = edges.size - 1
    x = _cast(flat, edges.dtype)
    low, high = edges[0], edges[bins]
    inside = _between(flat, low, high)
    position = (x - low) / (high - low) * bins
    if edges.dtype.kind == "c":  # as NumPy does, though it may be more than one bin off
        position = np.minimum(np.maximum(position.real, 0), bins - 1)
    position = np.where(inside, position, 0)
    index = np.minimum(position.astype(np.int64), bins - 1)
    index = index - (x < edges[index])
    above = np.logical_and(x >= edges[index + 1], index != bins - 1)
    return np.where(inside, index + above, bins)


def _between(x, low, high):
    return np.logical_and(x >= low, x <= high)


def _any_bins(flat, edges):
    """The bin of each value by bisection; one bin too many for those outside."""
    bins = edges.size - 1
    found = np.searchsorted(edges, flat, "right") - 1
    last = edges[bins]
    on_edge = np.logical_and(found == bins, np.logical_or(flat == last, last != last))
    found = np.where(on_edge, bins - 1, found)
    return np.where(found < 0, bins, found)


def _sums(flat, edges, even, weights):
    if weights.dtype.kind == "c":
        sums = np.zeros(edges.size - 1, weights.dtype)
        sums.real[...] = _tallied(flat, edges, even, weights.real, np.float64)
        sums.imag[...] = _tallied(flat, edges, even, weights.imag, np.float64)
        return sums
    if even or kind_of(weights.dtype) == "f":
        return _tallied(flat, edges, even, weights, np.float64).astype(weights.dtype)
    if weights.dtype.kind == "b":
        raise TypeError("[histogram] weights; got booleans with edges; expected numbers")
    # Sums of integers, which float64 need not hold.
    return _tallied(flat, edges, even, weights, np.int64).astype(weights.dtype)


def _bins_of(flat, edges, even):
    return _even_bins(flat, edges) if even else _any_bins(flat, edges)


def _tallied(flat, edges, even, weights, dtype):
    """The sums of the weights in each bin, in a dtype; how many values where there are none."""
    bins = edges.size - 1
    if _compiled:
        sums = np.zeros(bins + 1, dtype)
        for at in range(0, flat.size, _BLOCK):
            index = _bins_of(flat[at : at + _BLOCK], edges, even)
            _add(sums, index, None if weights is None else weights[at : at + _BLOCK])
        return sums[:bins]
    if weights is not None and dtype == np.int64:
        sums = np.zeros(bins + 1, dtype)
        np.add.at(sums, _bins_of(flat, edges, even), weights.astype(dtype))
        return sums[:bins]
    return _binned(_bins_of(flat, edges, even), weights, bins + 1)[:bins]


def _add(sums, index, weights):
    for k in range(index.shape[0]):
        sums[index[k]] += 1 if weights is None else weights[k]


def _binned(index, weights, count):
    """How often each of `count` indices occurs, or the float64 sums of their weights."""
    if not _compiled:
        w = None if weights is None else _cast(weights, np.float64)
        return routines.bincount(index, count, w)
    sums = np.zeros(count, np.int64 if weights is None else np.float64)
    _add(sums, index, weights)
    return sums
