"""Reductions: sum, prod, min, max, any, all, mean, std, var, argmin, argmax and what is composed of
them.
"""

import builtins

import numpy

from .. import _core
from .._core import ndarray
from ..core.dtypes import kind_of
from ..core.errors import many_axes, message, no_flags, one_axis
from ..core.float_errors import warn_here
from ..core.operands import (
    SUPPORTED,
    as_mask,
    dtype_of,
    operand,
    require_cast,
    store,
    to_ndarray,
    to_numpy,
)
from ..core.operands import foreign as _foreign
from ..core.quick import few, quick
from ..core.ufuncs import UFUNCS, require_elements, sums_into
from . import names as np
from .axes import product
from .names import compiled as _compiled
from .registry import Any, Array, Axes, Flag, Out, function

__all__ = [
    "all",
    "amax",
    "amin",
    "any",
    "argmax",
    "argmin",
    "count_nonzero",
    "max",
    "mean",
    "min",
    "prod",
    "std",
    "sum",
    "var",
]

_NoValue = numpy._NoValue
_INT64 = numpy.dtype(numpy.int64)
_ALL = [tuple(range(ndim)) for ndim in range(65)]
_core_reduce = _core.reduce
# What NumPy says of too few elements; of what is at rest it says so itself (core/float_errors).
_AVERAGES = {
    "mean": "Mean of empty slice",
    **dict.fromkeys(("var", "std"), "Degrees of freedom <= 0 for slice"),
}


def reduce(op, a, axis, dtype=None, out=None, keepdims=False, where=True, ddof=0):
    """One reduction of the core with NumPy's arguments, `where` and `out` included."""
    if type(a) is not ndarray:
        a = to_ndarray(a)
    if axis is None and dtype is None and out is None and keepdims is False and where is True:
        result = _core_reduce(op, a, None, False, None, None, ddof)
        if op in _AVERAGES and _core.counts_few(a, result, None, ddof):
            warn_here(_AVERAGES[op])
        return result
    axes = _ALL[a.ndim] if axis is None else _axes(op, axis, a.ndim, where)
    if dtype is None and out is not None and op in ("sum", "prod"):
        dtype = sums_into(op, out, a.dtype)
    if dtype is not None:
        dtype = numpy.dtype(dtype)
        if dtype not in SUPPORTED:
            _foreign(numpy.empty(0, dtype))
        if dtype.kind == "b" and op in ("sum", "prod", "mean"):
            a = a.astype(dtype)  # a product of halves is true, of their integer parts it is not
    mask = None if where is True or where is _NoValue else as_mask(where)
    if keepdims is not False:
        keepdims = bool(keepdims is not _NoValue and keepdims)
    result = _core_reduce(op, a, axes, keepdims, dtype, mask, ddof)
    if op in _AVERAGES and mask is None and _core.counts_few(a, result, axes, ddof):
        warn_here(_AVERAGES[op])
    return result if out is None else store(op, result, out, "unsafe")


def _axes(op, axis, ndim, where=True):
    """The axes to reduce. NumPy lets a 0-d operand have axis 0 and -1, except where it counts
    extents.
    """
    if ndim == 0 and no_flags(op, axis) in (0, -1):
        if op not in ("mean", "var", "std") or where is not True:
            return ()
    return many_axes(op, no_flags(op, axis), ndim)


def _start(initial, dtype):
    """`initial` as NumPy converts it to the type of a reduction; TypeError where it cannot."""
    value = numpy.empty((), dtype)
    value[()] = to_numpy(initial)
    return value[()]


def _with_initial(op, row, a, axis, dtype, out, keepdims, initial, where):
    """A reduction that starts from `initial`, which also gives empty reductions a value."""
    if out is not None:
        return UFUNCS[row].reduce(a, axis, dtype, out, keepdims, initial, where)
    a = to_ndarray(a)
    if op in ("min", "max") and a.size == 0:
        shape = numpy.empty(a.shape, bool).any(axis=axis, keepdims=keepdims).shape
        start = _core.full(shape, _start(initial, a.dtype), a.dtype)
        result = start if shape else start[()]
    else:
        result = reduce(op, a, axis, dtype, None, keepdims, where)
        result = UFUNCS[row](result, _start(initial, result.dtype), dtype=result.dtype)
    return result


def _with_elements(op, a, axis, where):
    """The operand of a reduction that starts from its first element: it must have one, for sure."""
    a = to_ndarray(a)
    every = where is True or where is _NoValue
    require_elements(op, a, _axes(op, axis, a.ndim), None, None if every else where)
    return a


def sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=_NoValue, where=True):
    """Sum over `axis` (int, tuple, None for all). Small integers and bool sum as (u)int64."""
    if initial is not _NoValue:
        if initial is not None:
            return _with_initial("sum", "add", a, axis, dtype, out, keepdims, initial, where)
        a = _with_elements("sum", a, axis, where)
    return reduce("sum", a, axis, dtype, out, keepdims, where)


def prod(a, axis=None, dtype=None, out=None, keepdims=False, initial=_NoValue, where=True):
    """Product over `axis` (int, tuple, None for all). Small integers and bool multiply
    as (u)int64.
    """
    if initial is not _NoValue:
        if initial is not None:
            return _with_initial("prod", "multiply", a, axis, dtype, out, keepdims, initial, where)
        a = _with_elements("prod", a, axis, where)
    return reduce("prod", a, axis, dtype, out, keepdims, where)


def _extreme(op, row, a, axis, out, keepdims, initial, where):
    if initial is not _NoValue and initial is not None:
        return _with_initial(op, row, a, axis, None, out, keepdims, initial, where)
    if where is not True and where is not _NoValue:
        require_boolean(op, where)
        raise ValueError(message(op, "where without initial", "no initial", "a starting value"))
    return reduce(op, a, axis, None, out, keepdims)


def max(a, axis=None, out=None, keepdims=False, initial=_NoValue, where=True):
    """Largest element over `axis`; NaN if there is one. Raises ValueError for an empty axis."""
    return _extreme("max", "maximum", a, axis, out, keepdims, initial, where)


def min(a, axis=None, out=None, keepdims=False, initial=_NoValue, where=True):
    """Smallest element over `axis`; NaN if there is one. Raises ValueError for an empty axis."""
    return _extreme("min", "minimum", a, axis, out, keepdims, initial, where)


amax, amin = max, min


def any(a, axis=None, out=None, keepdims=False, *, where=True):
    """Whether any element over `axis` is true."""
    return reduce("any", a, axis, None, out, keepdims, where)


def all(a, axis=None, out=None, keepdims=False, *, where=True):
    """Whether all elements over `axis` are true."""
    return reduce("all", a, axis, None, out, keepdims, where)


def mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """Arithmetic mean over `axis`; float64 for integers."""
    if out is not None and dtype is not None and numpy.dtype(dtype).kind in "iub":
        # Only the sum is of that type.
        total = reduce("sum", a, axis, dtype, None, keepdims, where)
        found = UFUNCS["divide"](total, _count("mean", to_ndarray(a), axis, keepdims, where))
        return store("mean", found, out, "unsafe")
    return reduce("mean", a, axis, dtype, out, keepdims, where)


def require_boolean(op, where):
    """Raises TypeError for a mask that is not boolean."""
    if where is not True and where is not _NoValue and as_mask(where).dtype.kind != "b":
        raise TypeError(message(op, "where must be boolean", dtype_of(where), "bool"))


def _spread(op, a, axis, dtype, out, ddof, keepdims, where, mean, correction):
    if correction is not _NoValue:
        if ddof != 0:
            raise ValueError(message(op, "both ddof and correction", (ddof, correction), "one"))
        ddof = correction
    if op == "std" and out is not None and kind_of(getattr(out, "dtype", _INT64)) not in "fc":
        # NumPy writes the variance to `out` and then its root, which is no integer.
        found = getattr(out, "dtype", type(out).__name__)
        raise TypeError(message(op, "cannot cast", f"float to {found}", "a float out"))
    if dtype is not None and numpy.dtype(dtype).kind == "c":
        a = to_ndarray(a).astype(dtype)
        result = _spread(op, a, axis, None, None, ddof, keepdims, where, mean, _NoValue)
        result = result.astype(dtype)
        return result if out is None else store(op, result, out, "unsafe")
    kind = "c" if dtype_of(a).kind == "c" else "f"
    if dtype is not None and kind_of(numpy.dtype(dtype)) != kind:
        dtype = numpy.dtype(dtype)
        return _spread_in(op, to_ndarray(a), axis, dtype, out, ddof, keepdims, where, mean)
    if mean is _NoValue:
        return reduce(op, a, axis, dtype, out, keepdims, where, ddof)
    a = to_ndarray(a)
    kind = {} if dtype is None else {"dtype": dtype}
    off = UFUNCS["subtract"](a, operand(mean), **kind)
    off = off.real * off.real + off.imag * off.imag if off.dtype.kind == "c" else off * off
    total = reduce("sum", off, axis, None, None, keepdims, where)
    count = _count(op, a, axis, keepdims, where)
    # In the type of the sum, whatever that of the count is.
    result = UFUNCS["divide"](total, UFUNCS["maximum"](count - ddof, 0)).astype(total.dtype)
    if op == "std":
        result = UFUNCS["sqrt"](result)
    return result if out is None else store(op, result, out, "unsafe")


def _spread_in(op, a, axis, dtype, out, ddof, keepdims, where, mean):
    """A spread whose sums are of another kind than the elements: integers, which cut the mean."""
    if mean is _NoValue:
        total = reduce("sum", a, axis, dtype, None, True, where)
        count = _count(op, a, axis, True, where)
        mean = to_ndarray(UFUNCS["divide"](total, count)).astype(dtype)
    off = UFUNCS["subtract"](a, operand(mean))
    off = off.real * off.real + off.imag * off.imag if off.dtype.kind == "c" else off * off
    total = reduce("sum", off, axis, dtype, None, keepdims, where)
    left = UFUNCS["maximum"](_count(op, a, axis, keepdims, where) - ddof, 0)
    if out is not None:
        result = UFUNCS["divide"](total.astype(out.dtype), left)
        return store(op, UFUNCS["sqrt"](result) if op == "std" else result, out, "unsafe")
    result = UFUNCS["divide"](total, left).astype(dtype)
    if op == "var":
        return result
    if result.ndim:
        require_cast(op, UFUNCS["sqrt"](result).dtype, dtype, "same_kind")
    return UFUNCS["sqrt"](result).astype(dtype)


def _count(op, a, axis, keepdims, where):
    """How many elements of `a` a reduction combines: a number, or under a mask an array."""
    if where is not True:
        return sum(_core.broadcast_to(operand(where), a.shape), axis, keepdims=keepdims)
    return product([a.shape[d] for d in many_axes(op, axis, a.ndim)])


def spread_function(op, spread, doc, prefix=""):
    """var, std and their forms without NaNs, which have one signature."""

    def function(
        a,
        axis=None,
        dtype=None,
        out=None,
        ddof=0,
        keepdims=False,
        *,
        where=True,
        mean=_NoValue,
        correction=_NoValue,
    ):
        return spread(op, a, axis, dtype, out, ddof, keepdims, where, mean, correction)

    function.__name__ = function.__qualname__ = prefix + op
    function.__doc__ = doc
    return function


var = spread_function(
    "var",
    _spread,
    "Variance over `axis` with divisor `n - ddof`; `mean` may give the mean (with keepdims).",
)
std = spread_function(
    "std",
    _spread,
    "Standard deviation over `axis` with divisor `n - ddof`, reading its input once.",
)


def _arg(op, a, axis, out, keepdims):
    a = to_ndarray(a)
    if axis is None and out is None and keepdims is False and a.size:
        try:
            return _core_reduce(op, a)
        except NotImplementedError:
            pass
    axes = (
        _ALL[a.ndim]
        if axis is None
        else _axes(op, one_axis(op, no_flags(op, axis), builtins.max(1, a.ndim)), a.ndim)
    )
    if a.size == 0 and (axis is None or a.shape[axes[0]] == 0):
        raise ValueError(message(op, "empty sequence", a.shape, "at least one element"))
    keepdims = bool(keepdims is not _NoValue and keepdims)
    if a.dtype.kind == "c":
        a, op = _extremes_of_complex(op, a, axes), "argmax"
    result = _core.reduce(op, a, axes, keepdims, None, None, 0)
    if out is None:
        return result
    if getattr(out, "shape", ()) == result.shape:
        # NumPy asks whether `out` could become the indices, not the other way round.
        require_cast(op, getattr(out, "dtype", _INT64), _INT64, "safe")
    return store(op, result, out, "unsafe")


def _extremes_of_complex(op, a, axes):
    """Where complex numbers are the largest or smallest along axes: by their real parts, then by
    their imaginary ones; where there are NaNs, those.
    """
    plain = "max" if op == "argmax" else "min"
    worst = float("-inf") if op == "argmax" else float("inf")

    def extreme(x):
        return _core.reduce(plain, x, axes, True, None, None, 0)

    unknown = UFUNCS["isnan"](a)
    among = UFUNCS["equal"](a.real, extreme(a.real))
    rest = _core.where(among, a.imag, worst)
    best = UFUNCS["logical_and"](among, UFUNCS["equal"](rest, extreme(rest)))
    return _core.where(_core.reduce("any", unknown, axes, True, None, None, 0), unknown, best)


def argmax(a, axis=None, out=None, *, keepdims=False):
    """Index of the first largest element (of the first NaN) along `axis`; None: in the flattened
    array.
    """
    return _arg("argmax", a, axis, out, keepdims)


def argmin(a, axis=None, out=None, *, keepdims=False):
    """Index of the first smallest element (of the first NaN) along `axis`; None: in the flattened
    array.
    """
    return _arg("argmin", a, axis, out, keepdims)


def _few_counted(*args, **kwargs):
    """NumPy's count_nonzero, whose count over all axes is a number of NumPy's, not of Python's."""
    count = numpy.count_nonzero(*args, **kwargs)
    return numpy.int64(count) if type(count) is int else count


@quick("count_nonzero")
@few(_few_counted)
def count_nonzero(a, axis=None, *, keepdims=False):
    """Number of elements that are not zero over `axis`: int64."""
    a = to_ndarray(a)
    return reduce("sum", a if a.dtype.kind == "b" else a.astype(bool), axis, _INT64, None, keepdims)


@function("np.ptp")
def ptp(a: Array, axis: Any = None, out: Out = None, keepdims: Flag = False):
    """Range of the values over `axis`: largest minus smallest."""
    if axis is None and not keepdims:
        return np.subtract(a.max(), a.min())
    return np.subtract(a.max(axis, keepdims=keepdims), a.min(axis, keepdims=keepdims))


@function("np.average")
def average(
    a: Array,
    axis: Axes = None,
    weights: Any = None,
    returned: Flag = False,
    *,
    keepdims: Flag = False,
):
    """Weighted mean over `axis`. weights: of the shape of `a`, or of its extents along `axis`.

    returned: also the sum of the weights. Raises ZeroDivisionError if that is zero, and without
    weights where the other axes have no elements; TypeError for weights of another shape without
    an axis, ValueError for those that do not fit the axis.
    """
    if weights is None:
        result = np.mean(a, axis, keepdims=keepdims)
        if np.size(result) == 0:  # NumPy divides by the number of means
            raise ZeroDivisionError("[average] no mean; got no elements; expected some")
        if not returned:
            return result
        scale = result.dtype.type(a.size // builtins.max(1, np.size(result)))
    else:
        w = _weights_along(a, np.asarray(weights), axis)
        dtype = np.result_type(a.dtype, w.dtype)
        if kind_of(a.dtype) not in "fc":
            dtype = np.result_type(dtype, np.float64)
        scale = np.sum(w, axis, dtype, keepdims=keepdims)
        if np.any(scale == 0):
            raise ZeroDivisionError("[average] weights sum to zero; got 0; expected another sum")
        result = np.sum(a.astype(dtype) * w.astype(dtype), axis, keepdims=keepdims) / scale
        if not returned:
            return result
    if np.ndim(result) == 0:
        return result, scale
    return result, np.broadcast_to(np.asarray(scale), result.shape).copy()


def _weights_along(a, w, axis):
    """Weights of as many axes as `a`, of extent 1 where they do not count."""
    if w.ndim == a.ndim:
        if w.shape != a.shape:
            if axis is None:
                raise TypeError("[average] axis needed for these weights; got None; expected one")
            if _compiled or len(axis) != a.ndim:
                raise ValueError("[average] shape of the weights; got another; expected that of a")
            return _of_axes(a, w, axis)
        return w
    if axis is None:
        raise TypeError("[average] axis needed for these weights; got None; expected one")
    if w.ndim != len(axis):
        raise ValueError("[average] shape of the weights; got others; expected extents of the axes")
    return _of_axes(a, w, axis)


def _of_axes(a, w, axes):
    if w.shape != tuple([a.shape[i] for i in axes]):
        raise ValueError("[average] shape of the weights; got others; expected extents of the axes")
    if len(axes) > 1:
        w = w.transpose(_order(axes, a.ndim))
    return w.reshape(tuple([n if i in axes else 1 for i, n in enumerate(a.shape)]))


def _order(axes, ndim):
    """The positions in a tuple of the axes 0, 1, … of an array, of those that are in it."""
    if ndim == 0:
        return ()
    before = _order(axes, ndim - 1)
    return before + (_position(axes, ndim - 1),) if ndim - 1 in axes else before


def _position(axes, axis):
    return 0 if axes[0] == axis else 1 + _position(axes[1:], axis)


for _function in (all, any, argmax, argmin, max, mean, min, prod, std, sum, var):
    _function.reduction = _function.__name__  # what _core.composed carries out by itself
