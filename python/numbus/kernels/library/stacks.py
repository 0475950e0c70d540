"""Linear algebra as np.linalg has it: of a matrix, and of stacks of matrices one by one."""

import numpy as np
from numpy.linalg import LinAlgError

from .._library import known
from . import factors, linalg, systems


def stack(a):
    """A stack as a line of matrices."""
    return np.ascontiguousarray(a).reshape((-1, a.shape[a.ndim - 2], a.shape[a.ndim - 1]))


def numbers(a, dtype):
    """A number for each matrix, to be filled."""
    return np.empty(count(a.shape[: a.ndim - 2]), dtype)


def count(extents):
    n = 1
    for extent in extents:
        n *= extent
    return n


def matrices(a, rows, columns, dtype):
    """As many matrices of these extents."""
    return np.empty((count(a.shape[: a.ndim - 2]), rows, columns), dtype)


@known("np.linalg.det")
def det(a):
    """The product of a factor's diagonal, for each matrix."""
    if a.ndim <= 2:
        return systems.det(a)
    systems.expect_square(a)
    out = numbers(a, (a / 1).dtype)
    lines = stack(a)
    for i in range(out.shape[0]):
        out[i] = systems.det(lines[i])
    return out.reshape(a.shape[: a.ndim - 2])


@known("np.linalg.slogdet")
def slogdet(a):
    """Sign and logarithm of the size of det(), for each matrix."""
    if a.ndim <= 2:
        return systems.slogdet(a)
    systems.expect_square(a)
    signs = numbers(a, (a / 1).dtype)
    logarithms = numbers(a, np.abs(a / 1).dtype)
    lines = stack(a)
    for i in range(signs.shape[0]):
        signs[i], logarithms[i] = systems.slogdet(lines[i])
    lead = a.shape[: a.ndim - 2]
    return signs.reshape(lead), logarithms.reshape(lead)


@known("np.linalg.inv")
def inv(a):
    """solve() with the identity, for each matrix."""
    if a.ndim <= 2:
        return systems.inv(a)
    systems.expect_square(a)
    n = a.shape[a.ndim - 1]
    out = matrices(a, n, n, (a / 1).dtype)
    lines = stack(a)
    for i in range(out.shape[0]):
        out[i] = systems.inv(lines[i])
    return out.reshape(a.shape)


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
        out = np.empty((count(a.shape[: a.ndim - 2]), n), t)
        lines = stack(a)
        for i in range(out.shape[0]):
            out[i] = systems.solve(lines[i], b)
        return out.reshape(a.shape[: a.ndim - 1])
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
        return systems.cholesky(a, upper=upper)
    systems.expect_square(a)
    n = a.shape[a.ndim - 1]
    out = matrices(a, n, n, (a / 1).dtype)
    lines = stack(a)
    for i in range(out.shape[0]):
        out[i] = systems.cholesky(lines[i], upper=upper)
    return out.reshape(a.shape)


@known("np.linalg.matrix_power")
def matrix_power(a, n):
    """Repeated squaring of each matrix; below zero of the inverse."""
    if a.ndim <= 2:
        return systems.matrix_power(a, n)
    systems.expect_square(a)
    m = a.shape[a.ndim - 1]
    out = matrices(a, m, m, a.dtype)
    lines = stack(a)
    for i in range(out.shape[0]):
        out[i] = systems.matrix_power(lines[i], n)
    return out.reshape(a.shape)


@known("np.linalg.qr")
def qr(a, mode="reduced"):
    """Q and R of each matrix, R alone for 'r'."""
    if a.ndim <= 2:
        return factors.qr(a, mode)
    m, n = a.shape[a.ndim - 2], a.shape[a.ndim - 1]
    k = min(m, n)
    lead = a.shape[: a.ndim - 2]
    t = (a / 1).dtype
    lines = stack(a)
    if mode == "r":
        alone = matrices(a, k, n, t)
        for i in range(alone.shape[0]):
            alone[i] = factors.qr(lines[i], "r")
        return alone.reshape(lead + (k, n))
    if mode == "complete":
        k = m
    q, r = matrices(a, m, k, t), matrices(a, k, n, t)
    for i in range(q.shape[0]):
        q[i], r[i] = factors.qr(lines[i], mode)
    return q.reshape(lead + (m, k)), r.reshape(lead + (k, n))


@known("np.linalg.eigh")
def eigh(a, UPLO="L"):
    """Values by size and vectors of each Hermitian matrix, of which one triangle is read."""
    if a.ndim <= 2:
        return factors.eigh(a, UPLO)
    systems.expect_square(a)
    n = a.shape[a.ndim - 1]
    w = np.empty((count(a.shape[: a.ndim - 2]), n), np.abs(a / 1).dtype)
    v = matrices(a, n, n, (a / 1).dtype)
    lines = stack(a)
    for i in range(w.shape[0]):
        w[i], v[i] = factors.eigh(lines[i], UPLO)
    return w.reshape(a.shape[: a.ndim - 1]), v.reshape(a.shape)


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
    lead = a.shape[: a.ndim - 2]
    lines = stack(a)
    s = np.empty((lines.shape[0], k), np.abs(a / 1).dtype)
    if not compute_uv:
        for i in range(s.shape[0]):
            s[i] = factors.svd(lines[i], False, False, hermitian)
        return s.reshape(lead + (k,))
    t = (a / 1).dtype
    rows = m if full_matrices else k
    columns = n if full_matrices else k
    u, v = matrices(a, m, rows, t), matrices(a, columns, n, t)
    for i in range(s.shape[0]):
        u[i], s[i], v[i] = factors.svd(lines[i], full_matrices, True, hermitian)
    return u.reshape(lead + (m, rows)), s.reshape(lead + (k,)), v.reshape(lead + (columns, n))


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
    n = a.shape[a.ndim - 1]
    w = np.empty((count(a.shape[: a.ndim - 2]), n), (a / 1).dtype)
    v = matrices(a, n, n, (a / 1).dtype)
    lines = stack(a)
    for i in range(w.shape[0]):
        w[i], v[i] = factors.eig(lines[i])
    return w.reshape(a.shape[: a.ndim - 1]), v.reshape(a.shape)


@known("np.linalg.eigvals")
def eigvals(a):
    """The values of eig()."""
    if a.ndim <= 2:
        return factors.eigvals(a)
    systems.expect_square(a)
    w = np.empty((count(a.shape[: a.ndim - 2]), a.shape[a.ndim - 1]), (a / 1).dtype)
    lines = stack(a)
    for i in range(w.shape[0]):
        w[i] = factors.eigvals(lines[i])
    return w.reshape(a.shape[: a.ndim - 1])


@known("np.linalg.pinv")
def pinv(a, rcond=None, hermitian=False):
    """V / s times U's adjoint, of each matrix."""
    if a.ndim <= 2:
        return linalg.pinv(a, rcond, hermitian)
    m, n = a.shape[a.ndim - 2], a.shape[a.ndim - 1]
    out = matrices(a, n, m, (a / 1).dtype)
    lines = stack(a)
    for i in range(out.shape[0]):
        out[i] = linalg.pinv(lines[i], rcond, hermitian)
    return out.reshape(a.shape[: a.ndim - 2] + (n, m))


@known("np.linalg.matrix_rank")
def matrix_rank(A, tol=None, hermitian=False, *, rtol=None):
    """How many singular values of each matrix are above rounding, or above `tol`."""
    if A.ndim <= 2:
        return linalg.matrix_rank(A, tol, hermitian, rtol=rtol)
    ranks = numbers(A, np.int64)
    lines = stack(A)
    for i in range(ranks.shape[0]):
        ranks[i] = linalg.matrix_rank(lines[i], tol, hermitian, rtol=rtol)
    return ranks.reshape(A.shape[: A.ndim - 2])


@known("np.linalg.cond")
def cond(x, p=None):
    """The largest over the smallest singular value, or the norms of a matrix and its inverse."""
    if x.ndim <= 2:
        return linalg.cond(x, p)
    found = numbers(x, np.abs(x / 1).dtype)
    lines = stack(x)
    for i in range(found.shape[0]):
        found[i] = linalg.cond(lines[i], p)
    return found.reshape(x.shape[: x.ndim - 2])
