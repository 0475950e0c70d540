"""Sums, extremes, moments, sorts: what takes dimensions away or orders them."""

import functools

import numpy

import numbus as nb

from .. import _core
from ..core.dtypes import is_half, kind_of
from ..core.errors import message
from ..gradients import custom_gradient
from . import _dtypes
from ._arrays import (
    array,
    as_dtype,
    axes_of,
    axis_of,
    floating,
    is_number,
    no_out,
    together,
    without_slope,
)
from ._functions import method, named_results, pure_function, tensor_function
from ._tensor import Tensor
from .selecting import order_of, outer_order, rank_order


def _kept(a, t):
    """In a dtype that was asked for, as sums of short integers are not."""
    return a if t is None else as_dtype(a, _dtypes.to_numpy(t))


def _whole_numbers(a, t):
    """Integers and truth values in int64, unless a dtype is asked for."""
    if t is not None:
        return as_dtype(a, _dtypes.to_numpy(t))
    return as_dtype(a, _dtypes.int64.numpy) if a.dtype.kind in "iub" else a


def _axis(op, dim, a):
    return axes_of(op, dim, a.ndim)


@method()
@tensor_function
def sum(input, dim=None, keepdim=False, *, dtype=None):
    """The sum of all elements, or along dimensions; of integers in int64."""
    a = _whole_numbers(input, dtype)
    return _kept(nb.sum(a, axis=_axis("sum", dim, a), keepdims=keepdim), dtype)


@method()
@tensor_function
def nansum(input, dim=None, keepdim=False, *, dtype=None):
    """The sum of the elements that are numbers."""
    a = _whole_numbers(input, dtype)
    return _kept(nb.nansum(a, axis=_axis("nansum", dim, a), keepdims=keepdim), dtype)


@method()
@tensor_function
def prod(input, dim=None, keepdim=False, *, dtype=None):
    """The product of all elements, or along one dimension."""
    a = _whole_numbers(input, dtype)
    return _kept(nb.prod(a, axis=_axis("prod", dim, a), keepdims=keepdim), dtype)


def _needs_floats(op, a):
    if kind_of(a.dtype) not in "fc":
        raise RuntimeError(
            message(op, "not floating point", a.dtype, "a floating-point dtype, or dtype=")
        )


@method()
@pure_function
def mean(input, dim=None, keepdim=False, *, dtype=None):
    """The mean of all elements, or along dimensions. Raises RuntimeError for integers."""
    a = _kept(input, dtype)
    _needs_floats("mean", a)
    return nb.mean(a, axis=_axis("mean", dim, a), keepdims=keepdim)


@method()
@tensor_function
def nanmean(input, dim=None, keepdim=False, *, dtype=None):
    """The mean of the elements that are numbers."""
    a = _kept(input, dtype)
    return nb.nanmean(a, axis=_axis("nanmean", dim, a), keepdims=keepdim)


def _corrected(dim, unbiased, correction):
    """The dimensions and what is taken from the number of elements, of PyTorch's two spellings."""
    if isinstance(dim, bool):  # std(unbiased)
        dim, unbiased = None, dim
    if unbiased is not None:
        correction = 1 if unbiased else 0
    return dim, 1 if correction is None else correction


def _moment(op, function):
    def body(input, dim=None, unbiased=None, keepdim=False, *, correction=1):
        dim, correction = _corrected(dim, unbiased, correction)
        _needs_floats(op, input)
        return function(input, axis=_axis(op, dim, input), ddof=correction, keepdims=keepdim)

    body.__name__ = body.__qualname__ = op
    return body


def _std(a, **keywords):
    """Where all elements are equal the derivative is zero, as PyTorch's is."""
    if not _core.watching() or not _core.depends(a) or is_half(a.dtype):
        return nb.std(a, **keywords)
    return _root(nb.var(a, **keywords), 2)


std = tensor_function(_moment("std", _std))
std.__doc__ = "The standard deviation, of n - correction (1) degrees of freedom."
var = tensor_function(_moment("var", nb.var))
var.__doc__ = "The variance, of n - correction (1) degrees of freedom."
Tensor.std, Tensor.var = std, var


@tensor_function
def var_mean(input, dim=None, unbiased=None, keepdim=False, *, correction=1):
    """The variance and the mean."""
    dim, correction = _corrected(dim, unbiased, correction)
    axis = _axis("var_mean", dim, input)
    return (
        nb.var(input, axis=axis, ddof=correction, keepdims=keepdim),
        nb.mean(input, axis=axis, keepdims=keepdim),
    )


@tensor_function
def std_mean(input, dim=None, unbiased=None, keepdim=False, *, correction=1):
    """The standard deviation and the mean."""
    dim, correction = _corrected(dim, unbiased, correction)
    axis = _axis("std_mean", dim, input)
    return (
        _std(input, axis=axis, ddof=correction, keepdims=keepdim),
        nb.mean(input, axis=axis, keepdims=keepdim),
    )


def _truth(a, found):
    """PyTorch keeps uint8, its type of truth values of old."""
    return as_dtype(nb.asarray(found), a.dtype) if a.dtype == _dtypes.uint8.numpy else found


@method("all")
@tensor_function
def all(input, dim=None, keepdim=False):
    """Whether all elements are not zero."""
    return _truth(input, nb.all(input, axis=_axis("all", dim, input), keepdims=keepdim))


@method("any")
@tensor_function
def any(input, dim=None, keepdim=False):
    """Whether an element is not zero."""
    return _truth(input, nb.any(input, axis=_axis("any", dim, input), keepdims=keepdim))


@method()
@tensor_function
def count_nonzero(input, dim=None):
    """How many elements are not zero."""
    return nb.asarray(nb.count_nonzero(input, axis=_axis("count_nonzero", dim, input)))


@method()
@tensor_function
def amax(input, dim=None, keepdim=False):
    """The largest elements; of several, all share the derivative."""
    return nb.max(input, axis=_axis("amax", dim, input), keepdims=keepdim)


@method()
@tensor_function
def amin(input, dim=None, keepdim=False):
    """The smallest elements; of several, all share the derivative."""
    return nb.min(input, axis=_axis("amin", dim, input), keepdims=keepdim)


def _numbers(function):
    def body(input, dim=None, keepdim=False):
        if dim is None:
            found = nb.asarray(function(nb.reshape(input, (-1,))))
            return nb.reshape(found, (1,) * input.ndim) if keepdim else found
        if input.ndim == 0:
            return nb.zeros((), dtype="i8")
        return function(input, axis=axis_of("argmax", dim, input.ndim), keepdims=keepdim)

    return body


argmax = tensor_function(_numbers(nb.argmax))
argmax.__doc__ = "The index of the first largest element, of all or along a dimension."
argmin = tensor_function(_numbers(nb.argmin))
argmin.__doc__ = "The index of the first smallest element, of all or along a dimension."
Tensor.argmax, Tensor.argmin = argmax, argmin

_PAIRS = {
    name: named_results(name, ["values", "indices"])
    for name in (
        "max",
        "min",
        "sort",
        "topk",
        "median",
        "kthvalue",
        "mode",
        "cummax",
        "cummin",
        "nanmedian",
    )
}


def _taken(a, index, axis):
    return nb.take_along_axis(a, index, axis=axis)


def _extreme(op, whole, number, pair):
    def body(input, dim=None, keepdim=False, *, other=None):
        dim = other if dim is None else dim
        if dim is None:
            return whole(input)
        if hasattr(dim, "dtype"):
            return pair(*together(input, dim))
        if input.ndim == 0:
            return _PAIRS[op](input, nb.zeros((), dtype="i8"))
        k = axis_of(op, dim, input.ndim)
        if input.shape[k] == 0:
            raise IndexError(message(op, "a dimension without elements", dim, "elements"))
        index = number(nb.stop_gradient(input), axis=k, keepdims=True)
        values = _taken(input, index, k)
        if not keepdim:
            values, index = nb.squeeze(values, axis=k), nb.squeeze(index, axis=k)
        return _PAIRS[op](values, index)

    body.__name__ = body.__qualname__ = op
    return body


max = tensor_function(_extreme("max", nb.max, nb.argmax, nb.maximum))
max.__doc__ = (
    """The largest element; along a dimension, values and indices; of two tensors, `maximum`."""
)
min = tensor_function(_extreme("min", nb.min, nb.argmin, nb.minimum))
min.__doc__ = """The smallest element; along a dimension, values and indices; of two, `minimum`."""
Tensor.max, Tensor.min = max, min


_EXTREMES = named_results("aminmax", ["min", "max"])


@method()
@tensor_function
def aminmax(input, *, dim=None, keepdim=False):
    """The smallest and the largest elements."""
    axis = _axis("aminmax", dim, input)
    return _EXTREMES(*[f(input, axis=axis, keepdims=keepdim) for f in (nb.min, nb.max)])


@method()
@pure_function
def logsumexp(input, dim, keepdim=False):
    """log(sum(exp(x))) along dimensions."""
    axis = _axis("logsumexp", dim, input)
    a = floating(input)
    top = nb.stop_gradient(nb.max(a, axis=axis, keepdims=True))
    top = nb.where(nb.isfinite(top), top, nb.zeros((), dtype=a.dtype))
    found = nb.log(nb.sum(nb.exp(a - top), axis=axis, keepdims=True)) + top
    return found if keepdim else nb.squeeze(found, axis=axis)


def _root(s, p):
    """The p-th root; where the sum is zero, the derivative is zero, as PyTorch's is."""
    if not _core.watching() or not hasattr(s, "dtype") or not _core.depends(s):
        return nb.sqrt(s) if p == 2 else nb.power(s, 1 / p)
    zero = s == 0
    safe = nb.where(zero, nb.ones((), dtype=s.dtype), s)
    root = nb.sqrt(safe) if p == 2 else nb.power(safe, 1 / p)
    return nb.where(zero, nb.zeros((), dtype=s.dtype), root)


@tensor_function
def norm(input, p="fro", dim=None, keepdim=False, dtype=None):
    """The norm of order p of all elements, or along dimensions."""
    a = _kept(input, dtype)
    _needs_floats("norm", a)
    if p == "nuc":
        axes = tuple(range(a.ndim)) if dim is None else dim
        if not isinstance(axes, (tuple, list)) or len(axes) != 2:
            raise RuntimeError(message("norm", "dimensions of order 'nuc'", axes, "two"))
        return nb.linalg.norm(a, "nuc", axis=tuple(axes), keepdims=keepdim)
    axis = _axis("norm", dim, a)
    if p in ("fro", 2, None):
        return _root(nb.sum(nb.square(nb.abs(a)), axis=axis, keepdims=keepdim), 2)
    size = nb.abs(a)
    if p == float("inf"):
        return nb.max(size, axis=axis, keepdims=keepdim)
    if p == float("-inf"):
        return nb.min(size, axis=axis, keepdims=keepdim)
    if p == 0:
        counted = without_slope(lambda x: as_dtype(x != 0, x.dtype))
        return nb.sum(counted(size), axis=axis, keepdims=keepdim)
    if p == 1:
        return nb.sum(size, axis=axis, keepdims=keepdim)
    if not isinstance(p, (int, float)):
        raise RuntimeError(message("norm", "unknown order", p, "a number or 'fro'"))
    if p < 1:  # where an element is zero the power has no slope: there it counts as none
        zero, none = size == 0, nb.zeros((), size.dtype)
        powers = nb.where(zero, none if p > 0 else none + 1, nb.power(nb.where(zero, 1, size), p))
        total = nb.power(nb.sum(powers, axis=axis, keepdims=keepdim), 1 / p)
        # Of a negative order one zero makes the norm zero.
        return total if p > 0 else nb.where(nb.any(zero, axis=axis, keepdims=keepdim), none, total)
    return _root(nb.sum(nb.power(size, p), axis=axis, keepdims=keepdim), p)


Tensor.norm = norm


@method()
@tensor_function
def dist(input, other, p=2):
    """The norm of the difference."""
    return norm.on_arrays(input - other, p)


def _scanned(function, a, dim):
    if a.ndim == 0:
        return a
    axis = axis_of(function.__name__, dim, a.ndim)
    if is_half(a.dtype):  # each result is rounded once
        return function(a.astype("f4"), axis=axis).astype(a.dtype)
    return function(a, axis=axis)


@method()
@tensor_function
def cumsum(input, dim, *, dtype=None, out=None):
    """Sums of the elements so far along a dimension."""
    no_out("cumsum", out)
    a = _whole_numbers(input, dtype)
    return _scanned(nb.cumsum, a, dim)


@method()
@tensor_function
def cumprod(input, dim, *, dtype=None, out=None):
    """Products of the elements so far along a dimension."""
    no_out("cumprod", out)
    a = _whole_numbers(input, dtype)
    return _scanned(nb.cumprod, a, dim)


@method()
@tensor_function
def diff(input, n=1, dim=-1, prepend=None, append=None):
    """Differences of neighbours, after `prepend` and before `append` where these are given."""
    parts = [a for a in (prepend, input, append) if a is not None]
    if len(parts) > 1:
        t = _dtypes.common(parts)
        input = nb.concatenate([as_dtype(a, t) for a in parts], axis=dim)
    if input.dtype.kind == "b":
        for _ in range(n):
            k = axis_of("diff", dim, input.ndim)
            one = nb.moveaxis(input, k, 0)
            input = nb.moveaxis(one[1:] ^ one[:-1], 0, k)
        return input
    return nb.diff(input, n, axis=dim)


@method()
@tensor_function
def sort(input, dim=-1, descending=False, stable=False):
    """The elements in order along a dimension, and their indices; NaN counts as the largest."""
    if input.ndim == 0:
        return _PAIRS["sort"](input, nb.zeros((), dtype="i8"))
    k = axis_of("sort", dim, input.ndim)
    order = order_of(input, k, descending)
    return _PAIRS["sort"](_taken(input, order, k), order)


@method()
@tensor_function
def argsort(input, dim=-1, descending=False, stable=False):
    """Indices that sort along a dimension."""
    if input.ndim == 0:
        return nb.zeros((), dtype="i8")
    return order_of(input, axis_of("argsort", dim, input.ndim), descending)


@method()
@tensor_function
def topk(input, k, dim=-1, largest=True, sorted=True):
    """The k largest or smallest elements along a dimension in order, and their indices."""
    d = axis_of("topk", dim, input.ndim)
    n = input.shape[d] if input.ndim else 1
    if not 0 <= k <= n:
        raise RuntimeError(message("topk", "more elements than there are", f"k={k}", f"0 to {n}"))
    if input.ndim == 0:
        return _PAIRS["topk"](input.copy(), nb.zeros((), dtype="i8"))
    order = outer_order(input, d, k, largest)
    if order is None:
        order = order_of(input, d, largest)[(slice(None),) * d + (slice(k),)]
    return _PAIRS["topk"](_taken(input, order, d), order)


@method()
@tensor_function
def kthvalue(input, k, dim=-1, keepdim=False):
    """The k-th smallest element along a dimension, counted from one, and its index."""
    return _kth("kthvalue", input, k - 1, dim, keepdim)


def _kth(op, a, k, dim, keepdim):
    if a.ndim == 0:
        return _PAIRS[op](a, nb.zeros((), dtype="i8"))
    d = axis_of(op, dim, a.ndim)
    if not 0 <= k < a.shape[d]:
        raise RuntimeError(message(op, "no such element", k + 1, f"1 to {a.shape[d]}"))
    order = rank_order(a, d, k)
    if order is None:
        order = order_of(a, d, False)[(slice(None),) * d + (slice(k, k + 1),)]
    values = _taken(a, order, d)
    if not keepdim:
        values, order = nb.squeeze(values, axis=d), nb.squeeze(order, axis=d)
    return _PAIRS[op](values, order)


@method()
@tensor_function
def median(input, dim=None, keepdim=False):
    """The median, of two middle elements the lower; NaN where one is NaN."""
    if dim is None:
        return _median_of_all(nb.reshape(input, (-1,)))
    return _median(input, dim, keepdim)


@functools.partial(custom_gradient, repeats=True)
def _median_of_all(line):
    """Elements that are equal to the median share its derivative."""
    found = _median(line, 0, False).values

    def pull(g):
        same = (line == found) | (nb.isnan(line) & nb.isnan(found))
        return g * as_dtype(same, line.dtype) / as_dtype(nb.sum(same), line.dtype)

    return found, pull


def _median(a, dim, keepdim):
    d = axis_of("median", dim, a.ndim)
    n = a.shape[d] if a.ndim else 1
    found = _kth("median", a, (n - 1) // 2, dim, keepdim)
    if kind_of(a.dtype) != "f" or a.ndim == 0:
        return found
    bad = nb.isnan(nb.stop_gradient(a))
    first = nb.argmax(bad, axis=d, keepdims=True)
    hit = nb.any(bad, axis=d, keepdims=True)
    value = _taken(a, first, d)
    if not keepdim:
        first, hit, value = (nb.squeeze(x, axis=d) for x in (first, hit, value))
    return _PAIRS["median"](nb.where(hit, value, found.values), nb.where(hit, first, found.indices))


@method()
@tensor_function
def quantile(input, q, dim=None, keepdim=False, *, interpolation="linear"):
    """Quantiles along a dimension."""
    if input.ndim == 0:
        dim = None if dim is None else axes_of("quantile", dim, 0)
        return quantiles(nb.quantile, nb.reshape(input, (1,)), q, 0, False, interpolation)
    return quantiles(nb.quantile, input, q, dim, keepdim, interpolation)


def quantiles(function, a, q, axis, keepdims, method):
    """NumPy's `function`, of a's dtype. Between two elements as PyTorch has it: an infinite one is
    nothing to a quantile that lies upon the other.
    """
    options = {"axis": axis, "keepdims": keepdims}
    if method != "linear":
        return as_dtype(function(a, q, method=method, **options), a.dtype)
    low, high = (function(a, q, method=m, **options) for m in ("lower", "higher"))
    count = nb.sum(nb.isnan(nb.stop_gradient(a)), dtype="i8", **options)
    size = a.size if axis is None else a.shape[axis]
    count = size - count if function is nb.nanquantile else size
    if isinstance(q, nb.ndarray) and q.ndim:
        q = nb.reshape(q, q.shape + (1,) * (low.ndim - q.ndim))
    rank = q * (count - 1.0)
    t = as_dtype(nb.asarray(rank - nb.floor(rank)), a.dtype)
    apart = nb.where(low == high, nb.zeros_like(low), high - low)
    between = nb.where(t < 0.5, low + t * apart, high - (1 - t) * apart)
    return as_dtype(nb.where(low == high, low, between), a.dtype)


@method()
@tensor_function
def bincount(input, weights=None, minlength=0):
    """How often each whole number occurs."""
    made = nb.bincount(input, weights, minlength)
    single = weights is not None and weights.dtype == "f4"
    return as_dtype(made, weights.dtype) if single else made


@method()
@tensor_function
def histc(input, bins=100, min=0, max=0):
    """Counts of elements in bins of equal width."""
    _needs_floats("histc", input)
    if min == 0 and max == 0:
        min, max = nb.min(input).item(), nb.max(input).item()
    return as_dtype(nb.histogram(input, bins=bins, range=(min, max))[0], input.dtype)


@method("unique")
@tensor_function
def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The different elements in order; also where each is found, and how often."""
    return nb.unique(
        input, return_inverse=return_inverse, return_counts=return_counts, axis=dim, equal_nan=False
    )


@tensor_function
def searchsorted(
    sorted_sequence, input, *, right=False, side=None, out_int32=False, sorter=None
):  # fmt: skip
    """Indices at which elements would be put in; of several lines, in the line beside each."""
    if side not in (None, "left", "right"):
        raise RuntimeError(message("searchsorted", "unknown side", side, "'left' or 'right'"))
    if side == "left" and right:
        raise RuntimeError(
            message("searchsorted", "side and right contradict each other", "'left', right=True",
                    "one of them")
        )  # fmt: skip
    lines = nb.stop_gradient(sorted_sequence)
    if is_number(input):  # of the line's dtype where that can hold it
        whole = isinstance(input, int) or lines.dtype.kind == "f"
        values = array(input, lines.dtype if whole else numpy.dtype("f4"))
    else:
        values = nb.stop_gradient(input)
    if values.dtype != lines.dtype:
        floats = [a.dtype for a in (lines, values) if a.dtype.kind not in "biu"]
        common = floats[0] if len(floats) == 1 else nb.result_type(lines.dtype, values.dtype)
        lines, values = lines.astype(common), values.astype(common)
    if sorter is not None:
        if sorter.shape != lines.shape:
            raise RuntimeError(
                message("searchsorted", "sorter has another shape", sorter.shape, lines.shape)
            )
        lines = nb.take_along_axis(lines, sorter, axis=-1)
    side = "right" if right or side == "right" else "left"
    if lines.ndim == 1:
        found = nb.asarray(nb.searchsorted(lines, values, side=side))
    else:
        if values.ndim != lines.ndim or values.shape[:-1] != lines.shape[:-1]:
            raise RuntimeError(
                message("searchsorted", "lines and values do not fit",
                        f"shapes {lines.shape} and {values.shape}", "equal but for the last axis")
            )  # fmt: skip
        # How many elements of its line are before each value.
        n, m = lines.shape[-1], values.shape[-1]
        rows = zip(lines.reshape(-1, n), values.reshape(-1, m), strict=True)
        each = [nb.searchsorted(line, value, side=side) for line, value in rows]
        found = nb.reshape(nb.stack(each) if each else nb.zeros((0, m), int), values.shape)
    return as_dtype(found, _dtypes.int32.numpy if out_int32 else _dtypes.int64.numpy)


def bucketize(input, boundaries, *, right=False, out_int32=False):
    """The number of the interval that each element is in."""
    return searchsorted(boundaries, input, right=right, out_int32=out_int32)


@method()
@tensor_function
def trace(input):
    """The sum of a matrix's diagonal."""
    return nb.trace(_whole_numbers(input, None))


@tensor_function
def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements are close, a bool."""
    return bool(nb.allclose(input, other, rtol=rtol, atol=atol, equal_nan=equal_nan))


Tensor.allclose = allclose


@tensor_function
def equal(input, other):
    """Whether shapes and elements are equal, a bool."""
    return bool(nb.array_equal(input, other))


Tensor.equal = equal
