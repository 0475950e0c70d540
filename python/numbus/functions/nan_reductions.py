"""Reductions that ignore NaNs, composed of masks and the plain reductions.

A slice of nothing but NaNs gives NaN as in NumPy; NumPy's warning about it is not raised,
because that would need the data at the call.
"""

import numpy

from .. import _core
from ..core.errors import message
from ..core.operands import as_dtype, as_generic, store, to_ndarray
from ..core.ufuncs import UFUNCS
from .reductions import _NoValue, reduce, require_boolean, spread_function

__all__ = [
    "nanargmax",
    "nanargmin",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanprod",
    "nanstd",
    "nansum",
    "nanvar",
]


def _is_true(op, where):
    require_boolean(op, where)
    return where is True or where is _NoValue


def _counted(op, a, where):
    """Where elements count: not NaN, and under the caller's mask; True for everywhere."""
    everywhere = _is_true(op, where)
    if a.dtype.kind not in "fc":
        return True if everywhere else where
    mask = UFUNCS["logical_not"](UFUNCS["isnan"](a))
    return mask if everywhere else UFUNCS["logical_and"](mask, to_ndarray(where))


def _require_inexact(op, a, dtype, out):
    """NumPy's demand on the results of means: of floats they are floats."""
    if a.dtype.kind not in "fc":
        return
    kind = numpy.dtype(dtype).kind if dtype is not None else getattr(out, "dtype", a.dtype).kind
    if kind not in "fc":
        raise TypeError(message(op, "result of inexact numbers", kind, "an inexact dtype"))


def _replaced(a, value):
    """`a` with its NaNs replaced."""
    return a if a.dtype.kind not in "fc" else _core.where(UFUNCS["isnan"](a), value, a)


def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=_NoValue, where=True):
    """Sum over `axis` with NaNs as zeros."""
    from .reductions import sum

    return sum(_replaced(to_ndarray(a), 0.0), axis, dtype, out, keepdims, initial, where)


def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=_NoValue, where=True):
    """Product over `axis` with NaNs as ones."""
    from .reductions import prod

    return prod(_replaced(to_ndarray(a), 1.0), axis, dtype, out, keepdims, initial, where)


def _extreme(op, a, axis, out, keepdims, initial, where):
    from . import reductions as _reductions

    a = to_ndarray(a)
    plain = getattr(_reductions, op)
    if a.dtype.kind not in "fc":
        return plain(a, axis, out, keepdims, initial, where)
    worst = float("-inf") if op == "max" else float("inf")
    if a.dtype.kind == "c":
        worst = complex(worst, worst)
    has_initial = initial is not _NoValue and initial is not None
    filled = plain(_replaced(a, worst), axis, None, keepdims, initial, where)
    if has_initial:
        return filled if out is None else store("nan" + op, filled, out, "unsafe")
    some = reduce("any", _counted("nan" + op, a, where), axis, None, None, keepdims)
    result = _core.where(some, filled, float("nan"))
    result = result if result.ndim else as_generic(result)
    return result if out is None else store("nan" + op, result, out, "unsafe")


def nanmax(a, axis=None, out=None, keepdims=False, initial=_NoValue, where=True):
    """Largest element over `axis` that is not NaN; NaN if there is none."""
    return _extreme("max", a, axis, out, keepdims, initial, where)


def nanmin(a, axis=None, out=None, keepdims=False, initial=_NoValue, where=True):
    """Smallest element over `axis` that is not NaN; NaN if there is none."""
    return _extreme("min", a, axis, out, keepdims, initial, where)


def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """Mean over `axis` of the elements that are not NaN."""
    a = to_ndarray(a)
    _require_inexact("nanmean", a, dtype, out)
    return reduce("mean", a, axis, dtype, out, keepdims, _counted("nanmean", a, where))


def _spread(op, a, axis, dtype, out, ddof, keepdims, where, mean, correction):
    from .reductions import _spread as plain

    a = to_ndarray(a)
    as_dtype("nan" + op, dtype)
    _require_inexact("nan" + op, a, dtype, out)
    mask = _counted("nan" + op, a, where)
    if mean is not _NoValue:
        a = _replaced(a, 0.0)
    lost = ddof if correction is _NoValue else correction
    if mask is True or not lost:
        return plain(op, a, axis, dtype, out, ddof, keepdims, mask, mean, correction)
    result = plain(op, a, axis, dtype, None, ddof, keepdims, mask, mean, correction)
    count = reduce("sum", mask, axis, None, None, keepdims)
    # NaN, not infinity, where no degree of freedom is left.
    result = _core.where(UFUNCS["less_equal"](count, lost), float("nan"), result)
    result = result if result.ndim else as_generic(result)
    return result if out is None else store("nan" + op, result, out, "unsafe")


nanvar = spread_function(
    "var", _spread, "Variance over `axis` of the elements that are not NaN.", "nan"
)
nanstd = spread_function(
    "std", _spread, "Standard deviation over `axis` of the elements that are not NaN.", "nan"
)


def _arg(op, a, axis, out, keepdims):
    from . import reductions as _reductions

    a = to_ndarray(a)
    if a.dtype.kind in "fc":
        if bool(reduce("any", reduce("all", UFUNCS["isnan"](a), axis), None)):
            raise ValueError(message("nan" + op, "a slice of nothing but NaNs", "NaN", "a number"))
        a = _replaced(a, float("-inf") if op == "argmax" else float("inf"))
    return getattr(_reductions, op)(a, axis, out, keepdims=keepdims)


def nanargmax(a, axis=None, out=None, *, keepdims=False):
    """Index of the first largest element that is not NaN. ValueError if a slice has none."""
    return _arg("argmax", a, axis, out, keepdims)


def nanargmin(a, axis=None, out=None, *, keepdims=False):
    """Index of the first smallest element that is not NaN. ValueError if a slice has none."""
    return _arg("argmin", a, axis, out, keepdims)
