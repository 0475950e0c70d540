"""Reductions that ignore NaNs, composed of masks and the plain reductions.

A slice of nothing but NaNs gives NaN as in NumPy; NumPy's warning about it is not raised,
because that would need the data at the call.
"""

import numpy

from ..core.dtypes import kind_of
from ..core.errors import message
from . import names as np
from .names import compiled as _compiled
from .names import not_yet
from .registry import Any, Array, DTypeArg, Flag, OutRead, OutReversed, OutUnsafe, function

__all__ = []

_NoValue = numpy._NoValue


def _only_plain(op, where, initial=None):
    """Compiled functions have neither masks nor initial values of reductions."""
    if not _compiled:
        return
    if isinstance(where, numpy.ndarray) or initial is not None:
        not_yet(f"np.{op}() with where= or initial=", "np.where() before the call")
    if where is not True:
        raise NotImplementedError(f"[{op}] where=; got False; expected True")


def _start(initial):
    return _NoValue if initial is None else initial


def _replaced(a, value):
    """`a` with its NaNs replaced."""
    if kind_of(a.dtype) in "fc":
        return np.where(np.isnan(a), a.dtype.type(value), a)
    return a


@function("np.nansum")
def nansum(
    a: Array,
    axis: Any = None,
    dtype: DTypeArg = None,
    out: OutUnsafe = None,
    keepdims: Flag = False,
    initial: Any = None,
    where: Any = True,
):
    """Sum over `axis` with NaNs as zeros."""
    _only_plain("nansum", where, initial)
    if _compiled:
        return np.sum(_replaced(a, 0), axis, dtype=dtype, keepdims=keepdims)
    return np.sum(_replaced(a, 0), axis, dtype, None, keepdims, _start(initial), where)


@function("np.nanprod")
def nanprod(
    a: Array,
    axis: Any = None,
    dtype: DTypeArg = None,
    out: OutUnsafe = None,
    keepdims: Flag = False,
    initial: Any = None,
    where: Any = True,
):
    """Product over `axis` with NaNs as ones."""
    _only_plain("nanprod", where, initial)
    if _compiled:
        if dtype is not None:
            not_yet("np.nanprod() with dtype=", "a.astype(dtype)")
        return np.prod(_replaced(a, 1), axis, keepdims=keepdims)
    return np.prod(_replaced(a, 1), axis, dtype, None, keepdims, _start(initial), where)


@function("np.nanmax", few=True)
def nanmax(
    a: Array,
    axis: Any = None,
    out: OutUnsafe = None,
    keepdims: Flag = False,
    initial: Any = None,
    where: Any = True,
):
    """Largest element over `axis` that is not NaN; NaN if there is none."""
    _only_plain("nanmax", where, initial)
    if kind_of(a.dtype) not in "fc":
        return _plain(np.max, a, axis, keepdims, initial, where)
    worst = complex(-np.inf, -np.inf) if a.dtype.kind == "c" else -np.inf
    found = _plain(np.max, _replaced(a, worst), axis, keepdims, initial, where)
    return _or_nan("nanmax", found, a, axis, keepdims, initial, where)


@function("np.nanmin", few=True)
def nanmin(
    a: Array,
    axis: Any = None,
    out: OutUnsafe = None,
    keepdims: Flag = False,
    initial: Any = None,
    where: Any = True,
):
    """Smallest element over `axis` that is not NaN; NaN if there is none."""
    _only_plain("nanmin", where, initial)
    if kind_of(a.dtype) not in "fc":
        return _plain(np.min, a, axis, keepdims, initial, where)
    worst = complex(np.inf, np.inf) if a.dtype.kind == "c" else np.inf
    found = _plain(np.min, _replaced(a, worst), axis, keepdims, initial, where)
    return _or_nan("nanmin", found, a, axis, keepdims, initial, where)


def _plain(extreme, a, axis, keepdims, initial, where):
    if _compiled:
        return extreme(a, axis, keepdims=keepdims)
    return extreme(a, axis, None, keepdims, initial, where)


def _or_nan(op, found, a, axis, keepdims, initial, where):
    """What was found where there was anything but NaN."""
    if initial is not None:
        return found
    if _compiled:
        some = np.any(~np.isnan(a), axis, keepdims=keepdims)
    else:
        some = np.any(_counted(op, a, where), axis, None, keepdims)
    return _where_some(some, found, a.dtype.type(np.nan))


def _where_some(some, found, nan):
    if np.ndim(found) == 0:
        return _number(some, found, nan)
    return np.where(some, found, nan)


def _number(some, found, nan):
    if _compiled:
        return found if some else nan
    return np.positive(np.where(some, found, nan))  # a number, which is not read for that


def _is_true(op, where):
    if where is not True and where is not _NoValue and np.asarray(where).dtype != np.bool_:
        raise TypeError(message(op, "where must be boolean", "another type", "bool"))
    return where is True or where is _NoValue


def _counted(op, a, where):
    """Where elements count: not NaN, and under the caller's mask; True for everywhere."""
    everywhere = _is_true(op, where)
    if kind_of(a.dtype) not in "fc":
        return True if everywhere else where
    mask = np.logical_not(np.isnan(a))
    return mask if everywhere else np.logical_and(mask, where)


def _require_inexact(op, a, dtype, out):
    """NumPy's demand on the results of means: of floats they are floats."""
    for given in (dtype, None if out is None else out.dtype):
        exact = given is not None and kind_of(numpy.dtype(given)) not in "fc"
        if kind_of(a.dtype) in "fc" and exact:
            raise TypeError(message(op, "result of inexact numbers", given, "an inexact dtype"))


@function("np.nanmean")
def nanmean(
    a: Array,
    axis: Any = None,
    dtype: DTypeArg = None,
    out: OutRead = None,
    keepdims: Flag = False,
    *,
    where: Any = True,
):
    """Mean over `axis` of the elements that are not NaN."""
    _only_plain("nanmean", where, dtype)
    if not _compiled:
        _require_inexact("nanmean", a, dtype, out)
        return np.mean(a, axis, dtype, out, keepdims, where=_counted("nanmean", a, where))
    if kind_of(a.dtype) not in "fc":
        return np.mean(a, axis, keepdims=keepdims)
    return _mean(a, axis, keepdims)


def _mean(a, axis, keepdims):
    count = np.sum(~np.isnan(a), axis, keepdims=keepdims)
    return _in_type(np.sum(_replaced(a, 0), axis, keepdims=keepdims) / count, a.dtype)


def _in_type(x, dtype):
    if np.ndim(x) == 0:
        return dtype.type(x)
    return x.astype(dtype)


@function("np.nanvar")
def nanvar(
    a: Array,
    axis: Any = None,
    dtype: DTypeArg = None,
    out: OutRead = None,
    ddof: Any = 0,
    keepdims: Flag = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: Any = None,
):
    """Variance over `axis` of the elements that are not NaN."""
    if not _compiled:
        return _spread("var", a, axis, dtype, out, ddof, keepdims, where, mean, correction)
    _only_plain("nanvar", where, dtype)
    return _variance(a, axis, ddof, keepdims, mean, correction)


@function("np.nanstd")
def nanstd(
    a: Array,
    axis: Any = None,
    dtype: DTypeArg = None,
    out: OutRead = None,
    ddof: Any = 0,
    keepdims: Flag = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: Any = None,
):
    """Standard deviation over `axis` of the elements that are not NaN."""
    if not _compiled:
        return _spread("std", a, axis, dtype, out, ddof, keepdims, where, mean, correction)
    _only_plain("nanstd", where, dtype)
    return np.sqrt(_variance(a, axis, ddof, keepdims, mean, correction))


def _variance(a, axis, ddof, keepdims, mean, correction):
    """As compiled functions compute it."""
    if mean is not None or correction is not None:
        not_yet("np.nanvar() with mean= or correction=", "ddof=")
    if kind_of(a.dtype) not in "fc":
        return np.var(a, axis, ddof=ddof, keepdims=keepdims)
    missing = np.isnan(a)
    # Where infinities meet the difference is NaN, and stays so.
    d = np.where(missing, a.dtype.type(0), a - _mean(a, axis, True))
    squares = (d * np.conjugate(d)).real
    left = np.sum(~missing, axis, keepdims=keepdims) - ddof
    found = np.sum(squares, axis, keepdims=keepdims)
    found = _in_type(found / np.maximum(left, 0), squares.dtype)
    return _where_some(left > 0, found, squares.dtype.type(np.nan))


def _spread(op, a, axis, dtype, out, ddof, keepdims, where, mean, correction):
    """As array calls compute it."""
    plain = np.var if op == "var" else np.std
    _require_inexact("nan" + op, a, dtype, out)
    mask = _counted("nan" + op, a, where)
    more = {} if mean is None else {"mean": mean}
    if correction is not None:
        more["correction"] = correction
    if mean is not None:
        a = _replaced(a, 0)
    lost = ddof if correction is None else correction
    if kind_of(a.dtype) not in "fc" or not lost:
        return plain(a, axis, dtype, out, ddof, keepdims, where=mask, **more)
    result = plain(a, axis, dtype, None, ddof, keepdims, where=mask, **more)
    # NaN, not infinity, where no degree of freedom is left.
    count = np.sum(mask, axis, None, None, keepdims)
    result = np.where(np.less_equal(count, lost), float("nan"), result)
    if out is None:
        return result if result.ndim else np.positive(result)
    if out.shape != result.shape:
        raise ValueError(message("nan" + op, "wrong shape of out", out.shape, result.shape))
    return np.positive(result, out=out, casting="unsafe")


def _known(op, a, axis, worst):
    """`a` without its NaNs, where each slice has something else."""
    if kind_of(a.dtype) not in "fc":
        return a
    if bool(np.any(np.all(np.isnan(a), axis))):
        raise ValueError(f"[{op}] a slice of nothing but NaNs; got NaN; expected a number")
    return _replaced(a, worst)


@function("np.nanargmax")
def nanargmax(a: Array, axis: Any = None, out: OutReversed = None, *, keepdims: Flag = False):
    """Index of the first largest element that is not NaN. ValueError if a slice has none."""
    known = _known("nanargmax", a, axis, -np.inf)
    return np.argmax(known, axis, keepdims=keepdims)


@function("np.nanargmin")
def nanargmin(a: Array, axis: Any = None, out: OutReversed = None, *, keepdims: Flag = False):
    """Index of the first smallest element that is not NaN. ValueError if a slice has none."""
    known = _known("nanargmin", a, axis, np.inf)
    return np.argmin(known, axis, keepdims=keepdims)
