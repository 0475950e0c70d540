"""pad: borders around an array, gathered from it axis by axis."""

import numpy

from ..core.errors import ForeignDtype, message
from . import names as np
from .joining import _along
from .names import compiled as _compiled
from .registry import Any, Array, function

__all__ = []

_MODES = ("constant", "empty", "edge", "reflect", "symmetric", "wrap")


@function("np.pad")
def pad(
    array: Array,
    pad_width: Any,
    mode: Any = "constant",
    *,
    constant_values: Any = None,
    reflect_type: Any = None,
):
    """`array` with `pad_width` more elements: an int, a pair (before, after), a pair for each axis,
    or a dict from axes to these.

    mode: constant (constant_values, as pad_width; zeros unless given), edge, reflect, symmetric,
    wrap or empty; NumPy does its other modes, functions and odd reflections.
    """
    _check(array, mode, constant_values, reflect_type)
    widths = _widths(pad_width, array.ndim)
    result = np.empty(_grown(array.shape, widths), array.dtype)
    result[_inner(array.shape, widths)] = array
    if mode == "constant":
        values = 0 if constant_values is None else constant_values
        _set_borders(result, array.shape, widths, _pairs(values, array.ndim), 0)
    elif mode != "empty":
        _gather_borders(result, array.shape, widths, mode, 0)
    return result


def _check(array, mode, constant_values, reflect_type):
    """Leaves to NumPy, in array calls, what is not done here and what it refuses."""
    known = isinstance(mode, str) and mode in _MODES
    known = known and (constant_values is None or mode == "constant")
    known = known and (reflect_type is None or mode == "reflect" or mode == "symmetric")
    if reflect_type is not None:
        known = known and reflect_type == "even"
    if known and mode != "constant" and mode != "empty":
        known = array.size > 0
    if not known:
        if _compiled:
            raise NotImplementedError(
                "[pad] mode and its keywords; got one of NumPy's, or no elements; expected "
                "constant, empty, edge, wrap, reflect or symmetric (even)"
            )
        raise ForeignDtype("[pad] a mode of NumPy's")


def _widths(value, ndim):
    if not _compiled:
        if isinstance(value, dict):
            pairs = [(0, 0)] * ndim
            for axis, width in value.items():
                pairs[axis] = _pairs(width, 1)[0]
            value = pairs
        if numpy.asarray(value).dtype.kind not in "iu":
            raise TypeError(message("pad", "widths are not integers", value, "an integer type"))
        if ndim == 0 and numpy.min(value) < 0:
            raise ValueError(message("pad", "negative width", value, "widths >= 0"))
    widths = _pairs(value, ndim)
    for before, after in widths:
        if before < 0 or after < 0:
            raise ValueError("[pad] negative width; got one; expected widths >= 0")
    return widths


def _pairs(value, ndim):
    """One number, a pair or a pair for each axis as a tuple of pairs for each axis."""
    if not _compiled:
        return tuple(map(tuple, numpy.broadcast_to(numpy.asarray(value), (ndim, 2)).tolist()))
    if not isinstance(value, (tuple, list)):
        return ((value, value),) * ndim
    if not isinstance(value[0], (tuple, list)):
        return (_pair(value),) * ndim
    each = tuple([_pair(x) for x in value])
    return each * ndim if len(each) == 1 else each


def _pair(x):
    return (x[0], x[0]) if len(x) == 1 else (x[0], x[1])


def _grown(shape, widths):
    if len(shape) == 0:
        return ()
    own = shape[0] + widths[0][0] + widths[0][1]
    return (own,) + _grown(shape[1:], widths[1:])


def _inner(shape, widths):
    """The index of the array in the result."""
    if len(shape) == 0:
        return ()
    start = widths[0][0]
    return (slice(start, start + shape[0]),) + _inner(shape[1:], widths[1:])


def _ready(shape, widths, axis, item):
    """An index of what is complete: axes before `axis` wholly, and `item` along it."""
    return (slice(None),) * axis + (item,) + _inner(shape, widths)[axis + 1 :]


def _set_borders(result, shape, widths, values, axis):
    if axis < result.ndim:
        before, end = widths[axis][0], widths[axis][0] + shape[axis]
        result[_ready(shape, widths, axis, slice(0, before))] = values[axis][0]
        result[_ready(shape, widths, axis, slice(end, end + widths[axis][1]))] = values[axis][1]
        _set_borders(result, shape, widths, values, axis + 1)


def _gather_borders(result, shape, widths, mode, axis):
    if axis < result.ndim:
        n, (before, after) = shape[axis], widths[axis]
        end = before + n
        core = result[_ready(shape, widths, axis, slice(before, end))]
        if mode == "edge":  # copies, as both sides are of one array
            first = core[_along(axis, result.ndim, slice(0, 1))].copy()
            last = core[_along(axis, result.ndim, slice(n - 1, n))].copy()
        else:
            first = core[_along(axis, result.ndim, _sources(mode, np.arange(-before, 0), n))]
            last = core[_along(axis, result.ndim, _sources(mode, np.arange(n, n + after), n))]
        result[_ready(shape, widths, axis, slice(0, before))] = first
        result[_ready(shape, widths, axis, slice(end, end + after))] = last
        _gather_borders(result, shape, widths, mode, axis + 1)


def _sources(mode, k, n):
    """The indices in [0, n) of what stands at the indices k, outside of it."""
    if mode == "wrap":
        return k % n
    if mode == "symmetric":
        return np.minimum(k % (2 * n), 2 * n - 1 - k % (2 * n))
    period = max(2 * n - 2, 1)
    return np.minimum(k % period, period - k % period)
