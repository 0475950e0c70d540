"""Views of other shapes: reshape, transpose, squeeze, flip, broadcast, diagonal."""

import numpy

from .. import _core
from .._core import ndarray
from ..core.errors import as_shape, many_axes, message, no_flags, one_axis
from ..core.operands import plain, to_ndarray
from ..core.quick import quick
from . import names as np
from .axes import distinct, require_axes
from .names import compiled as _compiled
from .names import is_known, not_yet
from .registry import Any, Array, Axes, Axis, Flag, Whole, function

__all__ = [
    "broadcast_to",
    "moveaxis",
    "permute_dims",
    "ravel",
    "reshape",
    "swapaxes",
    "transpose",
]


def reshape(a, /, shape, order="C", *, copy=None):
    """`a` with another shape of the same size (one extent may be -1): a view where strides allow.

    order: 'C', 'F' or 'A'. copy: True always copies, False raises ValueError where one is needed.
    """
    if type(shape) is ndarray:
        shape = tuple(shape.tolist())
    return to_ndarray(a).reshape(shape, order=order, copy=copy)


def ravel(a, order="C"):
    """`a` flattened to one axis, a view where strides allow. order: 'C', 'F', 'A' or 'K'."""
    return to_ndarray(a).ravel(order)


@quick("permute_dims")
def transpose(a, axes=None):
    """`a` with its axes permuted (reversed by default): a view."""
    a = to_ndarray(a)
    if axes is None:
        return a.transpose()
    if len(axes) != a.ndim:
        raise ValueError(
            message("transpose", "axes do not match the array", axes, f"{a.ndim} axes")
        )
    return a.transpose(many_axes("transpose", no_flags("transpose", axes), a.ndim))


permute_dims = transpose


@function("np.matrix_transpose")
@quick("matrix_transpose")
def matrix_transpose(x: Array, /):
    """`x` with its last two axes exchanged: a view. ValueError for fewer than two axes."""
    require_axes("matrix_transpose", x, 2)
    return np.swapaxes(x, -1, -2)


@quick("swapaxes")
def swapaxes(a, axis1, axis2):
    """`a` with two axes exchanged: a view."""
    a = to_ndarray(a)
    order = list(range(a.ndim))
    i, j = one_axis("swapaxes", axis1, a.ndim), one_axis("swapaxes", axis2, a.ndim)
    order[i], order[j] = order[j], order[i]
    return a.transpose(tuple(order))


def moveaxis(a, source, destination):
    """`a` with the axes `source` at the positions `destination`: a view."""
    a = to_ndarray(a)
    if source is None or destination is None:
        raise TypeError(message("moveaxis", "axes", "None", "ints"))
    source = many_axes("moveaxis", source, a.ndim)
    destination = many_axes("moveaxis", destination, a.ndim)
    if len(source) != len(destination):
        raise ValueError(
            message("moveaxis", "numbers of axes differ", (source, destination), "as many of each")
        )
    order = [axis for axis in range(a.ndim) if axis not in source]
    for target, axis in sorted(zip(destination, source)):
        order.insert(target, axis)
    return a.transpose(tuple(order))


@function("np.rollaxis")
def rollaxis(a: Array, axis: Axis, start: Any = 0):
    """`a` with `axis` moved to lie before `start`: a view. AxisError for others than there are."""
    before = a.ndim if start == a.ndim else distinct("rollaxis", start, a.ndim)[0]
    place = before - 1 if axis < before else before
    if _compiled:
        return np.moveaxis(a, axis, place)
    order = [d for d in range(a.ndim) if d != axis]
    order.insert(place, axis)
    return a.transpose(tuple(order))


@function("np.squeeze")
@quick("squeeze")
def squeeze(a: Array, axis: Any = None):
    """`a` without its axes of extent 1 (or without `axis`, which must have extent 1): a view.

    Raises ValueError for an axis of another extent. Compiled functions take an axis, where they do
    not know all extents.
    """
    if axis is None:
        if _compiled:
            return a.reshape(_not_one(a.shape))
        return a.reshape(tuple([extent for extent in a.shape if extent != 1]))
    if not _compiled:
        no_flags("squeeze", axis)
    if a.ndim == 0 and axis in (0, -1):  # as NumPy has it
        return a.reshape(())
    axes = distinct("squeeze", axis, a.ndim)
    for d in axes:
        if a.shape[d] != 1:
            raise ValueError(
                "[squeeze] an axis cannot be removed; got several entries; expected an extent of 1"
            )
    return a.reshape(_without(a.shape, axes))


def _not_one(shape):
    """The extents other than 1, all of which a compiled function has to know."""
    if len(shape) == 0:
        return ()
    if not is_known(shape[0]):
        not_yet("np.squeeze() without an axis where an extent is one of run time", "axis=")
    rest = _not_one(shape[1:])
    return rest if shape[0] == 1 else (shape[0],) + rest


def _without(shape, axes):
    """The extents of the other axes."""
    d = len(shape) - 1
    if d < 0:
        return ()
    rest = _without(shape[:-1], axes)
    return rest if d in axes else rest + (shape[d],)


@function("np.expand_dims")
def expand_dims(a: Array, axis: Any):
    """`a` with axes of extent 1 inserted at the positions `axis` of the result: a view."""
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    axes = distinct("expand_dims", tuple(axis) if isinstance(axis, list) else axis, a.ndim + count)
    return a[_inserted(a.ndim + count, axes)]


def _inserted(ndim, axes, d=0):
    """An index that makes these axes of an array with that many; a whole array's otherwise."""
    if d == ndim:
        return ()
    own = None if d in axes else slice(None)
    return (own,) + _inserted(ndim, axes, d + 1)


@function("np.atleast_1d")
@quick("atleast_1d")
def atleast_1d(*arys: Array):
    """Each argument with at least one axis; a tuple for several arguments."""
    views = tuple([a if a.ndim else a[None] for a in arys])
    return views[0] if len(views) == 1 else views


@function("np.atleast_2d")
@quick("atleast_2d")
def atleast_2d(*arys: Array):
    """Each argument with at least two axes, new ones in front; a tuple for several arguments."""
    views = tuple([a if a.ndim > 1 else a[None] if a.ndim else a[None, None] for a in arys])
    return views[0] if len(views) == 1 else views


@function("np.atleast_3d")
@quick("atleast_3d")
def atleast_3d(*arys: Array):
    """Each argument with at least three axes: (N,) to (1, N, 1), (M, N) to (M, N, 1)."""
    views = tuple([_three_axes(a) for a in arys])
    return views[0] if len(views) == 1 else views


def _three_axes(a):
    if a.ndim > 2:
        return a
    if a.ndim == 2:
        return a[:, :, None]
    return a[None, :, None] if a.ndim else a[None, None, None]


def broadcast_to(array, shape, subok=False):
    """A read-only view of `array` with `shape`, repeated along axes of extent 1.

    subok: subclasses of numpy.ndarray stay what they are.
    """
    return _core.broadcast_to(to_ndarray(plain(array, subok)), as_shape("broadcast_to", shape))


@function("np.broadcast_arrays")
def broadcast_arrays(*args: Any, subok: Flag = False):
    """All arguments broadcast against each other: a tuple of read-only views."""
    if _compiled:
        parts = tuple([np.asarray(a) for a in args])
        extents = _common_shape(parts)
        return tuple([np.broadcast_to(a, extents) for a in parts])
    arrays = [to_ndarray(plain(a, subok)) for a in args]
    shape = numpy.broadcast_shapes(*[a.shape for a in arrays])
    return tuple([a if a.shape == shape else _core.broadcast_to(a, shape) for a in arrays])


def _common_shape(arrays):
    """The shape that all broadcast to."""
    if len(arrays) == 1:
        return arrays[0].shape
    return np.broadcast_shapes(arrays[0].shape, _common_shape(arrays[1:]))


@function("np.flip")
@quick("flip")
def flip(m: Array, axis: Axes = None):
    """`m` reversed along `axis` (int, tuple, or None for all axes): a view."""
    return m[_backwards(m.ndim, axis)]


def _backwards(ndim, axes, d=0):
    """An index that goes back along these axes; None: along all."""
    if d == ndim:
        return ()
    if axes is None or d in axes:
        return (slice(None, None, -1),) + _backwards(ndim, axes, d + 1)
    return (slice(None),) + _backwards(ndim, axes, d + 1)


@function("np.fliplr")
def fliplr(m: Array):
    """`m` with its columns reversed: a view."""
    if m.ndim < 2:
        raise ValueError(f"[fliplr] too few axes; got {m.ndim}-d; expected 2-d or more")
    return m[:, ::-1]


@function("np.flipud")
def flipud(m: Array):
    """`m` with its rows reversed: a view."""
    if m.ndim < 1:
        raise ValueError("[flipud] too few axes; got 0-d; expected 1-d or more")
    return m[::-1]


@function("np.rot90")
def rot90(m: Array, k: Whole = 1, axes: Axes = (0, 1)):
    """`m` rotated k times by 90 degrees in the plane of two axes: a view."""
    if len(axes) != 2:
        raise ValueError(f"[rot90] axes; got {len(axes)}; expected two")
    first, second = axes
    if k % 4 == 1:
        return np.swapaxes(m, first, second)[_backwards(m.ndim, (first,))]
    if k % 4 == 2:
        return m[_backwards(m.ndim, axes)]
    if k % 4 == 3:
        return np.swapaxes(m, first, second)[_backwards(m.ndim, (second,))]
    return m[...]
