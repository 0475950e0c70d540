"""Shapes that broadcast, and windows."""

import numpy as np

from .._library import known


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
