"""Reductions that ignore NaNs, composed of masks and the plain reductions.

A slice of nothing but NaNs gives NaN as in NumPy; NumPy's warning about it is not raised,
because that would need the data at the call.
"""

from . import _core
from ._convert import as_dtype, as_generic, to_ndarray
from ._errors import message
from ._reductions import _NoValue, reduce, spread_function, store
from ._ufuncs import UFUNCS

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


def _is_true(where):
    return where is True or where is _NoValue


def _counted(a, where):
    """Where elements count: not NaN, and under the caller's mask; True for everywhere."""
    if a.dtype.kind not in "fc":
        return where if not _is_true(where) else True
    mask = UFUNCS["logical_not"](UFUNCS["isnan"](a))
    return mask if _is_true(where) else UFUNCS["logical_and"](mask, to_ndarray(where))


def _replaced(a, value):
    """`a` with its NaNs replaced."""
    return a if a.dtype.kind not in "fc" else _core.where(UFUNCS["isnan"](a), value, a)


def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=_NoValue, where=True):
    """Sum over `axis` with NaNs as zeros."""
    from ._reductions import sum

    return sum(_replaced(to_ndarray(a), 0.0), axis, dtype, out, keepdims, initial, where)


def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=_NoValue, where=True):
    """Product over `axis` with NaNs as ones."""
    from ._reductions import prod

    return prod(_replaced(to_ndarray(a), 1.0), axis, dtype, out, keepdims, initial, where)


def _extreme(op, a, axis, out, keepdims, initial, where):
    from . import _reductions

    a = to_ndarray(a)
    plain = getattr(_reductions, op)
    if a.dtype.kind not in "fc":
        return plain(a, axis, out, keepdims, initial, where)
    worst = float("-inf") if op == "max" else float("inf")
    if a.dtype.kind == "c":
        worst = complex(worst, worst)
    has_initial = initial is not _NoValue
    filled = plain(_replaced(a, worst), axis, None, keepdims, initial, where)
    if has_initial:
        return filled if out is None else store("nan" + op, filled, out)
    some = reduce("any", _counted(a, where), axis, None, None, keepdims)
    result = _core.where(some, filled, float("nan"))
    result = result if result.ndim else as_generic(result)
    return result if out is None else store("nan" + op, result, out)


def nanmax(a, axis=None, out=None, keepdims=False, initial=_NoValue, where=True):
    """Largest element over `axis` that is not NaN; NaN if there is none."""
    return _extreme("max", a, axis, out, keepdims, initial, where)


def nanmin(a, axis=None, out=None, keepdims=False, initial=_NoValue, where=True):
    """Smallest element over `axis` that is not NaN; NaN if there is none."""
    return _extreme("min", a, axis, out, keepdims, initial, where)


def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """Mean over `axis` of the elements that are not NaN."""
    a = to_ndarray(a)
    return reduce("mean", a, axis, dtype, out, keepdims, _counted(a, where))


def _spread(op, a, axis, dtype, out, ddof, keepdims, where, mean, correction):
    from ._reductions import _spread as plain

    a = to_ndarray(a)
    as_dtype("nan" + op, dtype)
    mask = _counted(a, where)
    if mean is not _NoValue:
        a = _replaced(a, 0.0)
    return plain(op, a, axis, dtype, out, ddof, keepdims, mask, mean, correction)


nanvar = spread_function(
    "var", _spread, "Variance over `axis` of the elements that are not NaN.", "nan"
)
nanstd = spread_function(
    "std", _spread, "Standard deviation over `axis` of the elements that are not NaN.", "nan"
)


def _arg(op, a, axis, out, keepdims):
    from . import _reductions

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
