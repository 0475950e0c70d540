"""pad: borders around an array, written as slices of the result."""

import numpy

from .. import _core
from ..core.errors import message
from ..core.fallback import call
from ..core.operands import to_ndarray

__all__ = ["pad"]

_MODES = {
    "constant": "constant_values",
    "edge": None,
    "reflect": "reflect_type",
    "symmetric": "reflect_type",
    "wrap": None,
    "empty": None,
}


def _pairs(value, ndim, integers=True):
    """A scalar, a pair or a pair per axis as a list of (before, after)."""
    table = numpy.asarray(value)
    if integers and table.dtype.kind not in "iu":
        raise TypeError(message("pad", "widths are not integers", table.dtype, "an integer type"))
    pairs = numpy.broadcast_to(table, (ndim, 2)).tolist()
    if integers and any([width < 0 for pair in pairs for width in pair]):
        raise ValueError(message("pad", "negative width", pairs, "widths >= 0"))
    return pairs


def pad(array, pad_width, mode="constant", **kwargs):
    """`array` with `pad_width` (int, pair, a pair per axis, or a dict from axis to pair) more
    elements.

    mode: constant (constant_values=0), edge, reflect, symmetric, wrap or empty here; NumPy's
    other modes, odd reflections and widths beyond one reflection are done by NumPy.
    """
    a = to_ndarray(array)
    if isinstance(pad_width, dict):
        widths = [(0, 0)] * a.ndim
        for axis, width in pad_width.items():
            widths[axis] = tuple(_pairs(width, 1)[0])
    else:
        widths = _pairs(pad_width, a.ndim)
    if not _is_simple(a, widths, mode, kwargs):
        return call("numpy.pad", numpy.pad, (array, pad_width, mode), kwargs)
    shape = tuple([extent + before + after for extent, (before, after) in zip(a.shape, widths)])
    result = _core.empty(shape, a.dtype)
    inner = [slice(before, before + extent) for extent, (before, _) in zip(a.shape, widths)]
    result[tuple(inner)] = a
    values = _pairs(kwargs.get("constant_values", 0), a.ndim, integers=False)
    for axis, (before, after) in enumerate(widths):
        # The axes before this one are complete, those after it are still bare.
        ready = [slice(None)] * axis + inner[axis:]
        for start, stop, source in _sources(mode, before, after, a.shape[axis]):
            target = ready[:axis] + [slice(start, stop)] + ready[axis + 1 :]
            if source is None:
                result[tuple(target)] = values[axis][0 if start == 0 else 1]
                continue
            # A copy, because source and target are parts of one array.
            part = result[tuple(ready[:axis] + [source] + ready[axis + 1 :])]
            result[tuple(target)] = part.copy()
    return result


def _is_simple(a, widths, mode, kwargs):
    if mode not in _MODES or any([key != _MODES[mode] for key in kwargs]):
        return False
    if mode in ("constant", "empty"):
        return True
    if kwargs.get("reflect_type", "even") != "even" or a.size == 0:
        return False
    room = {"edge": None, "wrap": 0, "symmetric": 0, "reflect": 1}[mode]
    return room is None or all(
        [max(pair) <= extent - room for extent, pair in zip(a.shape, widths)]
    )


def _sources(mode, before, after, extent):
    """For each border of one axis: (start, stop, slice of the result to read, None for
    a constant).
    """
    end = before + extent
    borders = []
    if mode == "empty":
        return borders
    if before:
        source = {
            "constant": None,
            "edge": slice(before, before + 1),
            "wrap": slice(end - before, end),
            "symmetric": _back(before + before - 1, before - 1),
            "reflect": _back(before + before, before),
        }[mode]
        borders.append((0, before, source))
    if after:
        source = {
            "constant": None,
            "edge": slice(end - 1, end),
            "wrap": slice(before, before + after),
            "symmetric": _back(end - 1, end - 1 - after),
            "reflect": _back(end - 2, end - 2 - after),
        }[mode]
        borders.append((end, end + after, source))
    return borders


def _back(start, stop):
    """A slice from `start` down to but not including `stop`."""
    return slice(start, None if stop < 0 else stop, -1)
