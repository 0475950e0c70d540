"""Derivatives of sampled functions."""

from ..core.dtypes import kind_of
from . import names as np
from .axes import every
from .joining import _along
from .registry import Any, Array, Axes, function

__all__ = []


@function("np.gradient", few=True)
def gradient(f: Array, *varargs: Any, axis: Axes = None, edge_order: Any = 1):
    """Central differences inside, one-sided ones of `edge_order` (1, 2) at the borders: an array
    for one axis, else a tuple.

    varargs: one spacing for all axes, or for each axis a spacing or a line of coordinates. Raises
    TypeError for another number of them, ValueError for coordinates of another length and for axes
    that are too short.
    """
    axes = every(f.shape) if axis is None else axis
    if len(varargs) == 0:
        return _along_all(f, axes, (1.0,) * len(axes), edge_order)
    return _along_all(f, axes, _steps(varargs, len(axes)), edge_order)


def _along_all(f, axes, steps, edge_order):
    if edge_order > 2:
        raise ValueError(f"[gradient] edge_order; got {edge_order}; expected 1 or 2")
    if f.dtype.kind in "iu":
        return _joined(_each(f.astype(np.float64), axes, steps, edge_order))
    return _joined(_each(f, axes, steps, edge_order))


def _joined(found):
    if len(found) == 1:
        return found[0]
    return found


def _steps(given, count):
    if len(given) == 1 and np.ndim(given[0]) == 0:
        return given * count
    if len(given) != count:
        raise TypeError(f"[gradient] spacings; got {len(given)}; expected none, 1 or {count}")
    return given


def _each(f, axes, steps, edge_order):
    if len(axes) == 0:
        return ()
    return (_one(f, axes[0], steps[0], edge_order), *_each(f, axes[1:], steps[1:], edge_order))


def _one(f, axis, step, edge_order):
    n, short = f.shape[axis], f.shape[axis] < (2 if edge_order == 1 else edge_order + 1)
    if np.ndim(step) > 1:
        raise ValueError("[gradient] coordinates; got several axes; expected one")
    if np.ndim(step) == 1 and len(step) != n:
        raise ValueError(f"[gradient] coordinates; got {len(step)}; expected {n}")
    if short:
        raise ValueError(f"[gradient] extent of axis {axis}; got {n}; expected edge_order + 1")
    if np.ndim(step) == 0:
        return _even(f, axis, step, edge_order)
    x = np.asarray(step)
    d = np.diff(x.astype(np.float64) if x.dtype.kind in "iu" else x)
    if bool(np.all(d == d[0])):
        return _even(f, axis, d[0], edge_order)
    return _uneven(f, axis, d, edge_order)


def _empty(f):
    return np.empty(f.shape, f.dtype if kind_of(f.dtype) in "fc" else np.float64)


def _at(f, axis, start, stop):
    return _along(axis, f.ndim, slice(start, stop))


def _even(f, axis, d, edge_order):
    result = _empty(f)
    inner = f[_at(f, axis, 2, None)] - f[_at(f, axis, None, -2)]
    result[_at(f, axis, 1, -1)] = inner / (2.0 * d)
    first, second, last = _at(f, axis, 0, 1), _at(f, axis, 1, 2), _at(f, axis, -1, None)
    before = _at(f, axis, -2, -1)
    if edge_order == 1:
        result[first] = (f[second] - f[first]) / d
        result[last] = (f[last] - f[before]) / d
    else:
        third, early = _at(f, axis, 2, 3), _at(f, axis, -3, -2)
        result[first] = -1.5 / d * f[first] + 2.0 / d * f[second] + -0.5 / d * f[third]
        result[last] = 0.5 / d * f[early] + -2.0 / d * f[before] + 1.5 / d * f[last]
    return result


def _uneven(f, axis, d, edge_order):
    result = _empty(f)
    shape = (1,) * axis + (d.shape[0] - 1,) + (1,) * (f.ndim - 1 - axis)
    left, right = d[:-1], d[1:]
    a = (-right / (left * (left + right))).reshape(shape)
    b = ((right - left) / (left * right)).reshape(shape)
    c = (left / (right * (left + right))).reshape(shape)
    inner = a * f[_at(f, axis, None, -2)] + b * f[_at(f, axis, 1, -1)]
    result[_at(f, axis, 1, -1)] = inner + c * f[_at(f, axis, 2, None)]
    first, second, last = _at(f, axis, 0, 1), _at(f, axis, 1, 2), _at(f, axis, -1, None)
    before = _at(f, axis, -2, -1)
    if edge_order == 1:
        result[first] = (f[second] - f[first]) / d[0]
        result[last] = (f[last] - f[before]) / d[-1]
    else:
        third, early = _at(f, axis, 2, 3), _at(f, axis, -3, -2)
        u, v = d[0], d[1]
        near, middle, far = -(2.0 * u + v) / (u * (u + v)), (u + v) / (u * v), -u / (v * (u + v))
        result[first] = near * f[first] + middle * f[second] + far * f[third]
        u, v = d[-2], d[-1]
        far, middle, near = v / (u * (u + v)), -(v + u) / (u * v), (2.0 * v + u) / (v * (u + v))
        result[last] = far * f[early] + middle * f[before] + near * f[last]
    return result
