"""Order statistics: medians, quantiles and percentiles, and these of what is not NaN."""

import numpy

from ..core import dtypes, routines
from ..core.dtypes import is_half, kind_of
from . import names as np
from .axes import product
from .names import compiled as _compiled
from .registry import Array, Axes, Choice, Flag, Operand, Out, OutUnsafe, function

# Arithmetic on q and on indices made of it is written with `numpy`: numbers of the host stay there,
# and arrays of ours, where each line has indices of its own, are handed to Numbus.

__all__ = []

_METHODS = (
    "inverted_cdf",
    "averaged_inverted_cdf",
    "closest_observation",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "linear",
    "median_unbiased",
    "normal_unbiased",
    "lower",
    "higher",
    "midpoint",
    "nearest",
)


# Lines: the axes of an array that are reduced, as its last one.


def lines_of(a, axes):
    """The given axes as one, the last; None: all of them."""
    if axes is None:
        return a.ravel()
    if len(axes) == 1:
        return np.moveaxis(a, axes[0], -1)
    kept = a.ndim - len(axes)
    moved = _last(a, axes)
    return moved.reshape(moved.shape[:kept] + (product(moved.shape[kept:]),))


def _last(a, axes):
    """The array with these axes after the others."""
    if len(axes) == 0:
        return a
    first = axes[0]
    return _last(np.moveaxis(a, first, -1), _less(axes[1:], first))


def _less(axes, moved):
    """Axes, after an axis has moved to the end."""
    if len(axes) == 0:
        return ()
    return (axes[0] - 1 if axes[0] > moved else axes[0],) + _less(axes[1:], moved)


def _kept(ndim, axes, d=0):
    """An index that puts axes of one element where axes were reduced."""
    if d == ndim:
        return ()
    if axes is None or d in axes:
        return (None,) + _kept(ndim, axes, d + 1)
    return (slice(None),) + _kept(ndim, axes, d + 1)


def _restored(result, ndim, axes):
    """What keepdims= asks for: axes of one element where axes were reduced."""
    return np.asarray(result)[(...,) + _kept(ndim, axes)] if ndim else result


def _of_lines(lines, k):
    """The elements of one index in each line."""
    return lines[k] if lines.ndim == 1 else lines[..., k]


def _several(lines, k, many):
    """The elements of index k in each line; of `many` indices the axes come first."""
    return np.moveaxis(lines, -1, 0)[k] if many else _of_lines(lines, k)


def _starts(lines):
    """The index of each line's first element in the flattened array."""
    kept = lines.shape[:-1]
    return (np.arange(product(kept)) * lines.shape[-1]).reshape(kept)


def _each_own(lines, k):
    """The elements in each line by indices of its own, of shape q.shape + lines.shape[:-1]."""
    return lines[k] if lines.ndim == 1 else lines.ravel()[_starts(lines) + k]


def _in_order(lines, order):
    """Each line in an order of its own."""
    return lines[order] if lines.ndim == 1 else lines.ravel()[_starts(lines)[..., None] + order]


def _chosen(lines, low, high, many):
    """The elements that sorting puts at the indices `low` and `high` of each line, and at the end.

    Of `many` indices, arrays of one shape, the axes come first. high: None where it is not asked
    for.
    """
    n = lines.shape[-1]
    if _compiled:
        ordered = np.sort(lines)
        first = _several(ordered, low, many)
        second = first if high is None else _several(ordered, high, many)
        return first, second, _of_lines(ordered, n - 1)
    ranks = low.ravel().tolist() if many else [low]
    m = len(ranks)
    if high is not None:
        ranks += high.ravel().tolist() if many else [high]
    if n > 0:
        ranks.append(n - 1)
    found = routines.select(lines, ranks, lines.ndim - 1)
    if lines.ndim > 1:
        found = np.moveaxis(found, -1, 0)
    first, second = found[:m], found[m:-1] if high is not None else found[:m]
    shape = low.shape + found.shape[1:] if many else found.shape[1:]
    return first.reshape(shape), second.reshape(shape), found[-1] if n > 0 else None


# Medians.


@function("np.median")
def median(
    a: Array,
    axis: Axes = None,
    out: OutUnsafe = None,
    overwrite_input: Flag = False,
    keepdims: Flag = False,
):
    """The middle of the sorted elements over `axis`; NaN where one is NaN."""
    lines = lines_of(a, axis)
    middle = _middle(lines, lines.shape[-1], kind_of(a.dtype) in "fc")
    return _restored(middle, a.ndim, axis) if keepdims else middle


def _middle(lines, n, with_nans):
    """The middle of the first n sorted elements of each line; NaN where one is, `with_nans`."""
    if lines.shape[-1] == 0:
        return np.mean(lines, -1)
    x, y, last = _chosen(lines, (n - 1) // 2, n // 2, False)
    if n % 2:
        result = _summed(x) / 1
    else:
        result = (_summed(x) + _summed(y)) / 2
    if is_half(lines.dtype):
        result = result.astype(lines.dtype)
    if with_nans:
        result = np.where(np.isnan(last), last, result)
    return result


def _summed(x):
    """Numbers as NumPy's mean() adds them up, to a zero: none of its results is -0.0."""
    if is_half(x.dtype):
        return x.astype(np.float32) + 0.0
    return x + 0.0 if kind_of(x.dtype) in "fc" else x.astype(np.float64)


def _present(line, missing):
    """How many elements of a line are not missing, at least 1: sorting puts these first."""
    count = line.shape[0] - int(np.sum(missing))
    return max(count, 1)


@function("np.nanmedian")
def nanmedian(
    a: Array,
    axis: Axes = None,
    out: OutUnsafe = None,
    overwrite_input: Flag = False,
    keepdims: Flag = False,
):
    """The median over `axis` of what is not NaN; NaN where all is NaN."""
    if kind_of(a.dtype) not in "fc":
        return median(a, axis, None, overwrite_input, keepdims)
    lines = lines_of(a, axis)
    if lines.ndim == 1:
        middle = _middle(lines, _present(lines, np.isnan(lines)), False)
    elif lines.shape[-1] == 0:
        middle = np.mean(lines, -1)
    else:
        ordered = np.sort(lines)
        n = lines.shape[-1] - np.sum(np.isnan(lines), -1)
        x = _summed(_each_own(ordered, np.maximum(n - 1, 0) // 2))
        y = _summed(_each_own(ordered, np.minimum(n // 2, lines.shape[-1] - 1)))
        middle = np.where(n % 2 == 1, x, (x + y) / 2).astype(a.dtype)
    return _restored(middle, a.ndim, axis) if keepdims else middle


# Quantiles.


def _quantile_function(name, most, skips_nan, rule, doc):
    """Registers the quantile function for parts of `most`; rule: the annotation of its `out`."""

    def body(
        a: Array,
        q: Operand,
        axis: Axes = None,
        out: rule = None,
        overwrite_input: Flag = False,
        method: Choice(*_METHODS) = "linear",
        keepdims: Flag = False,
        *,
        weights: Array = None,
    ):
        if weights is not None and method != "inverted_cdf":
            raise ValueError(
                f"[{name}] weights; got another method; expected method 'inverted_cdf'"
            )
        weak = _is_weak(q)
        part = _host(q) if most == 1 else _host(q) / most
        _check_range(name, a, part, most)
        if skips_nan:
            return _nan_quantiles(name, a, part, weak, axis, method, keepdims, weights)
        return _quantiles(name, a, part, weak, axis, method, keepdims, weights)

    body.__name__ = body.__qualname__ = name
    body.__doc__ = doc
    return function(f"np.{name}")(body)


quantile = _quantile_function(
    "quantile",
    1,
    False,
    Out,
    "The q-th quantiles over `axis`, q in [0, 1]; several of them are the result's first axes.",
)
percentile = _quantile_function("percentile", 100, False, Out, "The quantiles of q / 100.")
nanquantile = _quantile_function(
    "nanquantile",
    1,
    True,
    OutUnsafe,
    "The q-th quantiles over `axis` of what is not NaN; NaN where all is NaN.",
)
nanpercentile = _quantile_function(
    "nanpercentile", 100, True, OutUnsafe, "The quantiles of q / 100 of what is not NaN."
)


def _is_weak(q):
    """Whether q is one of Python's numbers, which does not widen the result."""
    if _compiled:
        return np.ndim(q) == 0 and np.result_type(q, np.float16) == np.float16
    return type(q) is float or type(q) is int


def _host(q):
    """q as a number, or an array of numbers, of the host."""
    if _compiled:
        return q if np.ndim(q) > 0 else q.item()
    if type(q) in (int, float, bool):
        return q
    return numpy.asarray(q) if np.ndim(q) > 0 else q.dtype.type(q.item())


def _check_range(op, a, q, most):
    if a.dtype.kind == "c":
        raise TypeError(f"[{op}] complex numbers; got a complex array; expected real numbers")
    if np.ndim(q) > 2:
        raise ValueError(f"[{op}] q; got more than 2 axes; expected at most 2")
    inside = True
    if np.ndim(q) == 0:
        inside = 0 <= q and q <= 1
    elif q.size > 0:
        inside = bool(((q >= 0) & (q <= 1)).all())
    if not inside:
        raise ValueError(f"[{op}] q; got values out of range; expected those of [0, {most}]")


def _quantiles(op, a, q, weak, axis, method, keepdims, weights):
    lines = lines_of(a, axis)
    if weights is not None:
        result = _weighted(lines, lines_of(_spread(op, weights, a, axis), axis), q)
    else:
        asked = np.ndim(q) == 0 or q.size > 0 or kind_of(a.dtype) == "f"
        if lines.shape[-1] == 0 and asked:
            raise IndexError(f"[{op}] lines without elements; got 0; expected at least 1")
        result = _unweighted(lines, lines.shape[-1], kind_of(a.dtype) == "f", q, weak, method)
    return _restored(result, a.ndim, axis) if keepdims else result


def _unweighted(lines, n, with_nans, q, weak, method):
    """Quantiles of the first n sorted elements of each line; NaN where one is, `with_nans`."""
    many = np.ndim(q) > 0
    v = _virtual(n, q, method, many)
    if method in _DISCRETE or (method == "linear" and _is_whole(v)):
        result, _, last = _chosen(lines, _index(v, many), None, many)
    else:
        low = _index(_clipped(_floor(v, many), n, many), many)
        high = numpy.minimum(low + 1, n - 1) if many else min(low + 1, n - 1)
        # Beyond the ends, and at the last one, both are the same.
        high = numpy.where(v < 0, 0, high) if many else (0 if v < 0 else high)
        t = _fraction(v, low, method, many)
        if many:
            t = np.asarray(t.reshape(t.shape + (1,) * (lines.ndim - 1)))
        elif weak:
            t = float(t)
        first, second, last = _chosen(lines, low, high, many)
        result = _lerp(first, second, t, many)
    if with_nans:
        result = np.where(np.isnan(last), last, result)
    return result


def _is_whole(v):
    if _compiled:
        return np.result_type(v).kind in "iu"
    return type(v) is not float and (type(v) is int or v.dtype.kind in "iu")


def _typed(v, t):
    """A number in the type of v."""
    if _compiled:
        return np.result_type(v).type(t)
    return t if type(v) is float or type(v) is int else v.dtype.type(t)


_DISCRETE = ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")


def _floor(v, many):
    return numpy.floor(v) if many else v // 1


def _virtual(n, q, method, many):
    """The index in a sorted line of n elements at which a quantile is, by the rules of `method`."""
    if method == "linear":
        return (n - 1) * q
    if method == "lower":
        return _floor((n - 1) * q, many)
    if method == "higher":
        return -_floor(-((n - 1) * q), many)
    if method == "nearest":
        v = (n - 1) * q
        return numpy.rint(v) if many else round(v)
    if method == "midpoint":
        v = (n - 1) * q
        return 0.5 * (_floor(v, many) - _floor(-v, many))
    if method == "inverted_cdf":
        return _boundary(n * q - 1, False, many)
    if method == "closest_observation":
        return _boundary(n * q - 1.5, True, many)
    if method == "averaged_inverted_cdf":
        return n * q - 1
    if method == "interpolated_inverted_cdf":
        return n * q + (0 + q * (1 - 0 - 1)) - 1
    if method == "hazen":
        return n * q + (0.5 + q * (1 - 0.5 - 0.5)) - 1
    if method == "weibull":
        return n * q + (0 + q * (1 - 0 - 0)) - 1
    if method == "median_unbiased":
        return n * q + (1 / 3.0 + q * (1 - 1 / 3.0 - 1 / 3.0)) - 1
    return n * q + (3 / 8.0 + q * (1 - 3 / 8.0 - 3 / 8.0)) - 1


def _boundary(v, odd, many):
    """The next index, or this one where it is whole (and odd, where that is asked for)."""
    low = _floor(v, many)
    if many:
        stays = numpy.logical_and(v == low, low % 2 == 1) if odd else v == low
        return numpy.maximum(numpy.where(stays, low, low + 1), 0)
    stays = v == low and (not odd or low % 2 == 1)
    return max(low if stays else low + 1, 0)


def _index(v, many):
    return v.astype(numpy.int64) if many else int(v)


def _clipped(low, n, many):
    return numpy.minimum(numpy.maximum(low, 0), n - 1) if many else min(max(low, 0), n - 1)


def _fraction(v, low, method, many):
    """How far v is from one index to the next, as `method` takes it."""
    t = v - low
    if method == "averaged_inverted_cdf":
        if many:
            return numpy.where(t == 0, 0.5, 1.0).astype(dtypes.result_type(v))
        return _typed(v, 0.5 if t == 0 else 1.0)
    if method == "midpoint":
        if many:
            return numpy.where(v % 1 == 0, 0.0, 0.5).astype(dtypes.result_type(v))
        return _typed(v, 0.0 if v % 1 == 0 else 0.5)
    return t if many else _typed(v, t)


def _lerp(a, b, t, many):
    """From a to b; from the side that is nearer, as NumPy, so that the ends are met."""
    if a.dtype == np.bool_:
        raise TypeError("[quantile] bool numbers; got bool; expected numbers or another method")
    step = b - a
    if many:
        return np.where(t >= 0.5, b - step * (1 - t), a + step * t)
    if t >= 0.5:
        result = b - step * (1 - t)
    else:
        result = a + step * t
    return result


def _spread(op, weights, a, axis):
    """Weights of every element: given as such, or along the axes in their order."""
    if weights.ndim == a.ndim and weights.shape == a.shape:
        return weights
    if axis is None:
        raise TypeError(f"[{op}] axis; got None; expected the axes that the weights are along")
    extents = _extents(a.shape, axis)
    if weights.ndim != len(axis) or weights.shape != extents:
        raise ValueError(f"[{op}] shape of weights; got another; expected that along the axes")
    if len(axis) > 1:
        order = tuple(sorted(range(len(axis)), key=lambda k: axis[k]))
        weights = weights.transpose(order)
    return np.broadcast_to(weights.reshape(_ones_but(a.shape, axis)), a.shape)


def _extents(shape, axes):
    if len(axes) == 0:
        return ()
    return (shape[axes[0]],) + _extents(shape, axes[1:])


def _ones_but(shape, axes, d=0):
    """Extents along these axes, and 1 along the others."""
    if d == len(shape):
        return ()
    return (shape[d] if d in axes else 1,) + _ones_but(shape, axes, d + 1)


def _weighted(lines, weights, q):
    """The first element at which the sum of the weights so far reaches q."""
    order, sums = _sums(lines, weights)
    if bool(np.any(np.isnan(sums[..., -1]))):
        raise ValueError("[quantile] weights; got NaN, infinity or nothing but zeros")
    ordered = _in_order(lines, order)
    result = _reached(ordered, sums, q)
    if kind_of(lines.dtype) == "f":
        last = _of_lines(ordered, lines.shape[-1] - 1)
        result = np.where(np.isnan(last), last, result)
    return result


def _nan_weighted(lines, missing, weights, q):
    """_weighted() with no weight where an element is NaN."""
    order, sums = _sums(lines, np.where(missing, 0, weights))
    if bool(np.any(np.isnan(sums[..., -1]) & ~np.all(missing, -1))):
        raise ValueError("[quantile] weights; got NaN, infinity or nothing but zeros")
    return _reached(_in_order(lines, order), sums, q)


def _sums(lines, weights):
    """The order of each line, and what part of its weights is reached at each element."""
    if bool(np.any(weights < 0)):
        raise ValueError("[quantile] weights; got negative ones; expected none below 0")
    order = np.argsort(lines)
    sums = np.cumsum(_in_order(weights, order).astype(np.float64), -1)
    return order, sums / sums[..., -1:]


def _reached(ordered, sums, q):
    if kind_of(np.result_type(q)) == "f":
        sums = sums.astype(np.result_type(q))
    most = ordered.shape[-1] - 1
    if np.ndim(q):
        line = q.reshape(q.shape + (1,) * sums.ndim)
        before = np.logical_or(sums < line, sums == 0)
        return _each_own(ordered, np.minimum(np.sum(before, -1), most))
    k = np.minimum(np.sum(np.logical_or(sums < q, sums == 0), -1), most)
    return _of_lines(ordered, k) if ordered.ndim == 1 else _each_own(ordered, k)


def _nan_quantiles(op, a, q, weak, axis, method, keepdims, weights):
    if a.size == 0:
        if _compiled:
            raise NotImplementedError(f"[{op}] no elements; got 0; expected at least 1")
        return np.nanmean(a, axis, keepdims=keepdims)
    if kind_of(a.dtype) != "f":
        return _quantiles(op, a, q, weak, axis, method, keepdims, weights)
    lines = lines_of(a, axis)
    missing = np.isnan(lines)
    if weights is not None:
        given = lines_of(_spread(op, weights, a, axis), axis)
        result = _nan_weighted(lines, missing, given, q)
    else:
        result = _nan_unweighted(lines, missing, q, weak, method)
    return _restored(result, a.ndim, axis) if keepdims else result


def _nan_unweighted(lines, missing, q, weak, method):
    if lines.ndim > 1:
        return _nan_between(lines, missing, q, weak, method)
    return _unweighted(lines, _present(lines, missing), False, q, weak, method)


def _nan_between(lines, missing, q, weak, method):
    """Quantiles where each line has a number of elements of its own, NaNs being last."""
    ordered = np.sort(lines)
    count = np.sum(missing, -1)
    n = lines.shape[-1] - count
    if np.ndim(q):
        q = q.reshape(q.shape + (1,) * (lines.ndim - 1))
    v = np.asarray(_virtual(n, q, method, True))
    low = _index(np.minimum(np.maximum(_floor(v, True), 0), np.maximum(n - 1, 0)), True)
    if method in _DISCRETE or (method == "linear" and _is_whole(v)):
        return _each_own(ordered, low)
    high = np.where(v < 0, 0, np.minimum(low + 1, np.maximum(n - 1, 0)))
    t = _fraction(v, low, method, True)
    t = t.astype(lines.dtype) if weak else t
    return _lerp(_each_own(ordered, low), _each_own(ordered, high), t, True)
