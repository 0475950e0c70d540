"""Views by shape and strides: numpy.lib.stride_tricks."""

from .. import _core
from ..core.errors import as_shape, many_axes, message
from ..core.operands import plain, to_ndarray

__all__ = ["as_strided", "sliding_window_view"]


def as_strided(x, shape=None, strides=None, subok=False, writeable=True):
    """A view of the memory of `x` from its first element on. shape, strides (bytes): ints, those of
    `x` unless given.

    Raises ValueError where the view would reach outside the memory that `x` is a view of.
    """
    a = to_ndarray(plain(x, subok))
    shape = a.shape if shape is None else as_shape("as_strided", shape)
    strides = a.strides if strides is None else tuple([int(step) for step in strides])
    if len(shape) != len(strides):
        raise ValueError(
            message("as_strided", "lengths differ", (shape, strides), "one stride each")
        )
    return _readable(_core.as_strided(a, shape, strides), a, writeable)


def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    """All windows of `window_shape` (int or ints) along `axis` (int, ints, None: all axes): a view
    whose last axes are those of the window. Read-only unless `writeable`.

    Raises ValueError for windows that are larger than the array, or not one for each axis.
    """
    a = to_ndarray(plain(x, subok))
    window = as_shape("sliding_window_view", window_shape)
    if axis is None:
        axes = tuple(range(a.ndim))
    else:
        axes = many_axes("sliding_window_view", axis, a.ndim, allow_duplicate=True)
    if len(window) != len(axes):
        raise ValueError(
            message("sliding_window_view", "windows and axes differ in number", window, axes)
        )
    shape = list(a.shape)
    for extent, position in zip(window, axes):
        if extent > shape[position]:
            raise ValueError(
                message(
                    "sliding_window_view", "window too large", window_shape, f"within {a.shape}"
                )
            )
        shape[position] -= extent - 1
    strides = a.strides + tuple([a.strides[position] for position in axes])
    return _readable(_core.as_strided(a, tuple(shape) + window, strides), a, writeable)


def _readable(view, a, writeable):
    if not writeable or not a._writeable:
        view._set_writeable(False)
    return view
