"""Arrays split, inserted into, selected from, and the indices of triangles."""

import numpy as np

from .._library import known, not_yet


@known("np.array_split")
def array_split(a, sections, axis=0):
    """Views of parts along an axis; the first ones are the longer."""
    if axis != 0:
        return [
            np.moveaxis(part, 0, axis) for part in array_split(np.moveaxis(a, axis, 0), sections)
        ]
    n = a.shape[0]
    if isinstance(sections, np.ndarray) or isinstance(sections, tuple):
        return [
            a[(sections[k - 1] if k else 0) : (sections[k] if k < len(sections) else n)]
            for k in range(len(sections) + 1)
        ]
    if sections <= 0:
        raise ValueError("number sections must be larger than 0.")
    return [
        a[
            k * (n // sections) + min(k, n % sections) : (k + 1) * (n // sections)
            + min(k + 1, n % sections)
        ]
        for k in range(sections)
    ]


@known("np.vsplit")
def vsplit(a, sections):
    """Views of parts above each other."""
    if a.ndim < 2 and a.size >= 0:  # a condition of the run: what follows has parts to index
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(a, sections)


@known("np.split")
def split(a, sections, axis=0):
    """As array_split(), of equal parts."""
    if not isinstance(sections, np.ndarray) and not isinstance(sections, tuple):
        if a.shape[axis] % sections:
            raise ValueError("array split does not result in an equal division")
    return array_split(a, sections, axis)


@known("np.hsplit")
def hsplit(a, sections):
    """Views of parts beside each other."""
    if a.ndim == 1:
        return split(a, sections)
    n = a.shape[1]
    if n % sections:
        raise ValueError("array split does not result in an equal division")
    return [a[:, k * (n // sections) : (k + 1) * (n // sections)] for k in range(sections)]


@known("np.dsplit")
def dsplit(a, sections):
    """Views of parts along the third axis."""
    n = a.shape[2]
    if n % sections:
        raise ValueError("array split does not result in an equal division")
    return [a[:, :, k * (n // sections) : (k + 1) * (n // sections)] for k in range(sections)]


@known("np.take")
def take(a, indices, axis=None):
    """A copy of the elements at indices along an axis, in C order; None: of the flat array."""
    at = indices if np.ndim(indices) == 0 else np.asarray(indices)
    if axis is None or a.ndim == 0:
        return a.ravel()[at]
    if axis < 0:
        return take(a, indices, axis + a.ndim)
    if axis == 0 and a.ndim == 1:
        return a[at]
    # Nothing is taken, and no index looked at, where an axis before is empty.
    for extent in a.shape[:axis]:
        if extent == 0:
            return np.empty(a.shape[:axis] + np.shape(at) + a.shape[axis + 1 :], a.dtype)
    if axis == 0:
        return a[at].copy()
    if axis == 1:
        return a[:, at].copy()
    if axis == 2:
        return a[:, :, at].copy()
    return a[:, :, :, at].copy()


@known("np.take_along_axis")
def take_along_axis(a, indices, axis):
    """For each line of its own, these elements."""
    out = np.empty(indices.shape, a.dtype)
    if a.ndim > 2:
        not_yet("np.take_along_axis of more than two axes")
    if a.ndim == 1:
        for i in range(indices.shape[0]):
            out[i] = a[indices[i]]
        return out
    for i in range(indices.shape[0]):
        for j in range(indices.shape[1]):
            if axis == 0 or axis == -2:
                out[i, j] = a[indices[i, j], j]
            else:
                out[i, j] = a[i, indices[i, j]]
    return out


@known("np.select")
def select(conditions, choices, default=0):
    """The first choice whose condition holds."""
    if len(conditions) == 1:
        return np.where(conditions[0], choices[0], default)
    return np.where(conditions[0], choices[0], select(conditions[1:], choices[1:], default))


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
