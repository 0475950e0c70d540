"""Indices of points of grids: ix_, masks of matrices."""

from . import names as np
from .registry import Any, Int, function

__all__ = []


@function("np.ix_", compiled=False)
def ix_(*args: Any):
    """For each sequence its indices along an axis of its own, which broadcast to a grid; bools give
    the indices where they hold. ValueError for what has not one axis.
    """
    n = len(args)
    made = []
    for k, given in enumerate(args):
        x = np.asarray(given)
        if x.ndim != 1:
            raise ValueError(f"[ix_] a sequence; got {x.ndim} axes; expected one")
        if x.size == 0 and not hasattr(given, "dtype"):
            x = x.astype(np.int64)
        if x.dtype == np.bool_:
            x = np.flatnonzero(x)
        made.append(x.reshape((1,) * k + (x.size,) + (1,) * (n - k - 1)))
    return tuple(made)


@function("np.mask_indices", compiled=False)
def mask_indices(n: Int, mask_func: Any, k: Any = 0):
    """The indices of an (n, n) matrix where mask_func(ones, k) is not zero: a tuple of two."""
    return np.nonzero(np.asarray(mask_func(np.ones((n, n), np.int64), k)) != 0)
