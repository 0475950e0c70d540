"""Indices of several axes and of the flattened array: ravel_multi_index and unravel_index."""

import operator

from . import names as np
from .axes import product
from .registry import Any, Choice, function

__all__ = []

_MOST = 1 << 63
_MODES = ("raise", "wrap", "clip")


@function("np.ravel_multi_index", compiled=False, few=True)
def ravel_multi_index(
    multi_index: Any, dims: Any, mode: Any = "raise", order: Choice("C", "F") = "C"
):
    """The index into the flattened array of shape `dims` for an index along each axis: int64, of
    the shape to which the indices broadcast.

    mode: for all axes, or a tuple of one for each: 'raise' (ValueError for indices out of range and
    for negative ones), 'wrap' or 'clip'. Raises TypeError for indices that are no integers.
    """
    extents = _extents("ravel_multi_index", dims)
    parts = [_whole("ravel_multi_index", x) for x in multi_index]
    if len(parts) != len(extents):
        raise ValueError(f"[ravel_multi_index] indices; got {len(parts)}; expected {len(extents)}")
    modes = mode if isinstance(mode, tuple) else (mode,) * len(parts)
    if len(modes) != len(parts) or any([m not in _MODES for m in modes]):
        raise ValueError(f"[ravel_multi_index] mode; got {mode!r}; expected of {', '.join(_MODES)}")
    if 0 in extents and all([x.size for x in parts]):
        raise ValueError(f"[ravel_multi_index] shape; got {extents}; expected no extent of 0")
    flat, step = np.int64(0), 1
    axes = range(len(parts))
    for k in axes if order == "F" else reversed(axes):
        flat = np.add(flat, _inside(parts[k], extents[k], modes[k]) * step)
        step *= extents[k]
    return flat


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


@function("np.unravel_index", compiled=False, few=True)
def unravel_index(indices: Any, shape: Any, order: Choice("C", "F") = "C"):
    """The index along each axis of an array of that shape, for indices into the flattened one: a
    tuple of int64 arrays.

    Raises ValueError for indices out of range and for negative ones, TypeError for those that are
    no integers.
    """
    extents = _extents("unravel_index", shape)
    at = _whole("unravel_index", indices)
    if at.ndim and not extents:
        raise ValueError("[unravel_index] indices; got several for no axes; expected one")
    _require("unravel_index", at, product(extents))
    found = []
    for extent in extents if order == "F" else reversed(extents):
        found.append(at % extent)
        at = at // extent
    return tuple(found if order == "F" else reversed(found))


def _extents(op, shape):
    extents = tuple(map(operator.index, shape if np.ndim(shape) else (shape,)))
    if product(extents) >= _MOST:
        raise ValueError(f"[{op}] shape; got {extents}; expected fewer elements than 2**63")
    return extents


def _whole(op, x):
    """Indices as int64."""
    a = np.asarray(x)
    if a.dtype.kind not in "iub":
        raise TypeError(f"[{op}] indices; got {a.dtype}; expected integers")
    return a.astype(np.int64)
