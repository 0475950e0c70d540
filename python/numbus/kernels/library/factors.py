"""Factors of matrices of real and complex numbers: QR, eigenvalues, singular values; of small ones
by loops, else by LAPACK. G&VL: Golub and Van Loan, Matrix Computations, 4th edition.
"""

import numpy as np
from numpy.linalg import LinAlgError

from .._library import host_eig, host_eigh, host_qr, host_svd
from .systems import INLINE, columns, matrix, square

ALL, SOME, NONE = 65, 83, 78  # 'A', 'S', 'N': LAPACK's jobs


def qr(a, mode="reduced"):
    """Householder reflections (G&VL algorithm 5.2.1); R has the signs that LAPACK gives it."""
    if mode == "raw":
        return reflections(a)
    if mode != "reduced" and mode != "complete" and mode != "r":
        raise ValueError(f"Unrecognized mode '{mode}'")
    r = matrix(a)
    m, n = r.shape[0], r.shape[1]
    k = min(m, n)
    wanted = 0 if mode == "r" else m if mode == "complete" else k
    by_columns = columns(r)
    q_by_columns = np.empty((max(wanted, k), m), r.dtype)
    done = k > INLINE and host_qr(by_columns, q_by_columns, m, n, wanted) == 0
    if done:
        r = np.ascontiguousarray(by_columns.T)
        q = np.ascontiguousarray(q_by_columns[:wanted].T)
    else:
        q = np.eye(m).astype(r.dtype)
        v = np.empty(m, r.dtype)
        for j in range(k):
            reflect(r, q, v, j)
    for i in range(1, m):
        for j in range(min(i, n)):
            r[i, j] = 0
    t = (a / 1).dtype
    if mode == "r":
        return r[:k].astype(t)
    if mode == "complete":
        return q.astype(t, copy=False), r.astype(t, copy=False)
    return q[:, :k].astype(t), r[:k].astype(t)


def reflection(r, j, below):
    """Whether column j of r needs one, its number on the diagonal and the one that comes there;
    below: zero, of the real type.
    """
    for i in range(j + 1, r.shape[0]):
        below += np.abs(r[i, j]) ** 2
    first = r[j, j]
    size = np.sqrt(below + np.abs(first) ** 2)
    if first.real > 0:
        size = -size
    return below != 0 or first.imag != 0, first, size


def reflections(a):
    """What LAPACK's geqrf leaves, transposed: R, beside it the vectors of the reflections, whose
    first elements are 1; and their factors.
    """
    r = matrix(a)
    m, n = r.shape[0], r.shape[1]
    factors = np.zeros(min(m, n), r.dtype)
    for j in range(factors.shape[0]):
        reflects, first, size = reflection(r, j, np.abs(factors[:0]).sum())
        if not reflects:
            continue
        factors[j] = (size - first) / size
        for i in range(j + 1, m):
            r[i, j] /= first - size
        r[j, j] = size
        for c in range(j + 1, n):
            s = r[j, c]
            for i in range(j + 1, m):
                s += np.conj(r[i, j]) * r[i, c]
            s *= np.conj(factors[j])
            r[j, c] -= s
            for i in range(j + 1, m):
                r[i, c] -= s * r[i, j]
    t = (a / 1).dtype
    return r.astype(t, copy=False).T, factors.astype(t, copy=False)


def reflect(r, q, v, j):
    """Makes column j of r zero below its diagonal, where r gets a real number."""
    m, n = r.shape[0], r.shape[1]
    reflects, first, size = reflection(r, j, np.abs(v[:0]).sum())
    if not reflects:
        return
    # As LAPACK's larfg, which makes the diagonal real.
    v[j] = first - size
    for i in range(j + 1, m):
        v[i] = r[i, j]
    factor = -1 / (size * np.conj(v[j]))
    for c in range(n):
        s = r.dtype.type(0)
        for i in range(j, m):
            s += np.conj(v[i]) * r[i, c]
        s *= np.conj(factor)
        for i in range(j, m):
            r[i, c] -= s * v[i]
    for c in range(m):
        s = r.dtype.type(0)
        for i in range(j, m):
            s += q[c, i] * v[i]
        s *= factor
        for i in range(j, m):
            q[c, i] -= s * np.conj(v[i])


def rotate_columns(m, p, q, c, s, phase):
    for k in range(m.shape[0]):
        x, y = m[k, p], m[k, q] * phase
        m[k, p] = c * x - s * y
        m[k, q] = s * x + c * y


def rotate(a, v, p, q, c, s, phase):
    """Rotates rows and columns p and q of a Hermitian matrix, and columns of v."""
    n = a.shape[0]
    back = np.conj(phase)
    rotate_columns(a, p, q, c, s, phase)
    for k in range(n):
        x, y = a[p, k], a[q, k] * back
        a[p, k] = c * x - s * y
        a[q, k] = s * x + c * y
    rotate_columns(v, p, q, c, s, phase)


def rotation(x, y, size):
    """Cosine and sine that make [[x, size], [size, y]] diagonal."""
    tau = (y - x) / (2 * size)
    root = np.sqrt(1 + tau * tau)
    tangent = 1 / (tau + root) if tau >= 0 else -1 / (root - tau)
    c = 1 / np.sqrt(1 + tangent * tangent)
    return c, tangent * c


def hermitian(a, upper):
    """The matrix whose lower, or upper, triangle is that of `a`."""
    m = matrix(a)
    square(m)
    n = m.shape[0]
    for i in range(n):
        m[i, i] = m[i, i].real
        for j in range(i):
            if upper:
                m[i, j] = np.conj(m[j, i])
            else:
                m[j, i] = np.conj(m[i, j])
    return m


def eigh(a, UPLO="L"):
    """Values by size, and the vectors of a Hermitian matrix, of which one triangle is read."""
    w, v = hermitian_factors(a, UPLO)
    return w.astype(np.abs(a / 1).dtype, copy=False), v.astype((a / 1).dtype, copy=False)


def hermitian_factors(a, UPLO):
    """Cyclic Jacobi rotations (G&VL algorithm 8.5.3), or LAPACK."""
    if UPLO != "L" and UPLO != "U" and UPLO != "l" and UPLO != "u":
        raise ValueError("UPLO argument must be 'L' or 'U'")
    m = hermitian(a, UPLO == "U" or UPLO == "u")
    n = m.shape[0]
    w = np.empty(n)
    if n > INLINE:
        by_columns = columns(m)
        status = host_eigh(by_columns, w, n, False)
        if status > 0:
            raise LinAlgError("Eigenvalues did not converge")
        if status == 0:
            return w, np.ascontiguousarray(by_columns.T)
    v = np.eye(n).astype(m.dtype)
    for _ in range(60):
        off = np.abs(m[:0]).sum()
        total = np.abs(m[:0]).sum()
        for i in range(n):
            for j in range(n):
                square_of = np.abs(m[i, j]) ** 2
                total += square_of
                if i != j:
                    off += square_of
        if off <= total * np.finfo(m.dtype).eps ** 2 * 0.01 or off == 0:
            break
        for p in range(n - 1):
            for q in range(p + 1, n):
                size = np.abs(m[p, q])
                if size == 0:
                    continue
                phase = np.conj(m[p, q]) / size
                c, s = rotation(m[p, p].real, m[q, q].real, size)
                rotate(m, v, p, q, c, s, phase)
    for k in range(n):
        w[k] = m[k, k].real
    order = np.argsort(w)
    vectors = np.empty((n, n), m.dtype)
    for k in range(n):
        vectors[:, k] = v[:, order[k]]
    return w[order], vectors


def eigvalsh(a, UPLO="L"):
    """The values of eigh()."""
    return eigh(a, UPLO)[0]


def one_sided(u, v):
    """One-sided Jacobi (G&VL 8.6.4): rotates columns until they are orthogonal."""
    m, n = u.shape[0], u.shape[1]
    t = u.dtype
    eps = np.finfo(t).eps
    for _ in range(60):
        turned = False
        for p in range(n - 1):
            for q in range(p + 1, n):
                first = np.abs(u[:0]).sum()
                second = np.abs(u[:0]).sum()
                z = t.type(0)
                for k in range(m):
                    first += np.abs(u[k, p]) ** 2
                    second += np.abs(u[k, q]) ** 2
                    z += np.conj(u[k, p]) * u[k, q]
                size = np.abs(z)
                if size == 0 or size <= eps * np.sqrt(first * second):
                    continue
                turned = True
                phase = np.conj(z) / size
                c, s = rotation(first, second, size)
                rotate_columns(u, p, q, c, s, phase)
                rotate_columns(v, p, q, c, s, phase)
        if not turned:
            break


def tall_svd(a):
    """U, s and V of a matrix that is not wider than high; columns by falling values."""
    u = matrix(a)
    m, n = u.shape[0], u.shape[1]
    v = np.eye(n).astype(u.dtype)
    one_sided(u, v)
    s = np.sqrt((np.abs(u) ** 2).sum(axis=0))
    order = np.argsort(-s)
    left = np.zeros((m, n), u.dtype)
    right = np.empty((n, n), u.dtype)
    values = np.empty(n, s.dtype)
    for k in range(n):
        p = order[k]
        values[k] = s[p]
        right[:, k] = v[:, p]
        if s[p] > 0:
            left[:, k] = u[:, p] / s[p]
    return left, values, right


def complete(u, rank, n):
    """u with its columns from `rank` to n made orthogonal to the others, by Gram-Schmidt twice."""
    m = u.shape[0]
    out = np.zeros((m, n), u.dtype)
    for j in range(rank):
        out[:, j] = u[:, j]
    unit = 0
    for j in range(rank, n):
        while True:
            out[:, j] = 0
            out[unit, j] = 1
            unit += 1
            for _ in range(2):
                for k in range(j):
                    s = (np.conj(out[:, k]) * out[:, j]).sum()
                    for i in range(m):
                        out[i, j] -= s * out[i, k]
            size = np.sqrt((np.abs(out[:, j]) ** 2).sum())
            if size > 0.01 or unit >= m:
                for i in range(m):
                    out[i, j] /= size
                break
    return out


def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    """U, the singular values by size, and V's adjoint."""
    if not compute_uv:
        return singular_values_of(a, hermitian)
    if hermitian:
        u, s, v = by_eigenvectors(a)
    else:
        u, s, v = singular_factors(a, full_matrices)
    t = (a / 1).dtype
    return (
        u.astype(t, copy=False),
        s.astype(np.abs(a / 1).dtype, copy=False),
        v.astype(t, copy=False),
    )


def by_eigenvectors(a):
    """svd() of a Hermitian matrix: the sizes of its eigenvalues, and its vectors on both sides."""
    w, vectors = hermitian_factors(a, "L")
    order = np.argsort(np.abs(w))[::-1]
    values = w[order]
    u = np.ascontiguousarray(vectors[:, order])
    return u, np.abs(values), np.conj((u * np.sign(values)).T)


def singular_values_of(a, hermitian):
    """The values of svd(), of a Hermitian matrix from its eigenvalues."""
    if hermitian:
        return np.sort(np.abs(eigvalsh(a)))[::-1].copy()
    return singular_values(a)


def singular_factors(a, full_matrices):
    """One-sided Jacobi (G&VL 8.6.4), of the transpose where that is taller; or LAPACK."""
    u = matrix(a)
    k = min(u.shape[0], u.shape[1])
    if k > INLINE:
        by_columns = columns(u)
        rows = u.shape[0] if full_matrices else k
        lines = u.shape[1] if full_matrices else k
        left = np.empty((rows, u.shape[0]), u.dtype)
        right = np.empty((u.shape[1], lines), u.dtype)
        s = np.empty(k)
        job = ALL if full_matrices else SOME
        status = host_svd(by_columns, s, left, right, u.shape[0], u.shape[1], job)
        if status > 0:
            raise LinAlgError("SVD did not converge")
        if status == 0:
            return np.ascontiguousarray(left.T), s, np.ascontiguousarray(right.T)
    if a.ndim == 2 and a.shape[0] >= a.shape[1]:
        u, s, v = tall_svd(u)
    else:
        v, s, u = tall_svd(np.conj(np.transpose(a)))
    rank = 0
    while rank < k and s[rank] > 0:
        rank += 1
    if full_matrices:
        u = complete(u, rank if u.shape[0] > k or rank < k else k, u.shape[0])
        v = complete(v, rank if v.shape[0] > k or rank < k else k, v.shape[0])
    elif rank < k:
        u = complete(u, rank, k)
        v = complete(v, rank, k)
    return u, s, np.ascontiguousarray(np.conj(v.T))


def singular_values(a):
    """The values of svd()."""
    return values_of(a).astype(np.abs(a / 1).dtype, copy=False)


def values_of(a):
    u = matrix(a)
    k = min(u.shape[0], u.shape[1])
    if k > INLINE:
        by_columns = columns(u)
        s = np.empty(k)
        status = host_svd(by_columns, s, u, u, u.shape[0], u.shape[1], NONE)
        if status > 0:
            raise LinAlgError("SVD did not converge")
        if status == 0:
            return s
    if a.ndim == 2 and a.shape[0] >= a.shape[1]:
        return tall_svd(a)[1]
    return tall_svd(np.transpose(a))[1]


def eig(a):
    """By LAPACK. Of real matrices ValueError where a value is not real: a compiled function's
    results have one type.
    """
    by_columns = columns(matrix(a))
    square(by_columns)
    n = by_columns.shape[0]
    w = np.empty(n, np.complex128)
    vectors = np.empty((n, n), np.complex128)
    expect_values(host_eig(by_columns, w, vectors, n, True))
    t = (a / 1).dtype
    if by_columns.dtype.kind == "c":
        return w.astype(t), np.ascontiguousarray(vectors.T).astype(t, copy=False)
    expect_real(w)
    return w.real.astype(t), np.ascontiguousarray(vectors.real.T).astype(t, copy=False)


def eigvals(a):
    """The values of eig()."""
    by_columns = columns(matrix(a))
    square(by_columns)
    n = by_columns.shape[0]
    w = np.empty(n, np.complex128)
    expect_values(host_eig(by_columns, w, w, n, False))
    if by_columns.dtype.kind == "c":
        return w.astype((a / 1).dtype, copy=False)
    expect_real(w)
    return w.real.astype((a / 1).dtype)


def expect_values(status):
    """Raises unless LAPACK has found eigenvalues."""
    if status > 0:
        raise LinAlgError("Eigenvalues did not converge")
    if status < 0:
        raise RuntimeError("[eig] no LAPACK is loaded; expected that of NumPy's wheel")


def expect_real(w):
    """Raises unless all eigenvalues are real."""
    for x in w:
        if x.imag != 0:
            raise ValueError("[eig] complex values of a real matrix; expected a.astype(complex)")
