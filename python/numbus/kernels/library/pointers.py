"""Arrays over the memory that C functions are given."""

import numpy as np

from .._library import known


@known("pointers.carray")
def carray(ptr, shape, dtype=None):
    """The array of a shape in C order at a pointer."""
    a = ptr if dtype is None else ptr.view(dtype)
    step = a.itemsize
    if not isinstance(shape, tuple):
        return np.lib.stride_tricks.as_strided(a, (shape,), (step,))
    if len(shape) == 1:
        return np.lib.stride_tricks.as_strided(a, shape, (step,))
    if len(shape) == 2:
        return np.lib.stride_tricks.as_strided(a, shape, (step * shape[1], step))
    if len(shape) == 3:
        row = step * shape[2]
        return np.lib.stride_tricks.as_strided(a, shape, (row * shape[1], row, step))
    raise NotImplementedError("not yet: carray() of more than three axes")


@known("pointers.farray")
def farray(ptr, shape, dtype=None):
    """The array of a shape in Fortran order at a pointer."""
    if not isinstance(shape, tuple):
        return carray(ptr, shape, dtype)
    if len(shape) == 1:
        return carray(ptr, shape, dtype)
    if len(shape) == 2:
        return carray(ptr, (shape[1], shape[0]), dtype).T
    if len(shape) == 3:
        return carray(ptr, (shape[2], shape[1], shape[0]), dtype).T
    raise NotImplementedError("not yet: farray() of more than three axes")
