"""Views of other shapes: reshape, transpose, squeeze, flip, broadcast, diagonal."""

import numpy

from .. import _core
from .._core import ndarray
from ..core.errors import as_shape, many_axes, message, one_axis
from ..core.operands import plain, to_ndarray
from ..core.quick import quick
from .matrices import diagonal_view
from .registry import Array, function

__all__ = [
    "atleast_1d",
    "atleast_3d",
    "broadcast_arrays",
    "broadcast_to",
    "diagonal",
    "expand_dims",
    "flip",
    "fliplr",
    "flipud",
    "matrix_transpose",
    "moveaxis",
    "permute_dims",
    "ravel",
    "reshape",
    "resize",
    "rollaxis",
    "rot90",
    "squeeze",
    "swapaxes",
    "trace",
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


def transpose(a, axes=None):
    """`a` with its axes permuted (reversed by default): a view."""
    a = to_ndarray(a)
    if axes is None:
        return a.transpose()
    if len(axes) != a.ndim:
        raise ValueError(
            message("transpose", "axes do not match the array", axes, f"{a.ndim} axes")
        )
    return a.transpose(many_axes("transpose", axes, a.ndim))


permute_dims = transpose


def matrix_transpose(x, /):
    """`x` with its last two axes exchanged: a view."""
    x = to_ndarray(x)
    if x.ndim < 2:
        raise ValueError(message("matrix_transpose", "too few axes", f"{x.ndim}-d", "2-d or more"))
    return swapaxes(x, -1, -2)


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


def rollaxis(a, axis, start=0):
    """`a` with `axis` moved to lie before `start`: a view."""
    a = to_ndarray(a)
    axis = one_axis("rollaxis", axis, a.ndim)
    start = a.ndim if start == a.ndim else one_axis("rollaxis", start, a.ndim)
    order = [i for i in range(a.ndim) if i != axis]
    order.insert(start - 1 if axis < start else start, axis)
    return a.transpose(tuple(order))


@quick("squeeze")
def squeeze(a, axis=None):
    """`a` without its axes of extent 1 (or without `axis`, which must have extent 1): a view."""
    a = to_ndarray(a)
    if axis is None:
        return a.reshape(tuple([extent for extent in a.shape if extent != 1]))
    axes = many_axes("squeeze", axis, a.ndim)
    if any([a.shape[i] != 1 for i in axes]):
        raise ValueError(message("squeeze", "axis has more than one entry", a.shape, "extent 1"))
    return a.reshape(tuple([extent for i, extent in enumerate(a.shape) if i not in axes]))


def expand_dims(a, axis):
    """`a` with axes of extent 1 inserted at the positions `axis` of the result: a view."""
    a = to_ndarray(a)
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    axes = many_axes("expand_dims", axis, a.ndim + count)
    index = tuple([None if i in axes else slice(None) for i in range(a.ndim + count)])
    return a[index]


def _atleast(arrays, grow):
    results = [grow(to_ndarray(a)) for a in arrays]
    return results[0] if len(results) == 1 else tuple(results)


def atleast_1d(*arys):
    """Each argument with at least one axis; a tuple for several arguments."""
    return _atleast(arys, lambda a: a if a.ndim else a.reshape((1,)))


@function("np.atleast_2d")
def atleast_2d(*arys: Array):
    """Each argument with at least two axes, new ones in front; a tuple for several arguments."""
    views = tuple([a if a.ndim > 1 else a[None] if a.ndim else a[None, None] for a in arys])
    return views[0] if len(views) == 1 else views


def atleast_3d(*arys):
    """Each argument with at least three axes: (N,) to (1, N, 1), (M, N) to (M, N, 1)."""

    def grow(a):
        if a.ndim > 2:
            return a
        return a[:, :, None] if a.ndim == 2 else a.reshape((1, a.size, 1))

    return _atleast(arys, grow)


def broadcast_to(array, shape, subok=False):
    """A read-only view of `array` with `shape`, repeated along axes of extent 1.

    subok: subclasses of numpy.ndarray stay what they are.
    """
    return _core.broadcast_to(to_ndarray(plain(array, subok)), as_shape("broadcast_to", shape))


def broadcast_arrays(*args, subok=False):
    """All arguments broadcast against each other: a tuple of read-only views."""
    arrays = [to_ndarray(plain(a, subok)) for a in args]
    shape = numpy.broadcast_shapes(*[a.shape for a in arrays])
    return tuple([a if a.shape == shape else _core.broadcast_to(a, shape) for a in arrays])


@quick("flip")
def flip(m, axis=None):
    """`m` reversed along `axis` (int, tuple, or None for all axes): a view."""
    m = to_ndarray(m)
    axes = many_axes("flip", axis, m.ndim)
    back = slice(None, None, -1)
    return m[tuple([back if i in axes else slice(None) for i in range(m.ndim)])]


def fliplr(m):
    """`m` with its columns reversed: a view."""
    m = to_ndarray(m)
    if m.ndim < 2:
        raise ValueError(message("fliplr", "too few axes", f"{m.ndim}-d", "2-d or more"))
    return m[:, ::-1]


def flipud(m):
    """`m` with its rows reversed: a view."""
    m = to_ndarray(m)
    if m.ndim < 1:
        raise ValueError(message("flipud", "too few axes", "0-d", "1-d or more"))
    return m[::-1, ...]


def rot90(m, k=1, axes=(0, 1)):
    """`m` rotated k times by 90 degrees in the plane of two axes: a view."""
    m = to_ndarray(m)
    first, second = many_axes("rot90", tuple(axes), m.ndim, allow_duplicate=True)
    if first == second:
        raise ValueError(message("rot90", "the axes are the same", axes, "two distinct axes"))
    k %= 4
    if k == 0:
        return m[...]
    if k == 2:
        return flip(m, (first, second))
    order = list(range(m.ndim))
    order[first], order[second] = second, first
    if k == 1:
        return flip(m, second).transpose(tuple(order))
    return flip(m.transpose(tuple(order)), second)


@quick("diagonal")
def diagonal(a, offset=0, axis1=0, axis2=1):
    """The diagonal of two axes as the last axis of a read-only view."""
    a = to_ndarray(a)
    if a.ndim < 2:
        raise ValueError(message("diagonal", "too few axes", f"{a.ndim}-d", "2-d or more"))
    first, second = one_axis("diagonal", axis1, a.ndim), one_axis("diagonal", axis2, a.ndim)
    if first == second:
        raise ValueError(message("diagonal", "the axes are the same", axis1, "two distinct axes"))
    view = diagonal_view(a, offset, first, second)
    return _core.broadcast_to(view, view.shape)


@quick("trace")
def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    """The sum along a diagonal."""
    from .reductions import sum

    return sum(diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype, out=out)


def resize(a, new_shape):
    """A new array of `new_shape` filled with repeated copies of the flattened `a`."""
    shape = as_shape("resize", new_shape)
    flat = to_ndarray(a).ravel()
    size = 1
    for extent in shape:
        size *= extent
    if flat.size == 0 or size == 0:
        return _core.full(shape, 0, flat.dtype)
    result = _core.empty((size,), flat.dtype)
    for start in range(0, size, flat.size):
        stop = min(size, start + flat.size)
        result[start:stop] = flat[: stop - start]
    return result.reshape(shape)
