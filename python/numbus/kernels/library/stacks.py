"""Linear algebra as np.linalg has it: of a matrix, and of stacks of matrices one by one."""

import numpy as np
from numpy.linalg import LinAlgError

from .._library import expanded, known
from . import factors, linalg, systems
from .products import count


def stack(a):
    """A stack as a line of matrices."""
    m, n = a.shape[a.ndim - 2], a.shape[a.ndim - 1]
    return np.ascontiguousarray(a).reshape((count(a.shape[: a.ndim - 2]), m, n))


@expanded
def each(function, a, tail, dtype, *given):
    """What a function gives for each matrix of a stack: of this dtype, the extents of one at the
    end.
    """
    lines = stack(a)
    out = np.empty((lines.shape[0], *tail), dtype)
    for i in range(lines.shape[0]):
        out[i] = function(lines[i], *given)
    return out.reshape(a.shape[: a.ndim - 2] + tail)


@expanded
def each_of_several(function, a, tails, dtypes, *given):
    """The same of a function of several results."""
    lines = stack(a)
    made = empty(lines.shape[0], tails, dtypes)
    for i in range(lines.shape[0]):
        keep(made, i, function(lines[i], *given))
    return shaped(made, a.shape[: a.ndim - 2], tails)


@expanded
def empty(n, tails, dtypes):
    """Arrays to be filled."""
    if len(tails) == 0:
        return ()
    return (np.empty((n, *tails[0]), dtypes[0]), *empty(n, tails[1:], dtypes[1:]))


@expanded
def keep(made, i, results):
    """Stores the results of one matrix."""
    if len(made) > 0:
        made[0][i] = results[0]
        keep(made[1:], i, results[1:])


@expanded
def shaped(made, lead, tails):
    """The results with the axes of the stack."""
    if len(made) == 0:
        return ()
    return (made[0].reshape(lead + tails[0]), *shaped(made[1:], lead, tails[1:]))


@known("np.linalg.det")
def det(a):
    """The product of a factor's diagonal, for each matrix."""
    if a.ndim <= 2:
        return systems.det(a)
    systems.expect_square(a)
    return each(systems.det, a, (), (a / 1).dtype)


@known("np.linalg.slogdet")
def slogdet(a):
    """Sign and logarithm of the size of det(), for each matrix."""
    if a.ndim <= 2:
        return systems.slogdet(a)
    systems.expect_square(a)
    return each_of_several(systems.slogdet, a, ((), ()), ((a / 1).dtype, np.abs(a / 1).dtype))


@known("np.linalg.inv")
def inv(a):
    """solve() with the identity, for each matrix."""
    if a.ndim <= 2:
        return systems.inv(a)
    systems.expect_square(a)
    return each(systems.inv, a, a.shape[a.ndim - 2 :], (a / 1).dtype)


@known("np.linalg.solve")
def solve(a, b):
    """x of a x = b, for each matrix; stacks broadcast. One axis of `b` is a vector."""
    if a.ndim <= 2 and b.ndim <= 2:
        return systems.solve(a, b)
    if a.ndim < 2:
        raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be at least 2-dimensional")
    systems.expect_square(a)
    n = a.shape[a.ndim - 1]
    t = np.result_type(a / 1, b / 1)
    if b.ndim == 1:
        return each(systems.solve, a, (n,), t, b)
    m = b.shape[b.ndim - 1]
    systems.expect_rows(b.shape[b.ndim - 2], n)
    lead = np.broadcast_shapes(a.shape[: a.ndim - 2], b.shape[: b.ndim - 2])
    left = stack(np.broadcast_to(a, lead + (n, n)))
    right = stack(np.broadcast_to(b, lead + (n, m)))
    found = np.empty((left.shape[0], n, m), t)
    for i in range(left.shape[0]):
        found[i] = systems.solve(left[i], right[i])
    return found.reshape(lead + (n, m))


@known("np.linalg.cholesky")
def cholesky(a, *, upper=False):
    """The lower factor, or the upper one, of each matrix."""
    if a.ndim <= 2:
        return systems.cholesky(a, upper)
    systems.expect_square(a)
    return each(systems.cholesky, a, a.shape[a.ndim - 2 :], (a / 1).dtype, upper)


@known("np.linalg.matrix_power")
def matrix_power(a, n):
    """Repeated squaring of each matrix; below zero of the inverse."""
    if a.ndim <= 2:
        return systems.matrix_power(a, n)
    systems.expect_square(a)
    return each(systems.matrix_power, a, a.shape[a.ndim - 2 :], a.dtype, n)


@known("np.linalg.qr")
def qr(a, mode="reduced"):
    """Q and R of each matrix, R alone for 'r', the reflections and their factors for 'raw'."""
    if a.ndim <= 2:
        return factors.qr(a, mode)
    m, n = a.shape[a.ndim - 2], a.shape[a.ndim - 1]
    k = min(m, n)
    t = (a / 1).dtype
    if mode == "r":
        return each(factors.qr, a, (k, n), t, mode)
    if mode == "raw":
        return each_of_several(factors.qr, a, ((n, m), (k,)), (t, t), mode)
    if mode == "complete":
        k = m
    return each_of_several(factors.qr, a, ((m, k), (k, n)), (t, t), mode)


@known("np.linalg.eigh")
def eigh(a, UPLO="L"):
    """Values by size and vectors of each Hermitian matrix, of which one triangle is read."""
    if a.ndim <= 2:
        return factors.eigh(a, UPLO)
    systems.expect_square(a)
    n = a.shape[a.ndim - 1]
    dtypes = np.abs(a / 1).dtype, (a / 1).dtype
    return each_of_several(factors.eigh, a, ((n,), (n, n)), dtypes, UPLO)


@known("np.linalg.eigvalsh")
def eigvalsh(a, UPLO="L"):
    """The values of eigh()."""
    return eigh(a, UPLO)[0]


@known("np.linalg.svd")
def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    """U, the singular values by size, and V's adjoint, of each matrix."""
    if a.ndim <= 2:
        return factors.svd(a, full_matrices, compute_uv, hermitian)
    m, n = a.shape[a.ndim - 2], a.shape[a.ndim - 1]
    k = min(m, n)
    real, t = np.abs(a / 1).dtype, (a / 1).dtype
    if not compute_uv:
        return each(factors.svd, a, (k,), real, False, False, hermitian)
    rows = m if full_matrices else k
    columns = n if full_matrices else k
    tails = (m, rows), (k,), (columns, n)
    return each_of_several(factors.svd, a, tails, (t, real, t), full_matrices, True, hermitian)


@known("np.linalg.svdvals")
def svdvals(x, /):
    """The singular values of svd()."""
    return svd(x, compute_uv=False)


@known("np.linalg.eig")
def eig(a):
    """Values and vectors of each matrix; of real matrices ValueError where a value is not real."""
    if a.ndim <= 2:
        return factors.eig(a)
    systems.expect_square(a)
    n, t = a.shape[a.ndim - 1], (a / 1).dtype
    return each_of_several(factors.eig, a, ((n,), (n, n)), (t, t))


@known("np.linalg.eigvals")
def eigvals(a):
    """The values of eig()."""
    if a.ndim <= 2:
        return factors.eigvals(a)
    systems.expect_square(a)
    return each(factors.eigvals, a, (a.shape[a.ndim - 1],), (a / 1).dtype)


@known("np.linalg.pinv")
def pinv(a, rcond=None, hermitian=False):
    """V / s times U's adjoint, of each matrix."""
    if a.ndim <= 2:
        return linalg.pinv(a, rcond, hermitian)
    tail = a.shape[a.ndim - 1], a.shape[a.ndim - 2]
    return each(linalg.pinv, a, tail, (a / 1).dtype, rcond, hermitian)


@known("np.linalg.matrix_rank")
def matrix_rank(A, tol=None, hermitian=False, *, rtol=None):
    """How many singular values of each matrix are above rounding, or above `tol`."""
    if A.ndim <= 2:
        return linalg.matrix_rank(A, tol, hermitian, rtol)
    return each(linalg.matrix_rank, A, (), np.int64, tol, hermitian, rtol)


@known("np.linalg.cond")
def cond(x, p=None):
    """The largest over the smallest singular value, or the norms of a matrix and its inverse."""
    if x.ndim <= 2:
        return linalg.cond(x, p)
    return each(linalg.cond, x, (), np.abs(x / 1).dtype, p)
