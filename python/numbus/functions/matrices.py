"""Matrices of a given structure: diagonals, triangles, identity."""

import numpy

from .. import _core
from ..core.errors import no_flags, one_int
from ..core.operands import as_dtype, check_like, on_its_memory
from ..core.quick import few as answered_by
from ..core.quick import quick
from . import names as np
from .axes import distinct, require_axes, require_axis
from .creation import zeros
from .names import compiled as _compiled
from .registry import Any, Array, DTypeArg, Flag, Int, Operand, OutRead, function

__all__ = ["diagflat", "eye", "identity"]

_FLOAT64 = numpy.dtype(float)


@quick("eye")
def eye(N, M=None, k=0, dtype=float, order="C", *, device=None, like=None):
    """(N, M) array with ones on the k-th diagonal and zeros elsewhere."""
    dtype = as_dtype("eye", dtype, _FLOAT64)
    N, M = [one_int("eye", "extent", no_flags("eye", n)) for n in (N, N if M is None else M)]
    result = zeros((N, M), dtype, order, device=device, like=like)
    diagonal = diagonal_view(result, one_int("eye", "k", k))
    if diagonal.size:
        diagonal.fill(1)
    return result


@quick("identity")
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


@function("np.diag")
@quick("diag")
def diag(v: Array, k: Int = 0):
    """The k-th diagonal of a 2-D array (read-only view, in compiled functions a copy), or a 2-D
    array with `v` on its k-th diagonal.
    """
    if v.ndim == 2:
        return np.diagonal(v, k)
    if v.ndim != 1:
        raise ValueError(f"[diag] wrong dimension; got {v.ndim}-d; expected a 1-d or 2-d array")
    n = v.shape[0] + abs(k)
    result = np.zeros((n, n), v.dtype)
    start = k if k >= 0 else -k * n
    if v.shape[0] > 0:
        result.reshape(n * n)[start : start + v.shape[0] * (n + 1) : n + 1] = v
    return result


@function("np.diagonal")
@quick("diagonal")
def diagonal(a: Array, offset: Int = 0, axis1: Int = 0, axis2: Int = 1):
    """The diagonal of two axes as the last axis of a read-only view, in compiled functions of a
    copy. ValueError for one axis.
    """
    require_axes("diagonal", a, 2)
    if a.ndim < 2:
        return a  # a type for compiled functions, which raise while they run
    axis1, axis2 = distinct("diagonal", (axis1, axis2), max(a.ndim, 2))
    if not _compiled:
        view = diagonal_view(a, offset, axis1, axis2)
        return np.broadcast_to(view, view.shape)
    down, right = max(-offset, 0), max(offset, 0)
    k = np.arange(max(min(a.shape[axis1] - down, a.shape[axis2] - right), 0))
    found = a[_pair_of_axes(a.ndim, axis1, axis2, k + down, k + right, 0)]
    # Where arrays of indices stand side by side their axis stays in place, else it comes first.
    at = min(axis1, axis2) if abs(axis1 - axis2) == 1 else 0
    return np.moveaxis(found, at, -1) if a.ndim > 2 else found


def _pair_of_axes(ndim, axis1, axis2, first, second, d):
    """An index by arrays along two axes, and of all along the others."""
    if d == ndim:
        return ()
    own = first if d == axis1 else second if d == axis2 else slice(None)
    return (own,) + _pair_of_axes(ndim, axis1, axis2, first, second, d + 1)


@function("np.trace")
@quick("trace")
def trace(
    a: Array,
    offset: Int = 0,
    axis1: Int = 0,
    axis2: Int = 1,
    dtype: DTypeArg = None,
    out: OutRead = None,
):
    """The sum along a diagonal."""
    line = np.diagonal(a, offset, axis1, axis2)
    if _compiled:
        return np.sum(line, -1, dtype=dtype)
    return np.sum(line, -1, dtype, out)


@function("np.diagflat")
def diagflat(v: Array, k: Int = 0):
    """A 2-D array with the flattened `v` on its k-th diagonal."""
    return np.diag(v.ravel(), k)


@function("np.tri")
def tri(N: Operand, M: Operand = None, k: Any = 0, dtype: DTypeArg = float, *, like: Any = None):
    """(N, M) array with ones at and below the k-th diagonal and zeros above."""
    if like is not None:
        check_like("tri", like)
    # Floats are extents here, as np.arange takes them.
    below = _below(N + 0, (N if M is None else M) + 0, _diagonal("tri", k))
    return below.astype(np.float64 if dtype is None else dtype)


def _diagonal(op, k):
    """The number of a diagonal. A float stays one, which np.arange takes as NumPy's does."""
    if isinstance(k, (float, np.floating)):
        return k
    if not isinstance(k, (int, np.integer)):
        raise TypeError(f"[{op}] k is not a number; expected an int")
    return int(k)


def _below(n, m, k):
    """Which elements of an array of shape (n, m) are at and below the k-th diagonal."""
    return np.arange(n)[:, None] >= np.arange(-k, m - k, dtype=np.int64)


@function("np.tril")
def tril(m: Array, k: Any = 0):
    """`m` with zeros above the k-th diagonal of its last two axes. TypeError for no axis."""
    require_axis("tril", m)
    below = _below(m.shape[-2:][0], m.shape[-1], _diagonal("tril", k))
    return np.where(below, m, m.dtype.type(0))


@function("np.triu")
def triu(m: Array, k: Any = 0):
    """`m` with zeros below the k-th diagonal of its last two axes. TypeError for no axis."""
    require_axis("triu", m)
    below = _below(m.shape[-2:][0], m.shape[-1], _diagonal("triu", k) - 1)
    return np.where(below, m.dtype.type(0), m)


@function("np.tril_indices")
def tril_indices(n: Int, k: Any = 0, m: Int = None):
    """The rows and the columns, int64, of the elements at and below the k-th diagonal of an array
    of shape (n, m); m is n unless given.
    """
    return _indices(_below(n, n if m is None else m, _diagonal("tril_indices", k)))


@function("np.triu_indices")
def triu_indices(n: Int, k: Any = 0, m: Int = None):
    """The rows and the columns, int64, of the elements at and above the k-th diagonal of an array
    of shape (n, m); m is n unless given.
    """
    below = _below(n, n if m is None else m, _diagonal("triu_indices", k) - 1)
    return _indices(np.logical_not(below))


def _indices(chosen):
    n, m = chosen.shape
    axes = (np.arange(n)[:, None], np.arange(m))
    return tuple([np.broadcast_to(x, chosen.shape)[chosen] for x in axes])


@function("np.tril_indices_from")
def tril_indices_from(arr: Array, k: Any = 0):
    """tril_indices() of the shape of a 2-D array."""
    if arr.ndim != 2:
        raise ValueError("[tril_indices_from] another number of axes; expected a 2-d array")
    return np.tril_indices(arr.shape[0], k, arr.shape[1])


@function("np.triu_indices_from")
def triu_indices_from(arr: Array, k: Any = 0):
    """triu_indices() of the shape of a 2-D array."""
    if arr.ndim != 2:
        raise ValueError("[triu_indices_from] another number of axes; expected a 2-d array")
    return np.triu_indices(arr.shape[0], k, arr.shape[1])


@function("np.diag_indices")
def diag_indices(n: Int, ndim: Int = 2):
    """The indices along each axis, int64, of the main diagonal of an array of `ndim` axes of n."""
    return (np.arange(n),) * ndim


@function("np.diag_indices_from")
def diag_indices_from(arr: Array):
    """diag_indices() of the shape of an array of equal extents. ValueError for others."""
    _check_equal("diag_indices_from", arr)
    return np.diag_indices(arr.shape[0], arr.ndim)


def _check_equal(op, a):
    if a.ndim < 2:
        raise ValueError(f"[{op}] too few axes; got fewer than 2; expected at least 2")
    for extent in a.shape:
        if extent != a.shape[0]:
            raise ValueError(f"[{op}] extents; got other ones; expected equal ones")


@function("np.fill_diagonal")
@answered_by(numpy.fill_diagonal, writes=True)
def fill_diagonal(a: Any, val: Operand, wrap: Flag = False):
    """Sets the main diagonal of an array to `val`, a number or values that are repeated.

    wrap: in a matrix of more rows the diagonal begins again, one row further down. Raises
    ValueError for other than two axes of different extents.
    """
    if a.ndim != 2:
        _check_equal("fill_diagonal", a)
    a = a if _compiled else on_its_memory(a)
    if wrap and a.ndim == 2:
        flat = np.arange(0, a.size, a.shape[1] + 1)
        index = (flat // a.shape[1], flat % a.shape[1])
    else:
        index = (np.arange(min(a.shape)),) * a.ndim
    if np.ndim(val) == 0:
        a[index] = val
    else:
        a[index] = np.resize(val, index[0].shape)
