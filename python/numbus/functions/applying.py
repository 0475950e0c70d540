"""Functions of the caller's applied to parts of arrays: lines, axes, elements under conditions."""

import numpy

from ..core.errors import message, one_axis
from ..core.operands import to_ndarray
from . import names as np

__all__ = ["apply_along_axis", "apply_over_axes", "piecewise"]


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """func1d(line, *args, **kwargs) of each line along `axis`; the axes of its results stand where
    that axis was. ValueError where there is no line.
    """
    a = to_ndarray(arr)
    axis = one_axis("apply_along_axis", axis, a.ndim)
    lines = np.moveaxis(a, axis, -1)
    before = lines.shape[:-1]
    indices = numpy.ndindex(before)
    first = next(indices, None)
    if first is None:
        raise ValueError(message("apply_along_axis", "no lines", a.shape, "at least one line"))
    result = _array_of(func1d(lines[first], *args, **kwargs))
    every = np.zeros(before + result.shape, result.dtype)
    every[first] = result
    for index in indices:
        every[index] = func1d(lines[index], *args, **kwargs)
    n = len(before)
    order = (*range(axis), *range(n, n + result.ndim), *range(axis, n))
    return every.transpose(order)


def _array_of(x):
    return to_ndarray(numpy.asanyarray(x) if isinstance(x, (list, tuple)) else x)


def apply_over_axes(func, a, axes):
    """func(a, axis) for each of the axes in turn; axes that it takes away come back with one
    element. ValueError where it gives another number of axes.
    """
    value = to_ndarray(a)
    ndim = value.ndim
    for axis in numpy.atleast_1d(axes).tolist() if numpy.ndim(axes) == 0 else axes:
        axis = axis + ndim if axis < 0 else axis
        result = func(value, axis)
        if numpy.ndim(result) != value.ndim:
            result = np.expand_dims(result, axis)
            if result.ndim != value.ndim:
                raise ValueError(
                    message("apply_over_axes", "axes of a result", result.ndim, f"{value.ndim}")
                )
        value = to_ndarray(result)
    return value


def piecewise(x, condlist, funclist, *args, **kw):
    """For each condition, func(x[condition], *args, **kw) or a number where it holds; a function
    more is for where none of them does. Zero elsewhere.
    """
    x = to_ndarray(x)
    first = condlist[0] if len(condlist) else None
    if numpy.isscalar(condlist) or (not _has_axes(first) and x.ndim != 0):
        condlist = [condlist]
    conditions = [to_ndarray(c).astype(bool) for c in condlist]
    if len(funclist) == len(conditions) + 1:
        some = conditions[0]
        for c in conditions[1:]:
            some = np.logical_or(some, c)
        conditions.append(np.logical_not(some))
    elif len(funclist) != len(conditions):
        expected = f"{len(conditions)} or {len(conditions) + 1}"
        raise ValueError(message("piecewise", "number of functions", len(funclist), f"{expected}"))
    y = np.zeros_like(x)
    for c, f in zip(conditions, funclist):
        if not callable(f):
            y[c] = f
            continue
        values = x[c]
        if values.size > 0:
            y[c] = f(values, *args, **kw)
    return y


def _has_axes(x):
    return isinstance(x, (list, numpy.ndarray)) or getattr(x, "ndim", 0) > 0
