"""Axes and shapes as compiled functions see them: constants, and tuples of a known length."""

import operator

import numpy

from .names import compiled as _compiled

_AxisError = numpy.exceptions.AxisError


def require_axis(op, a):
    """Raises TypeError for an array without axes, which NumPy cannot go through either."""
    if a.ndim == 0:
        raise TypeError(f"[{op}] an array without axes; got 0-d; expected 1-d or more")


def require_axes(op, a, least):
    """Raises ValueError for an array of fewer axes than `least`."""
    # In compiled functions a condition of the run: what follows has parts to index.
    if a.ndim < least and (not _compiled or a.size >= 0):
        raise ValueError(f"[{op}] too few axes; got {a.ndim}-d; expected {least}-d or more")


def every(shape):
    """All axes of an array of that shape."""
    if len(shape) == 0:
        return ()
    return every(shape[:-1]) + (len(shape) - 1,)


def distinct(op, axes, ndim):
    """An axis, or a tuple of axes, as a tuple of different ints in [0, ndim)."""
    return _distinct(op, axes if isinstance(axes, tuple) else (axes,), ndim)


def _distinct(op, axes, ndim):
    if len(axes) == 0:
        return ()
    if isinstance(axes[0], float):
        raise TypeError(f"[{op}] axis is not an integer; got a float; expected an int")
    k = axes[0] if _compiled else operator.index(axes[0])
    if not (-ndim <= k < ndim):
        raise _AxisError(f"[{op}] axis {k} is out of bounds for array of dimension {ndim}; got {k}")
    k = k + ndim if k < 0 else k
    rest = _distinct(op, axes[1:], ndim)
    if k in rest:
        raise ValueError(f"[{op}] duplicate axis; got {k} twice; expected distinct axes")
    return (k,) + rest


def leading(shape, ndim):
    """A shape with as many axes of extent 1 before it as `ndim` axes take."""
    return (1,) * (ndim - len(shape)) + shape


def interleaved(first, second):
    """A pair of extents for each axis of two shapes."""
    if len(first) == 0:
        return ()
    return (first[0], second[0]) + interleaved(first[1:], second[1:])


def multiplied(first, second):
    """The products of the extents of two shapes."""
    if len(first) == 0:
        return ()
    return (first[0] * second[0],) + multiplied(first[1:], second[1:])


def product(extents):
    """The number of elements of a shape."""
    if len(extents) == 0:
        return 1
    return extents[0] * product(extents[1:])
