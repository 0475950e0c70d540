"""Linear algebra of small matrices. G&VL: Golub and Van Loan, Matrix Computations, 4th edition."""

import numpy as np
from numpy.linalg import LinAlgError

from .._library import known
from .products import dot


def square(a):
    """Raises unless the matrix is square."""
    if a.shape[0] != a.shape[1]:
        raise LinAlgError("Last 2 dimensions of the array must be square")


def lu(a, order):
    """LU with partial pivoting, in place (G&VL algorithm 3.4.1); the sign, 0 where singular."""
    n = a.shape[0]
    sign = 1
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[p, k]):
                p = i
        order[k] = p
        if a[p, k] == 0:
            return 0
        if p != k:
            sign = -sign
            for j in range(n):
                t = a[k, j]
                a[k, j] = a[p, j]
                a[p, j] = t
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            f = a[i, k]
            for j in range(k + 1, n):
                a[i, j] -= f * a[k, j]
    return sign


def solve_in_place(a, b):
    """Solves a x = b by lu(); both are overwritten, b by x."""
    n = a.shape[0]
    order = np.empty(n, np.int64)
    if lu(a, order) == 0:
        raise LinAlgError("Singular matrix")
    m = b.shape[1]
    for k in range(n):
        p = order[k]
        if p != k:
            for j in range(m):
                t = b[k, j]
                b[k, j] = b[p, j]
                b[p, j] = t
    for i in range(n):
        for k in range(i):
            f = a[i, k]
            for j in range(m):
                b[i, j] -= f * b[k, j]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            f = a[i, k]
            for j in range(m):
                b[i, j] -= f * b[k, j]
        for j in range(m):
            b[i, j] /= a[i, i]


@known("np.linalg.solve")
def solve(a, b):
    """LU with partial pivoting, then substitution (G&VL 3.4)."""
    square(a)
    t = np.result_type(a / 1, b / 1)
    left = a.astype(t)
    if b.ndim == 1:
        column = b.astype(t).reshape(-1, 1)
        solve_in_place(left, column)
        return column.reshape(-1)
    right = b.astype(t)
    solve_in_place(left, right)
    return right


@known("np.linalg.inv")
def inv(a):
    """solve() with the identity."""
    square(a)
    t = (a / 1).dtype
    left = a.astype(t)
    right = np.eye(a.shape[0]).astype(t)
    solve_in_place(left, right)
    return right


@known("np.linalg.det")
def det(a):
    """The product of lu()'s diagonal."""
    square(a)
    m = a.astype((a / 1).dtype)
    sign = lu(m, np.empty(a.shape[0], np.int64))
    d = m.dtype.type(sign)
    if sign != 0:
        for i in range(a.shape[0]):
            d *= m[i, i]
    return d


@known("np.linalg.slogdet")
def slogdet(a):
    """Sign and logarithm of lu()'s diagonal."""
    square(a)
    m = a.astype((a / 1).dtype)
    sign = m.dtype.type(lu(m, np.empty(a.shape[0], np.int64)))
    s = m.dtype.type(0)
    if sign == 0:
        return sign, m.dtype.type(-np.inf)
    for i in range(a.shape[0]):
        if m[i, i] < 0:
            sign = -sign
        s += np.log(abs(m[i, i]))
    return sign, s


@known("np.linalg.cholesky")
def cholesky(a):
    """Column by column (G&VL algorithm 4.2.1)."""
    square(a)
    n = a.shape[0]
    out = np.zeros((n, n), (a / 1).dtype)
    for j in range(n):
        for i in range(j, n):
            s = out.dtype.type(a[i, j])
            for k in range(j):
                s -= out[i, k] * np.conj(out[j, k])
            if i == j:
                if not s.real > 0:
                    raise LinAlgError("Matrix is not positive definite")
                out[i, i] = np.sqrt(s.real)
            else:
                out[i, j] = s / out[j, j]
    return out


@known("np.linalg.norm")
def norm(a, ord=None):
    """Of vectors, and of matrices: Frobenius, 1, inf, 2 by svd; of integers as floats."""
    x = a.astype(np.float64) if a.dtype.kind in "iub" else a
    if ord is None:
        return np.sqrt((np.abs(x) ** 2).sum())
    if isinstance(ord, str):
        if x.ndim != 2:
            raise ValueError("Invalid norm order for vectors.")
        if ord == "fro":
            return np.sqrt((np.abs(x) ** 2).sum())
        if ord == "nuc":
            return np.abs(singular_values(x)).sum()
        raise ValueError("Invalid norm order for matrices.")
    if x.ndim == 1:
        if ord == np.inf:
            return np.abs(x).max() * 1.0
        if ord == -np.inf:
            return np.abs(x).min() * 1.0
        if ord == 0:
            return np.count_nonzero(x) * 1.0
        if ord == 1:
            return np.abs(x).sum() * 1.0
        return (np.abs(x) ** (ord * 1.0)).sum() ** (1.0 / ord)
    if ord == 1:
        return np.max(np.abs(x).sum(axis=0), initial=0.0) * 1.0
    if ord == np.inf:
        return np.max(np.abs(x).sum(axis=1), initial=0.0) * 1.0
    if ord == 2:
        return np.abs(singular_values(x)[0])
    if ord == -1:
        return np.min(np.abs(x).sum(axis=0)) * 1.0
    if ord == -np.inf:
        return np.min(np.abs(x).sum(axis=1)) * 1.0
    if ord == -2:
        return np.abs(singular_values(x)[-1])
    raise ValueError("Invalid norm order for matrices.")


@known("np.linalg.qr")
def qr(a):
    """Householder reflections (G&VL algorithm 5.2.1), reduced."""
    m, n = a.shape[0], a.shape[1]
    k = min(m, n)
    t = (a / 1).dtype
    r = a.astype(t)
    q = np.zeros((m, m), t)
    for i in range(m):
        q[i, i] = 1
    v = np.empty(m, t)
    for j in range(min(m - 1, n)):
        s = t.type(0)
        for i in range(j, m):
            s += r[i, j] * r[i, j]
        size = np.sqrt(s)
        if size == 0:
            continue
        if r[j, j] > 0:
            size = -size
        for i in range(j, m):
            v[i] = r[i, j]
        v[j] -= size
        length = t.type(0)
        for i in range(j, m):
            length += v[i] * v[i]
        if length == 0:
            continue
        for c in range(n):
            s = t.type(0)
            for i in range(j, m):
                s += v[i] * r[i, c]
            s = s * 2 / length
            for i in range(j, m):
                r[i, c] -= s * v[i]
        for c in range(m):
            s = t.type(0)
            for i in range(j, m):
                s += q[c, i] * v[i]
            s = s * 2 / length
            for i in range(j, m):
                q[c, i] -= s * v[i]
    for i in range(1, k):
        for j in range(min(i, n)):
            r[i, j] = 0
    return q[:, :k].copy(), r[:k].copy()


def rotate(a, v, p, q, c, s):
    """Rotates rows and columns p and q of a symmetric matrix, and columns of v."""
    n = a.shape[0]
    for k in range(n):
        x, y = a[k, p], a[k, q]
        a[k, p] = c * x - s * y
        a[k, q] = s * x + c * y
    for k in range(n):
        x, y = a[p, k], a[q, k]
        a[p, k] = c * x - s * y
        a[q, k] = s * x + c * y
    for k in range(n):
        x, y = v[k, p], v[k, q]
        v[k, p] = c * x - s * y
        v[k, q] = s * x + c * y


@known("np.linalg.eigh")
def eigh(a):
    """Cyclic Jacobi rotations (G&VL algorithm 8.5.3), the lower triangle as in NumPy."""
    square(a)
    n = a.shape[0]
    t = (a / 1).dtype
    m = np.empty((n, n), t)
    for i in range(n):
        for j in range(i + 1):
            m[i, j] = m[j, i] = a[i, j]
    v = np.eye(n).astype(t)
    for _ in range(60):
        off = t.type(0)
        total = t.type(0)
        for i in range(n):
            for j in range(n):
                total += m[i, j] * m[i, j]
                if i != j:
                    off += m[i, j] * m[i, j]
        if off <= total * np.finfo(t).eps ** 2 * 0.01 or off == 0:
            break
        for p in range(n - 1):
            for q in range(p + 1, n):
                if m[p, q] == 0:
                    continue
                tau = (m[q, q] - m[p, p]) / (2 * m[p, q])
                root = np.sqrt(1 + tau * tau)
                tangent = 1 / (tau + root) if tau >= 0 else -1 / (root - tau)
                c = 1 / np.sqrt(1 + tangent * tangent)
                rotate(m, v, p, q, c, tangent * c)
    order = np.argsort(np.diag(m))
    w = np.empty(n, t)
    vectors = np.empty((n, n), t)
    for k in range(n):
        w[k] = m[order[k], order[k]]
        vectors[:, k] = v[:, order[k]]
    return w, vectors


@known("np.linalg.eigvalsh")
def eigvalsh(a):
    """The values of eigh()."""
    return eigh(a)[0]


def one_sided(u, v):
    """One-sided Jacobi (G&VL 8.6.4): rotates columns until they are orthogonal."""
    m, n = u.shape[0], u.shape[1]
    t = u.dtype
    eps = np.finfo(t).eps
    for _ in range(60):
        turned = False
        for p in range(n - 1):
            for q in range(p + 1, n):
                x = t.type(0)
                y = t.type(0)
                z = t.type(0)
                for k in range(m):
                    x += u[k, p] * u[k, p]
                    y += u[k, q] * u[k, q]
                    z += u[k, p] * u[k, q]
                if z == 0 or abs(z) <= eps * np.sqrt(x * y):
                    continue
                turned = True
                tau = (y - x) / (2 * z)
                root = np.sqrt(1 + tau * tau)
                tangent = 1 / (tau + root) if tau >= 0 else -1 / (root - tau)
                c = 1 / np.sqrt(1 + tangent * tangent)
                s = tangent * c
                for k in range(m):
                    x, y = u[k, p], u[k, q]
                    u[k, p] = c * x - s * y
                    u[k, q] = s * x + c * y
                for k in range(n):
                    x, y = v[k, p], v[k, q]
                    v[k, p] = c * x - s * y
                    v[k, q] = s * x + c * y
        if not turned:
            break


def tall_svd(a):
    """U, s and V of a matrix that is not wider than high; columns by falling values."""
    m, n = a.shape[0], a.shape[1]
    t = (a / 1).dtype
    u = a.astype(t)
    v = np.eye(n).astype(t)
    one_sided(u, v)
    s = np.sqrt((u * u).sum(axis=0))
    order = np.argsort(-s)
    left = np.zeros((m, n), t)
    right = np.empty((n, n), t)
    values = np.empty(n, t)
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
                    s = (out[:, k] * out[:, j]).sum()
                    for i in range(m):
                        out[i, j] -= s * out[i, k]
            size = np.sqrt((out[:, j] * out[:, j]).sum())
            if size > 0.01 or unit >= m:
                for i in range(m):
                    out[i, j] /= size
                break
    return out


@known("np.linalg.svd")
def svd(a, full_matrices=True):
    """One-sided Jacobi (G&VL 8.6.4); of the transpose where that is taller."""
    if a.shape[0] >= a.shape[1]:
        u, s, v = tall_svd(a)
    else:
        v, s, u = tall_svd(a.T)
    k = s.shape[0]
    rank = 0
    while rank < k and s[rank] > 0:
        rank += 1
    if full_matrices:
        u = complete(u, rank if u.shape[0] > k or rank < k else k, u.shape[0])
        v = complete(v, rank if v.shape[0] > k or rank < k else k, v.shape[0])
    elif rank < k:
        u = complete(u, rank, k)
        v = complete(v, rank, k)
    return u, s, np.ascontiguousarray(v.T)


def singular_values(a):
    """The values of svd()."""
    if a.shape[0] >= a.shape[1]:
        return tall_svd(a)[1]
    return tall_svd(a.T)[1]


@known("np.linalg.matrix_rank")
def matrix_rank(a):
    """Singular values above rounding."""
    s = singular_values(a)
    return np.count_nonzero(s > s.max() * max(a.shape[0], a.shape[1]) * np.finfo(s.dtype).eps)


@known("np.linalg.cond")
def cond(a):
    """The largest over the smallest singular value."""
    s = singular_values(a)
    return s[0] / s[-1]


@known("np.linalg.pinv")
def pinv(a, rcond=1e-15):
    """V / s Uᵀ of svd(), tiny values left out."""
    u, s, vt = svd(a, False)
    for k in range(s.shape[0]):
        f = 1 / s[k] if s[k] > rcond * s[0] else s[k] * 0
        for i in range(vt.shape[1]):
            vt[k, i] *= f
    return dot(np.ascontiguousarray(vt.T), u.T)


@known("np.linalg.lstsq")
def lstsq(a, b, rcond=None):
    """By pinv(); residuals where the rank is full and there are more rows than columns."""
    s = singular_values(a)
    tiny = np.finfo(s.dtype).eps
    if rcond is None:
        tiny = tiny * max(a.shape[0], a.shape[1])
    elif rcond >= 0:
        tiny = s.dtype.type(rcond)
    rank = 0
    for k in range(s.shape[0]):
        if s[k] > tiny * s[0]:
            rank += 1
    x = dot(pinv(a, tiny), b)
    r = b - dot(a, x)
    if rank == a.shape[1] and a.shape[0] > a.shape[1]:
        left = np.atleast_1d((r * r).sum(axis=0))
    else:
        left = np.empty(0, r.dtype)
    return x, left, rank, s


@known("np.linalg.matrix_power")
def matrix_power(a, n):
    """Repeated squaring."""
    square(a)
    if n == 1:
        return a
    out = np.eye(a.shape[0]).astype(a.dtype)
    if n < 0:
        raise ValueError("negative powers inside a compiled function: invert first")
    base = a.copy()
    while n > 0:
        if n % 2:
            out = dot(out, base)
        n //= 2
        if n:
            base = dot(base, base)
    return out
