"""Indices of several axes and of the flattened array: ravel_multi_index and unravel_index."""

import operator

from . import names as np
from .axes import product
from .names import compiled as _compiled
from .names import not_yet
from .registry import Any, Choice, function

__all__ = []

_MOST = (1 << 63) - 1  # elements of an array


@function("np.ravel_multi_index", few=True)
def ravel_multi_index(
    multi_index: Any, dims: Any, mode: Any = "raise", order: Choice("C", "F") = "C"
):
    """The index into the flattened array of shape `dims` for an index along each axis: int64, of
    the shape to which the indices broadcast.

    mode: for all axes, or a tuple of one for each: 'raise' (ValueError for indices out of range and
    for negative ones), 'wrap' or 'clip'. Raises TypeError for indices that are no integers.
    """
    if _compiled and not isinstance(multi_index, tuple):
        not_yet("np.ravel_multi_index() of an array of indices", "a tuple of arrays")
    extents = _extents("ravel_multi_index", dims)
    parts = tuple([_whole("ravel_multi_index", x) for x in multi_index])
    if len(parts) != len(extents):
        raise ValueError(f"[ravel_multi_index] indices; got {len(parts)}; expected {len(extents)}")
    modes = mode if isinstance(mode, tuple) else (mode,) * len(parts)
    if len(modes) != len(parts) or not _are_modes(modes):
        raise ValueError("[ravel_multi_index] mode not known; expected raise, wrap or clip")
    if product(extents) == 0 and all([np.size(x) > 0 for x in parts]):
        raise ValueError(f"[ravel_multi_index] shape; got {extents}; expected no extent of 0")
    if order == "F":
        return _flat(_turned(parts), _turned(extents), _turned(modes))
    return _flat(parts, extents, modes)


def _are_modes(modes):
    if len(modes) == 0:
        return True
    return modes[0] in ("raise", "wrap", "clip") and _are_modes(modes[1:])


def _turned(items):
    """A tuple from its end."""
    if len(items) == 0:
        return ()
    return _turned(items[1:]) + (items[0],)


def _flat(parts, extents, modes):
    """The index into the flattened array in C order."""
    if len(parts) == 0:
        return np.int64(0)
    own = _inside(parts[-1], extents[-1], modes[-1])
    if len(parts) == 1:
        return own
    return np.add(_flat(parts[:-1], extents[:-1], modes[:-1]) * extents[-1], own)


def _inside(x, extent, mode):
    if mode == "wrap":
        return x % extent
    if mode == "clip":
        return np.minimum(np.maximum(x, 0), extent - 1)
    _require("ravel_multi_index", x, extent)
    return x


def _require(op, x, extent):
    if bool(np.any(np.logical_or(x < 0, x >= extent))):
        raise ValueError(f"[{op}] an index out of range; got it; expected 0 to {extent - 1}")


@function("np.unravel_index", few=True)
def unravel_index(indices: Any, shape: Any, order: Choice("C", "F") = "C"):
    """The index along each axis of an array of that shape, for indices into the flattened one: a
    tuple of int64 arrays.

    Raises ValueError for indices out of range and for negative ones, TypeError for those that are
    no integers.
    """
    extents = _extents("unravel_index", shape)
    at = _whole("unravel_index", indices)
    if np.ndim(at) > 0 and len(extents) == 0:
        raise ValueError("[unravel_index] indices; got several for no axes; expected one")
    _require("unravel_index", at, product(extents))
    if order == "F":
        return _turned(_along_each(at, _turned(extents)))
    return _along_each(at, extents)


def _along_each(at, extents):
    """The index along each axis, in C order."""
    if len(extents) == 0:
        return ()
    return _along_each(at // extents[-1], extents[:-1]) + (at % extents[-1],)


def _extents(op, shape):
    if _compiled:
        if np.ndim(shape) > 0 and not isinstance(shape, tuple):
            not_yet("a shape that is an array or a list", "a tuple")
        extents = shape if isinstance(shape, tuple) else (shape,)
    else:
        extents = tuple(map(operator.index, shape if np.ndim(shape) else (shape,)))
    if not _fits(extents, _MOST):
        raise ValueError(f"[{op}] shape; got {extents}; expected fewer elements than 2**63")
    return extents


def _fits(extents, most):
    """Whether an array of that shape has at most so many elements."""
    if len(extents) == 0 or extents[0] == 0:
        return True
    return extents[0] <= most and _fits(extents[1:], most // extents[0])


def _whole(op, x):
    """Indices as int64."""
    a = np.asarray(x)
    if a.dtype.kind not in "iub":
        raise TypeError(f"[{op}] indices; got another type; expected integers")
    return a.astype(np.int64)
