"""What torch.linalg has under names that mean something else in torch: `norm` of matrices, the
decompositions' modes, `vander` by rising powers; and functions that tell what failed.
"""

import numpy

import numbus as nb

from .. import _core
from ..core.errors import message
from ._functions import named_results, tensor_function
from .factors import linalg_errors, lu_factor_ex
from .products import matrix_norm, solve, vector_norm

__all__ = ["cholesky_ex", "inv_ex", "norm", "qr", "solve_ex", "svd", "vander"]

_QR = named_results("linalg_qr", ["Q", "R"])
_INV = named_results("linalg_inv_ex", ["inverse", "info"])
_CHOLESKY = named_results("linalg_cholesky_ex", ["L", "info"])
_SOLVE = named_results("linalg_solve_ex", ["result", "info"])
_SVD = named_results("linalg_svd", ["U", "S", "Vh"])


@tensor_function
def norm(A, ord=None, dim=None, keepdim=False, *, dtype=None):
    """The norm of all elements without an order; else of lines, or of matrices where `dim` is a
    pair or there are two dimensions.
    """
    if dim is None and ord is not None and A.ndim not in (1, 2):
        raise RuntimeError(
            message("norm", "an order without dim for this number of dimensions", A.ndim, "1 or 2")
        )
    pair = A.ndim == 2 if dim is None else isinstance(dim, (tuple, list)) and len(dim) == 2
    if ord is not None and pair:
        dims = (-2, -1) if dim is None else tuple(dim)
        return matrix_norm.on_arrays(A, ord, dims, keepdim, dtype=dtype)
    return vector_norm.on_arrays(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


@tensor_function
@linalg_errors
def qr(A, mode="reduced"):
    """The QR factorisation."""
    return _QR(*nb.linalg.qr(A, mode))


@tensor_function
@linalg_errors
def svd(A, full_matrices=True):
    """The singular value decomposition U, S, Vh."""
    return _SVD(*nb.linalg.svd(A, full_matrices))


@tensor_function
def vander(x, N=None):
    """The powers of each element from 0 to N - 1 along a new last dimension."""
    count = N if N is not None else x.shape[-1] if x.ndim else 1
    if count < 1:
        raise RuntimeError(message("vander", "N", count, "1 and more"))
    powers = [nb.ones_like(x)]
    while len(powers) < count:
        powers.append(powers[-1] * x)
    return nb.stack(powers, axis=-1)


def _apart(A):
    """Matrices with the identity in place of those that are singular; where these are; which pivot
    is the first that is zero, counted from 1 (0: none).
    """
    info = lu_factor_ex.on_arrays(nb.stop_gradient(A)).info
    wrong = (info != 0)[..., None, None]
    return nb.where(wrong, nb.eye(A.shape[-1], dtype=A.dtype), A), wrong, info


@tensor_function
@linalg_errors
def inv_ex(A, *, check_errors=False):
    """The inverse, NaN of singular matrices, and which pivot of each is zero."""
    if check_errors:
        return _INV(nb.linalg.inv(A), nb.zeros(A.shape[:-2], dtype="i4"))
    safe, wrong, info = _apart(A)
    return _INV(nb.where(wrong, A.dtype.type(numpy.nan), nb.linalg.inv(safe)), info)


@tensor_function
@linalg_errors
def solve_ex(A, B, *, left=True, check_errors=False):
    """The solution, NaN of singular matrices, and which pivot of each is zero."""
    if check_errors:
        return _SOLVE(solve.on_arrays(A, B, left=left), nb.zeros(A.shape[:-2], dtype="i4"))
    safe, wrong, info = _apart(A)
    found = solve.on_arrays(safe, B, left=left)
    wrong = wrong[..., 0] if found.ndim < A.ndim else wrong
    return _SOLVE(nb.where(wrong, A.dtype.type(numpy.nan), found), info)


@tensor_function
@linalg_errors
def cholesky_ex(A, *, upper=False, check_errors=False):
    """The Cholesky factor, NaN where there is none, and the order of the first leading minor of
    each matrix that is not positive (0: none).
    """
    none = nb.zeros(A.shape[:-2], dtype="i4")
    if check_errors:
        return _CHOLESKY(nb.linalg.cholesky(A, upper=upper), none)
    try:
        with _core.unobserved():
            nb.linalg.cholesky(A, upper=upper)
        return _CHOLESKY(nb.linalg.cholesky(A, upper=upper), none)
    except numpy.linalg.LinAlgError:
        lines = numpy.asarray(nb.stop_gradient(A)).reshape(-1, *A.shape[-2:])
    info = nb.asarray([_minor(a.conj().T if upper else a) for a in lines], dtype="i4")
    info = nb.reshape(info, A.shape[:-2])
    wrong = (info != 0)[..., None, None]
    safe = nb.where(wrong, nb.eye(A.shape[-1], dtype=A.dtype), A)
    made = nb.linalg.cholesky(safe, upper=upper)
    return _CHOLESKY(nb.where(wrong, A.dtype.type(numpy.nan), made), info)


def _minor(a):
    """The order of the first leading minor that is not positive, by the lower triangle."""
    for k in range(1, len(a) + 1):
        try:
            numpy.linalg.cholesky(a[:k, :k])
        except numpy.linalg.LinAlgError:
            return k
    return 0
