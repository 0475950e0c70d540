"""pad: borders around an array, gathered from it, or computed of it, axis by axis."""

import itertools

import numpy

from ..core.errors import message
from . import names as np
from .joining import _along
from .names import compiled as _compiled
from .registry import Any, Array, function

__all__ = []

_GATHERED = ("edge", "reflect", "symmetric", "wrap")
# The keyword that each mode reads.
_KEYWORDS = {
    "constant": "constant_values",
    "empty": None,
    "edge": None,
    "wrap": None,
    "linear_ramp": "end_values",
    "maximum": "stat_length",
    "mean": "stat_length",
    "median": "stat_length",
    "minimum": "stat_length",
    "reflect": "reflect_type",
    "symmetric": "reflect_type",
}
_MODES = tuple(_KEYWORDS)


@function("np.pad")
def pad(
    array: Array,
    pad_width: Any,
    mode: Any = "constant",
    *,
    constant_values: Any = None,
    end_values: Any = None,
    reflect_type: Any = None,
    stat_length: Any = None,
):
    """`array` with `pad_width` more elements: an int, a pair (before, after), a pair for each axis,
    or a dict from axes to these.

    mode: constant (constant_values, as pad_width; zeros unless given), empty, edge, wrap, reflect
    and symmetric (reflect_type "even", or "odd" for twice the edge less what is reflected),
    linear_ramp (from end_values, zeros unless given, to the edge), maximum, mean, median and
    minimum (of stat_length elements next to the edge, of all unless given), or a function that is
    called with each line, its pair of widths, its axis and a dict of keywords, and changes the
    line. Raises ValueError for other modes, for keywords of another mode, and for an axis without
    elements that a mode would have to extend.
    """
    if _compiled:
        _check_in_function(array, mode, constant_values, end_values, reflect_type, stat_length)
    widths = _widths(pad_width, array.ndim)
    if not _compiled:
        given = _given(constant_values, end_values, reflect_type, stat_length)
        if callable(mode):
            return _by_function(array, widths, mode, given)
        _check(mode, given)
    result = np.empty(_grown(array.shape, widths), array.dtype)
    result[_inner(array.shape, widths)] = array
    if mode == "constant":
        values = 0 if constant_values is None else constant_values
        _set_borders(result, array.shape, widths, _pairs(values, array.ndim), 0)
    elif mode != "empty" and (_compiled or not _is_empty(array, widths)):
        if _compiled or (mode in _GATHERED and reflect_type != "odd"):
            _gather_borders(result, array.shape, widths, mode, 0)
        elif reflect_type == "odd":
            _reflect_oddly(result, array.shape, widths, mode == "symmetric")
        elif mode == "linear_ramp":
            ends = 0 if end_values is None else end_values
            _set_ramps(result, array.shape, widths, _pairs(ends, array.ndim))
        else:
            _set_statistics(result, array.shape, widths, mode, _lengths(stat_length, array.ndim))
    return result


def _check_in_function(array, mode, constant_values, end_values, reflect_type, stat_length):
    """Says "not yet" for what is only in array calls."""
    known = isinstance(mode, str) and mode in _MODES and end_values is None and stat_length is None
    known = known and (constant_values is None or mode == "constant")
    known = known and (reflect_type is None or mode == "reflect" or mode == "symmetric")
    if reflect_type is not None:
        known = known and reflect_type == "even"
    known = known and (mode == "constant" or mode == "empty" or mode in _GATHERED)
    if known and mode != "constant" and mode != "empty":
        known = array.size > 0
    if not known:
        raise NotImplementedError(
            "[pad] mode and its keywords; got one of array calls, or no elements; expected "
            "constant, empty, edge, wrap, reflect or symmetric (even)"
        )


def _given(constant_values, end_values, reflect_type, stat_length):
    names = "constant_values end_values reflect_type stat_length".split()
    values = (constant_values, end_values, reflect_type, stat_length)
    return {name: value for name, value in zip(names, values) if value is not None}


def _check(mode, given):
    if not isinstance(mode, str) or mode not in _KEYWORDS:
        raise ValueError(message("pad", "mode is not supported", repr(mode), ", ".join(_MODES)))
    others = given.keys() - {_KEYWORDS[mode]}
    if others:
        found = ", ".join(sorted(others))
        expected = _KEYWORDS[mode] or "none"
        raise ValueError(message("pad", f"unsupported keyword of mode {mode!r}", found, expected))


def _is_empty(array, widths):
    """Whether there is nothing to extend; ValueError for an axis that cannot be."""
    if array.size:
        return False
    for axis, (extent, width) in enumerate(zip(array.shape, widths)):
        if not extent and any(width):
            expected = "mode 'constant' or 'empty'"
            raise ValueError(message("pad", f"axis {axis} has no elements", "none", expected))
    return True


def _by_function(array, widths, function, given):
    result = np.zeros(_grown(array.shape, widths), array.dtype)
    result[_inner(array.shape, widths)] = array
    for axis in range(result.ndim):
        lines = np.moveaxis(result, axis, -1)
        for index in itertools.product(*map(range, lines.shape[:-1])):
            function(lines[index], widths[axis], axis, given)
    return result


def _store_borders(result, shape, widths, axis, first, last):
    """Stores what stands before and after the array along an axis."""
    before, end = widths[axis][0], widths[axis][0] + shape[axis]
    result[_ready(shape, widths, axis, slice(0, before))] = first
    result[_ready(shape, widths, axis, slice(end, end + widths[axis][1]))] = last


def _set_ramps(result, shape, widths, ends):
    for axis, (before, after) in enumerate(widths):
        end = before + shape[axis]
        edges = [result[_ready(shape, widths, axis, k)].copy() for k in (before, end - 1)]
        first, last = [
            np.linspace(value, edge, width, endpoint=False, dtype=result.dtype, axis=axis)
            for value, edge, width in zip(ends[axis], edges, (before, after))
        ]
        _store_borders(result, shape, widths, axis, first, np.flip(last, axis))


def _lengths(value, ndim):
    """How many elements count at both ends of each axis; None: all."""
    if value is None:
        return ((None, None),) * ndim
    pairs = _pairs(numpy.round(numpy.asarray(value)).astype(numpy.intp), ndim)
    if any([k < 0 for pair in pairs for k in pair]):
        raise ValueError(message("pad", "negative stat_length", value, "lengths >= 0"))
    return pairs


def _set_statistics(result, shape, widths, mode, lengths):
    for axis, (before, _) in enumerate(widths):
        n = shape[axis]
        counts = [n if k is None else min(k, n) for k in lengths[axis]]
        if 0 in counts and mode in ("maximum", "minimum"):
            raise ValueError(message("pad", "stat_length of 0 yields no value", 0, "1 or more"))
        parts = slice(before, before + counts[0]), slice(before + n - counts[1], before + n)
        first, last = [
            _statistic(mode, result[_ready(shape, widths, axis, part)], axis) for part in parts
        ]
        _store_borders(result, shape, widths, axis, first, last)


def _statistic(mode, part, axis):
    of = {"maximum": np.max, "minimum": np.min, "mean": np.mean, "median": np.median}[mode]
    found = of(part, axis=axis, keepdims=True)
    return np.round(found) if part.dtype.kind in "iu" else found


def _reflect_oddly(result, shape, widths, whole):
    """Twice the edges less what stands on their other side, as often as there is room; `whole`: the
    edges, too, are reflected.
    """
    for axis, (before, after) in enumerate(widths):
        n, start, end = shape[axis], before, before + shape[axis]

        def part(first, last, axis=axis):
            return _ready(shape, widths, axis, slice(first, last))

        if n == 1:
            edge = result[part(start, end)].copy()
            _store_borders(result, shape, widths, axis, edge, edge)
            continue
        while start > 0 or end < n + before + after:
            # What is there, as far as it is whole periods: the last round may have cut one off.
            period = n if whole else n - 1
            there = (end - start - (not whole)) // period * period
            here, off = (start, end), 0 if whole else 1
            if start > 0:
                k = min(there, start)
                first = result[part(here[0] + off, here[0] + off + k)]
                first = 2 * result[part(here[0], here[0] + 1)] - np.flip(first, axis)
                result[part(here[0] - k, here[0])] = first
                start -= k
            if end < n + before + after:
                k = min(there, n + before + after - end)
                last = result[part(here[1] - off - k, here[1] - off)]
                last = 2 * result[part(here[1] - 1, here[1])] - np.flip(last, axis)
                result[part(here[1], here[1] + k)] = last
                end += k


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
