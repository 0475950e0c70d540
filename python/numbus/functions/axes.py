"""Axes as compiled functions see them: constants, and tuples of constants."""

import numpy

_AxisError = numpy.exceptions.AxisError


def distinct(op, axes, ndim):
    """An axis, or a tuple of axes, as a tuple of different ints in [0, ndim)."""
    return _distinct(op, axes if isinstance(axes, tuple) else (axes,), ndim)


def _distinct(op, axes, ndim):
    if len(axes) == 0:
        return ()
    k = axes[0]
    if not (-ndim <= k < ndim):
        raise _AxisError(
            f"[{op}] axis is out of bounds; got axis {k} for an array of dimension {ndim}"
        )
    k = k + ndim if k < 0 else k
    rest = _distinct(op, axes[1:], ndim)
    if k in rest:
        raise ValueError(f"[{op}] duplicate axis; got {k} twice; expected distinct axes")
    return (k,) + rest
