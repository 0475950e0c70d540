"""Indices of points of grids: ix_, masks of matrices."""

from . import names as np
from .names import compiled as _compiled
from .registry import Any, IntOnly, function

__all__ = []


@function("np.ix_")
def ix_(*args: Any):
    """For each sequence its indices along an axis of its own, which broadcast to a grid; bools give
    the indices where they hold. ValueError for what has not one axis.
    """
    return _grid(args, 0, len(args))


def _grid(args, k, n):
    """The indices of those from the k-th of n on."""
    if k == n:
        return ()
    x = _line(args[k])
    return (x.reshape((1,) * k + (x.size,) + (1,) * (n - k - 1)),) + _grid(args, k + 1, n)


def _line(given):
    """Indices of one axis, of a sequence or of what a mask lets through."""
    x = np.asarray(given)
    if x.ndim != 1:
        raise ValueError(f"[ix_] a sequence; got {x.ndim} axes; expected one")
    if x.dtype.kind == "b":
        return np.flatnonzero(x)
    if not _compiled and x.size == 0 and not hasattr(given, "dtype"):
        return x.astype(np.int64)
    return x


@function("np.mask_indices")
def mask_indices(n: IntOnly, mask_func: Any, k: Any = 0):
    """The indices of an (n, n) matrix where mask_func(ones, k) is not zero: a tuple of two."""
    return np.nonzero(np.asarray(mask_func(np.ones((n, n), np.int64), k)) != 0)
