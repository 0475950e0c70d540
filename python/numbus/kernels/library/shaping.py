"""Views of other extents, and evenly spaced numbers between arrays of limits."""

import numpy as np

from .._library import expanded, known


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


@known("linspace of arrays")
@expanded
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    """np.linspace() of limits that broadcast, which give a new axis of samples at `axis`."""
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    steps = num - 1 if endpoint else num
    a = np.asarray(start) if isinstance(start, tuple) else start
    b = np.asarray(stop) if isinstance(stop, tuple) else stop
    t = np.result_type(a, b, 1.0)  # to which Python's numbers yield
    first, last = np.asarray(a).astype(t), np.asarray(b).astype(t)
    delta = last - first
    places = np.arange(num).astype(delta.real.dtype).reshape((num,) + (1,) * delta.ndim)
    step = delta / steps if steps > 0 else delta * np.nan
    values = (places * step if steps > 0 else places * delta) + first
    if endpoint and num > 1:
        values[-1] = last
    result = np.moveaxis(values, 0, axis) if axis != 0 else values
    if dtype is not None:
        result = _in_type(result, dtype)
    return (result, step) if retstep else result


@expanded
def _in_type(values, dtype):
    """Numbers of a type; of integers those below."""
    of_integers = dtype == np.float16 or dtype == np.float32 or dtype == np.float64
    return values.astype(dtype) if of_integers else np.floor(values).astype(dtype)


@known("np.block of a list")
@expanded
def block_of_list(items, axis, ndim):
    """np.block of a list of run time, whose arrays are joined along `axis`, and those of its lists
    along the next one.
    """
    if len(items) == 0:
        raise ValueError("List at arrays cannot be empty")
    if isinstance(items[0], list):
        return np.concatenate([block_of_list(x, axis + 1, ndim) for x in items], axis)
    return np.concatenate([with_axes(np.asarray(x), ndim) for x in items], axis)


@expanded
def with_axes(a, ndim):
    """With as many axes of one element before the others as make `ndim`."""
    return a if a.ndim == ndim else a.reshape((1,) * (ndim - a.ndim) + a.shape)
