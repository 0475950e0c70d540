"""Arrays put together, repeated, turned, and their diagonals and triangles."""

import numpy as np

from .._library import known, not_yet

UNEQUAL = "all the input array dimensions except for the concatenation axis must match exactly"


@known("np.concatenate")
def concatenate(arrays, axis=0):
    """Copies one after the other."""
    if axis is None:
        not_yet("np.concatenate of flat arrays")
    out_type = np.result_type(*arrays)
    total = 0
    for a in arrays:
        total += a.shape[axis]
    if arrays[0].ndim == 1:
        line = np.empty(total, out_type)
        at = 0
        for a in arrays:
            line[at : at + a.shape[0]] = a
            at += a.shape[0]
        return line
    if arrays[0].ndim == 2:
        at = 0
        if axis == 0 or axis == -2:
            rows = np.empty((total, arrays[0].shape[1]), out_type)
            for a in arrays:
                if a.shape[1] != arrays[0].shape[1]:
                    raise ValueError(UNEQUAL)
                rows[at : at + a.shape[0]] = a
                at += a.shape[0]
            return rows
        columns = np.empty((arrays[0].shape[0], total), out_type)
        for a in arrays:
            if a.shape[0] != arrays[0].shape[0]:
                raise ValueError(UNEQUAL)
            columns[:, at : at + a.shape[1]] = a
            at += a.shape[1]
        return columns
    first = np.swapaxes(arrays[0], axis, 0)
    out = np.empty((total,) + first.shape[1:], out_type)
    at = 0
    for a in arrays:
        part = np.swapaxes(a, axis, 0)
        if part.shape[1:] != first.shape[1:]:
            raise ValueError(UNEQUAL)
        out[at : at + part.shape[0]] = part
        at += part.shape[0]
    return np.swapaxes(out, axis, 0)


@known("strides of reshaped")
def strides_of_reshaped(extents, steps, wanted, out):
    """Whether memory of these extents and strides is one of the wanted extents, in C order.

    Its strides go to `out` then. Both have equally many elements, at least one.
    """
    axis = 0
    k = 0
    while axis < len(extents):
        if extents[axis] == 1:
            axis += 1
            continue
        # The fewest axes of each that have equally many elements belong to each other.
        last = axis
        have = extents[axis]
        stop = k + 1
        asked = wanted[k]
        while have != asked:
            if asked < have:
                asked *= wanted[stop]
                stop += 1
                continue
            axis += 1
            if extents[axis] == 1:
                continue
            if steps[last] != steps[axis] * extents[axis]:
                return False
            have *= extents[axis]
            last = axis
        step = steps[last]
        for j in range(stop - 1, k - 1, -1):
            out[j] = step
            step *= wanted[j]
        axis += 1
        k = stop
    return True


@known("np.stack")
def stack(arrays, axis=0):
    """Copies along an axis of its own."""
    first = arrays[0]
    planes = np.empty((len(arrays),) + first.shape, np.result_type(*arrays))
    k = 0
    for x in arrays:
        if x.shape != first.shape:
            raise ValueError("all input arrays must have the same shape")
        planes[k] = x
        k += 1
    return np.moveaxis(planes, 0, axis)
