"""Norms along axes; each function is expanded where it is called, so that its axes are known."""

import numpy as np

from ...functions.axes import distinct, every
from .._library import expanded, known
from . import linalg, stacks


@known("np.linalg.norm")
@expanded
def norm(x, ord=None, axis=None, keepdims=False):
    """Of all elements, of vectors along an axis or matrices along two; of integers as floats."""
    if axis is None and not keepdims:
        return linalg.norm(np.asarray(x), ord)
    a = np.asarray(x)
    if a.dtype.kind in "iub":
        return norm(a.astype(np.float64), ord, axis, keepdims)
    axes = every(a.shape) if axis is None else distinct("norm", axis, a.ndim)
    if axis is None and ord is None:
        return np.sqrt(np.sum(squares(a), axes, keepdims=keepdims))
    if len(axes) == 1:
        return of_vectors(a, ord, axes[0], keepdims)
    if len(axes) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    found = of_matrices(a, ord, axes)
    return np.expand_dims(found, axes) if keepdims else found


@known("np.linalg.vector_norm")
@expanded
def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """norm() of vectors, of all elements without an axis."""
    a = np.asarray(x)
    if a.dtype.kind in "iub":
        return vector_norm(a.astype(np.float64), axis=axis, keepdims=keepdims, ord=ord)
    if axis is None:
        found = of_vectors(a.ravel(), ord, 0, False)
        return np.reshape(found, (1,) * a.ndim) if keepdims else found
    return of_vectors(a, ord, distinct("vector_norm", axis, a.ndim), keepdims)


@known("np.linalg.matrix_norm")
@expanded
def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """norm() of the matrices along the last two axes."""
    return norm(x, ord, (-2, -1), keepdims)


@expanded
def squares(a):
    if a.dtype.kind == "c":
        return a.real * a.real + a.imag * a.imag
    return a * a


@expanded
def of_vectors(a, ord, axis, keepdims):
    if isinstance(ord, str):
        raise ValueError("Invalid norm order for vectors.")
    if ord is None or ord == 2:
        return np.sqrt(np.sum(squares(a), axis, keepdims=keepdims))
    size = np.abs(a)
    if ord == np.inf:
        return np.max(size, axis, keepdims=keepdims, initial=0)
    if ord == -np.inf:
        return np.min(size, axis, keepdims=keepdims)
    if ord == 0:
        return np.sum((a != 0).astype(size.dtype), axis, keepdims=keepdims)
    if ord == 1:
        return np.sum(size, axis, keepdims=keepdims)
    return np.sum(size**ord, axis, keepdims=keepdims) ** (1.0 / ord)


@expanded
def of_matrices(a, ord, axes):
    rows, columns = axes
    if ord is None or ord == "fro":
        return np.sqrt(np.sum(squares(a), axes))
    if ord == "nuc":
        return np.sum(singular(a, axes), -1)
    if isinstance(ord, str):
        raise ValueError("Invalid norm order for matrices.")
    if ord == 2:
        return np.max(singular(a, axes), -1, initial=0)
    if ord == -2:
        return np.min(singular(a, axes), -1)
    size = np.abs(a)
    if ord == 1:
        return np.max(np.sum(size, rows), columns - 1 if columns > rows else columns, initial=0)
    if ord == -1:
        return np.min(np.sum(size, rows), columns - 1 if columns > rows else columns)
    if ord == np.inf:
        return np.max(np.sum(size, columns), rows - 1 if rows > columns else rows, initial=0)
    if ord == -np.inf:
        return np.min(np.sum(size, columns), rows - 1 if rows > columns else rows)
    raise ValueError("Invalid norm order for matrices.")


@expanded
def singular(a, axes):
    """The singular values of the matrices along two axes, along the last one."""
    return stacks.svd(np.moveaxis(a, axes, (-2, -1)), False, False)
