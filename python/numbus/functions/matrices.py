"""Matrices of a given structure: diagonals, triangles, identity."""

import numpy

from .. import _core
from ..core.errors import message
from ..core.operands import as_dtype, check_like, to_ndarray
from . import names as np
from .creation import zeros
from .registry import Int, function

__all__ = ["diag", "diagflat", "eye", "identity", "tri", "tril", "triu"]

_FLOAT64 = numpy.dtype(float)


def eye(N, M=None, k=0, dtype=float, order="C", *, device=None, like=None):
    """(N, M) array with ones on the k-th diagonal and zeros elsewhere."""
    dtype = as_dtype("eye", dtype, _FLOAT64)
    N, M = int(N), int(N if M is None else M)
    result = zeros((N, M), dtype, order, device=device, like=like)
    diagonal = diagonal_view(result, int(k))
    if diagonal.size:
        diagonal.fill(1)
    return result


def identity(n, dtype=None, *, like=None):
    """(n, n) array with ones on the main diagonal."""
    return eye(n, dtype=dtype, like=like)


def diagonal_view(a, offset=0, axis1=0, axis2=1):
    """The diagonal of two axes as a writable view, appended as the last axis."""
    rows, columns = a.shape[axis1], a.shape[axis2]
    down, right = a.strides[axis1], a.strides[axis2]
    start = -offset * down if offset < 0 else offset * right
    length = max(0, min(rows + offset, columns) if offset < 0 else min(rows, columns - offset))
    rest = [axis for axis in range(a.ndim) if axis not in (axis1, axis2)]
    shape = tuple([a.shape[axis] for axis in rest]) + (length,)
    strides = tuple([a.strides[axis] for axis in rest]) + (down + right,)
    return _core.as_strided(a, shape, strides, start if length and a.size else 0)


def diag(v, k=0):
    """The k-th diagonal of a 2-D array (read-only view), or a 2-D array with `v` on its k-th
    diagonal.
    """
    v = to_ndarray(v)
    if v.ndim == 2:
        view = diagonal_view(v, k)
        return _core.broadcast_to(view, view.shape)
    if v.ndim != 1:
        raise ValueError(message("diag", "wrong dimension", f"{v.ndim}-d", "a 1-d or 2-d array"))
    n = v.shape[0] + abs(k)
    result = _core.full((n, n), 0, v.dtype)
    if v.shape[0]:
        diagonal_view(result, k)[...] = v
    return result


def diagflat(v, k=0):
    """A 2-D array with the flattened `v` on its k-th diagonal."""
    return diag(to_ndarray(v).ravel(), k)


def tri(N, M=None, k=0, dtype=float, *, like=None):
    """(N, M) array with ones at and below the k-th diagonal and zeros above."""
    if like is not None:
        check_like("tri", like)
    return _triangle(int(N), int(N if M is None else M), int(k)).astype(
        as_dtype("tri", dtype, _FLOAT64)
    )


def _triangle(N, M, k):
    int64 = numpy.dtype(numpy.int64)
    rows = _core.arange(0, 1, N, int64).reshape((N, 1))
    return _core.greater_equal(rows, _core.arange(-k, 1, M, int64))


def tril(m, k=0):
    """`m` with zeros above the k-th diagonal of its last two axes."""
    m = to_ndarray(m)
    return _core.where(_triangle(m.shape[-2:][0], m.shape[-1], k), m, _zero(m))


def triu(m, k=0):
    """`m` with zeros below the k-th diagonal of its last two axes."""
    m = to_ndarray(m)
    return _core.where(_triangle(m.shape[-2:][0], m.shape[-1], k - 1), _zero(m), m)


def _zero(m):
    return False if m.dtype.kind == "b" else 0


@function("np.tril_indices")
def tril_indices(n: Int, k: Int = 0, m: Int = None):
    """The rows and the columns, int64, of the elements at and below the k-th diagonal of an array
    of shape (n, m); m is n unless given.
    """
    rows, columns = np.arange(n)[:, None], np.arange(n if m is None else m)
    chosen = rows >= columns - k
    return tuple([np.broadcast_to(x, chosen.shape)[chosen] for x in (rows, columns)])
