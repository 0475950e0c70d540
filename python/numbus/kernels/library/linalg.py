"""Norms, ranks and least squares, composed of factors."""

import numpy as np
from numpy.linalg import LinAlgError

from .._library import known
from .factors import singular_values, singular_values_of, svd, values_of
from .systems import inv, matrix


def norm(x, ord=None):
    """Of vectors, and of matrices: Frobenius, 1, inf, 2 by svd; of integers as floats."""
    a = x.astype(np.float64) if x.dtype.kind in "iub" else x
    if ord is None:
        return np.sqrt((np.abs(a) ** 2).sum())
    if a.ndim != 1 and a.ndim != 2:
        raise ValueError("Improper number of dimensions to norm.")
    if isinstance(ord, str):
        if a.ndim != 2:
            raise ValueError("Invalid norm order for vectors.")
        if ord == "fro":
            return np.sqrt((np.abs(a) ** 2).sum())
        if ord == "nuc":
            return singular_values(a).sum()
        raise ValueError("Invalid norm order for matrices.")
    if a.ndim == 1:
        if ord == np.inf:
            return np.max(np.abs(a), initial=0)
        if ord == -np.inf:
            return np.abs(a).min()
        if ord == 0:
            return (a != 0).astype(np.abs(a).dtype).sum()
        if ord == 1:
            return np.abs(a).sum()
        if ord == 2:
            return np.sqrt((np.abs(a) ** 2).sum())
        return (np.abs(a) ** ord).sum() ** (1.0 / ord)
    if ord == 1:
        return np.max(np.abs(a).sum(axis=0), initial=0)
    if ord == np.inf:
        return np.max(np.abs(a).sum(axis=1), initial=0)
    if ord == 2:
        return np.max(singular_values(a), initial=0)
    if ord == -1:
        return np.min(np.abs(a).sum(axis=0))
    if ord == -np.inf:
        return np.min(np.abs(a).sum(axis=1))
    if ord == -2:
        return np.min(singular_values(a))
    raise ValueError("Invalid norm order for matrices.")


def matrix_rank(A, tol=None, hermitian=False, rtol=None):
    """Singular values above rounding, or above `tol`."""
    if tol is not None and rtol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    if A.ndim < 2:
        return int(np.any(A != 0))
    s = singular_values_of(A, hermitian)
    if tol is not None:
        return np.count_nonzero(s > tol)
    least = np.finfo(s.dtype).eps * max(A.shape[0], A.shape[1]) if rtol is None else rtol
    return np.count_nonzero(s > np.max(s, initial=0) * least)


def cond(x, p=None):
    """The largest over the smallest singular value, or the norms of the matrix and its inverse."""
    if x.ndim < 2 or x.shape[0] == 0 or x.shape[1] == 0:
        raise LinAlgError("cond is not defined on empty arrays")
    if p is None or p == 2:
        s = singular_values(x)
        return s[0] / s[-1]
    if p == -2:
        s = singular_values(x)
        return s[-1] / s[0]
    wide = matrix(x)
    return np.abs(x / 1).dtype.type(norm(wide, p) * norm(inv(wide), p))


def pinv(a, rcond=None, hermitian=False):
    """V / s Uᴴ of svd(), tiny values left out."""
    u, s, vt = svd(a, False, True, hermitian)
    least = (1e-15 if rcond is None else rcond) * np.max(s, initial=0)
    for k in range(s.shape[0]):
        f = 1 / s[k] if s[k] > least else s[k] * 0
        for i in range(vt.shape[1]):
            vt[k, i] *= f
    return np.dot(np.ascontiguousarray(np.conj(vt.T)), np.conj(u.T))


@known("np.linalg.lstsq")
def lstsq(a, b, rcond=None):
    """By pinv(); residuals where the rank is full and there are more rows than columns."""
    if a.ndim != 2:
        raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be two-dimensional")
    left = matrix(a)
    if b.ndim != 1 and b.ndim != 2:
        raise LinAlgError(f"{b.ndim}-dimensional array given. Array must be two-dimensional")
    if b.shape[0] != a.shape[0]:
        raise LinAlgError("Incompatible dimensions")
    t = np.result_type(a / 1, b / 1)
    right = b.astype(np.result_type(t, np.float64))
    s = values_of(a)
    tiny = np.finfo(np.float64).eps
    if rcond is None:
        tiny = tiny * max(a.shape[0], a.shape[1])
    elif rcond >= 0:
        tiny = rcond * 1.0
    rank = 0
    for k in range(s.shape[0]):
        if s[k] > tiny * s[0]:
            rank += 1
    x = np.dot(pinv(left, tiny), right)
    r = right - np.dot(left, x)
    real = np.abs(a / 1 + 0 * (b / 1).sum()).dtype
    if rank == a.shape[1] and a.shape[0] > a.shape[1]:
        rest = np.atleast_1d((np.abs(r) ** 2).sum(axis=0)).astype(real)
    else:
        rest = np.empty(0, real)
    return x.astype(t, copy=False), rest, rank, s.astype(real, copy=False)
