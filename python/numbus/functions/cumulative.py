"""Cumulative sums and products, and ufunc.accumulate, on the core's scan; ufunc.reduceat."""

import numpy

from .. import _core
from .._core import ndarray
from ..core import dtypes, routines
from ..core.dtypes import kind_of
from ..core.errors import message, no_flags, one_axis
from ..core.operands import as_dtype, to_ndarray, to_numpy
from ..core.quick import quick
from ..core.ufuncs import UFUNCS
from . import names as np
from .axes import distinct
from .joining import _along
from .names import compiled as _compiled
from .names import not_yet
from .registry import (
    Any,
    Array,
    AxisOrNumber,
    DTypeArg,
    Flag,
    Flat,
    OutAny,
    OutUnsafe,
    function,
)

__all__ = []

_INT64 = numpy.dtype(numpy.int64)


def _scan(op, ufunc, a, axis, dtype, out):
    """The core's scan along an axis that is known to exist."""

    def scan(dtype, out):
        return _core.accumulate(ufunc, a, axis, dtype, out)

    return _into(op, scan, dtype, out)


def _into(op, fold, dtype, out):
    """fold(dtype, out), where `out` may be NumPy's array. Raises ForeignDtype for dtypes that only
    NumPy has.
    """
    if isinstance(out, tuple):
        (out,) = out
    if out is not None and not isinstance(out, (ndarray, numpy.ndarray)):
        raise TypeError(message(op, "out is no array", type(out).__name__, "an ndarray"))
    dtype = as_dtype(op, dtype)
    if type(out) is not numpy.ndarray:
        return fold(dtype, out)
    result = _core.empty(out.shape, as_dtype(op, out.dtype))
    fold(dtype, result)
    numpy.copyto(out, result)
    return out


def _folded_axis(op, a, axis):
    """The one axis that a fold runs along."""
    if a.ndim == 0:
        raise TypeError(message(op, "there is no axis in a scalar", "0-d", "1-d or more"))
    if axis is None and a.ndim == 1:
        return 0
    if isinstance(axis, (tuple, list)) and len(axis) == 1:
        (axis,) = axis
    if axis is None or isinstance(axis, (tuple, list)):
        raise ValueError(message(op, "several axes", axis, "one axis"))
    return one_axis(op, no_flags(op, axis), a.ndim)


def _require_binary(op, self):
    if self.nin != 2:
        raise ValueError(message(op, "not a binary ufunc", self.nin, "2 inputs"))


@quick("accumulate")
def accumulate(self, array, axis=0, dtype=None, out=None):
    """The results of applying the ufunc to all elements up to each, along one axis."""
    op = f"{self.name}.accumulate"
    _require_binary(op, self)
    a = to_ndarray(array)
    return _scan(op, self, a, _folded_axis(op, a, axis), dtype, out)


def _indices(op, indices):
    """A line of int64 in the host's memory, by NumPy's rules for what becomes one."""
    if isinstance(indices, (ndarray, numpy.ndarray)):
        if not dtypes.can_cast(indices.dtype, _INT64, "safe"):
            raise TypeError(
                message(op, "indices of a type that int64 does not hold", indices.dtype, "integers")
            )
        indices = to_numpy(indices)
    line = numpy.ascontiguousarray(indices, _INT64)
    if numpy.ndim(indices) != 1:
        raise ValueError(message(op, "indices of one axis", f"{numpy.ndim(indices)}-d", "1-d"))
    return line


@quick("reduceat")
def reduceat(self, array, indices, axis=0, dtype=None, out=None):
    """The ufunc folded over segments along one axis: `array[i:j]` for each index i and the one
    after it, `array[i]` where i >= j; the last segment goes up to the end.

    dtype: of the fold and the result, as of accumulate; small integers and bool sum as (u)int64.
    Raises IndexError for an index outside of [0, extent).
    """
    op = f"{self.name}.reduceat"
    _require_binary(op, self)
    a = to_ndarray(array)
    line = _indices(op, indices)
    axis = _folded_axis(op, a, axis)

    def fold(dtype, out):
        return _core.reduceat(self, a, line, axis, dtype, out)

    return _into(op, fold, dtype, out)


@function("np.cumsum")
@quick("cumsum")
def cumsum(a: Array, axis: AxisOrNumber | Flat = None, dtype: DTypeArg = None, out: OutAny = None):
    """Sums of all elements up to each along `axis` (None: flattened). Small integers and bool sum
    as (u)int64.
    """
    if _compiled:
        return routines.accumulate(a, axis, dtype, False)
    return _scan("cumsum", UFUNCS["add"], a, axis, dtype, out)


@function("np.cumprod")
@quick("cumprod")
def cumprod(a: Array, axis: AxisOrNumber | Flat = None, dtype: DTypeArg = None, out: OutAny = None):
    """Products of all elements up to each along `axis` (None: flattened). Small integers and bool
    multiply as (u)int64.
    """
    if _compiled:
        return routines.accumulate(a, axis, dtype, True)
    return _scan("cumprod", UFUNCS["multiply"], a, axis, dtype, out)


@function("np.nancumsum")
def nancumsum(
    a: Array, axis: AxisOrNumber | Flat = None, dtype: DTypeArg = None, out: OutUnsafe = None
):
    """`cumsum` with NaNs as zeros."""
    x = _without_nan(a, 0.0)
    return x.cumsum(axis) if dtype is None else x.cumsum(axis, dtype)


def _without_nan(a, value):
    if kind_of(a.dtype) not in "fc":
        return a
    # In array calls a number is weak, and reading it takes less.
    return np.where(np.isnan(a), a.dtype.type(value) if _compiled else value, a)


@function("np.nancumprod")
def nancumprod(
    a: Array, axis: AxisOrNumber | Flat = None, dtype: DTypeArg = None, out: OutUnsafe = None
):
    """`cumprod` with NaNs as ones."""
    x = _without_nan(a, 1.0)
    return x.cumprod(axis) if dtype is None else x.cumprod(axis, dtype)


def _with_initial(op, ufunc, a, axis, dtype, out, include_initial):
    x = np.atleast_1d(a)
    if axis is None and x.ndim > 1:
        raise ValueError(f"[{op}] axis needed; got {x.ndim} axes; expected axis=")
    if not _compiled:
        no_flags(op, axis)
    axis = distinct(op, 0 if axis is None else axis, x.ndim)[0]
    if _compiled:
        if out is not None:
            not_yet(f"np.{op}() with out=", "out[...] = result")
        result = routines.accumulate(x, axis, dtype, ufunc == "multiply")
        if not include_initial:
            return result
        shape = x.shape[:axis] + (1,) + x.shape[axis + 1 :]
        return np.concatenate((np.full(shape, ufunc == "multiply", result.dtype), result), axis)
    if not include_initial:
        return _scan(op, UFUNCS[ufunc], x, axis, dtype, out)
    first = _along(axis, x.ndim, slice(0, 1))
    rest = _along(axis, x.ndim, slice(1, None))
    start = 0 if ufunc == "add" else 1
    if out is not None:
        _scan(op, UFUNCS[ufunc], x, axis, dtype, out[rest])
        out[first] = start
        return out
    result = _scan(op, UFUNCS[ufunc], x, axis, dtype, None)
    shape = tuple([1 if i == axis else n for i, n in enumerate(x.shape)])
    return np.concatenate([_core.full(shape, start, result.dtype), result], axis)


@function("np.cumulative_sum")
def cumulative_sum(
    x: Array,
    /,
    *,
    axis: Any = None,
    dtype: DTypeArg = None,
    out: OutAny = None,
    include_initial: Flag = False,
):
    """`cumsum` along `axis`, which only 1-D arrays may leave out; include_initial: a zero first."""
    return _with_initial("cumulative_sum", "add", x, axis, dtype, out, include_initial)


@function("np.cumulative_prod")
def cumulative_prod(
    x: Array,
    /,
    *,
    axis: Any = None,
    dtype: DTypeArg = None,
    out: OutAny = None,
    include_initial: Flag = False,
):
    """`cumprod` along `axis`, which only 1-D arrays may leave out; include_initial: a one first."""
    return _with_initial("cumulative_prod", "multiply", x, axis, dtype, out, include_initial)
