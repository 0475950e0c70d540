"""Arrays split, inserted into, selected from, and the indices of triangles."""

import numpy as np

from .._library import known, not_yet


@known("np.asfortranarray")
def asfortranarray(a):
    """The array itself where its first axis is the dense one, else a copy of which it is."""
    return np.ascontiguousarray(a.T).T


@known("np.indices")
def indices(shape):
    """The index along each axis, for every position."""
    if len(shape) == 1:
        line = np.empty((1, shape[0]), np.int64)
        line[0] = np.arange(shape[0])
        return line
    if len(shape) == 2:
        grid = np.empty((2, shape[0], shape[1]), np.int64)
        for i in range(shape[0]):
            for j in range(shape[1]):
                grid[0, i, j] = i
                grid[1, i, j] = j
        return grid
    not_yet("np.indices of more than two dimensions")


@known("np.broadcast_arrays")
def broadcast_arrays(a, b):
    """Read-only views of the shape that both broadcast to."""
    shape = np.broadcast_shapes(a.shape, b.shape)
    return np.broadcast_to(a, shape), np.broadcast_to(b, shape)


def broadcast_extent(a, b):
    if a != b and a != 1 and b != 1:
        raise ValueError("shape mismatch: objects cannot be broadcast to a single shape")
    return b if a == 1 else a


@known("np.broadcast_shapes")
def broadcast_shapes(first, second):
    """The shape that both broadcast to."""
    if len(first) < len(second):
        return broadcast_shapes((1,) + first, second)
    if len(first) > len(second):
        return broadcast_shapes(first, (1,) + second)
    if len(first) == 0:
        return ()
    return (broadcast_extent(first[0], second[0]),) + broadcast_shapes(first[1:], second[1:])


@known("np.lib.stride_tricks.sliding_window_view")
def sliding_window_view(a, width):
    """Copies of the runs of so many elements of a vector, a row each."""
    rows = a.shape[0] - width + 1
    if rows < 1:
        raise ValueError("window shape cannot be larger than input array shape")
    out = np.empty((rows, width), a.dtype)
    for i in range(rows):
        out[i] = a[i : i + width]
    return out
