"""Systems of linear equations of small matrices. G&VL: Golub and Van Loan, Matrix Computations, 4th
edition.
"""

import numpy as np
from numpy.linalg import LinAlgError

from ...core.dtypes import is_half
from .._library import host_cholesky, host_lu, host_solve, not_yet

INLINE = 8  # rows; of more LAPACK takes less time, where it is loaded


def columns(a):
    """A copy whose memory is stored by columns, as its transpose."""
    return np.ascontiguousarray(a.T.copy())


def expect_matrix(a):
    """Raises unless it is one matrix, of a type that there are factors of."""
    if a.ndim < 2:
        raise LinAlgError(
            f"{a.ndim}-dimensional array given. Array must be at least two-dimensional"
        )
    if a.ndim > 2:
        not_yet("linear algebra of stacks of matrices")
    if is_half(a.dtype):
        raise TypeError("array types of 16 bits are unsupported in linalg")


def matrix(a):
    """A copy of a matrix in the type that NumPy computes in: double precision."""
    expect_matrix(a)
    return a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)


def square(a):
    """Raises unless the matrix is square."""
    if a.shape[0] != a.shape[1]:
        raise LinAlgError("Last 2 dimensions of the array must be square")


def expect_square(a):
    """Raises unless the matrices of a stack are square and of a type that there are factors of."""
    if a.shape[a.ndim - 2] != a.shape[a.ndim - 1]:
        raise LinAlgError("Last 2 dimensions of the array must be square")
    if is_half(a.dtype):
        raise TypeError("array types of 16 bits are unsupported in linalg")


def expect_rows(given, n):
    """Raises unless a right side has as many rows as the matrix."""
    if given != n:
        raise ValueError(
            f"solve: Input operand 1 has a mismatch in its core dimension 0 "
            f"({given} is different from {n})"
        )


def lu(a, order):
    """LU with partial pivoting, in place (G&VL algorithm 3.4.1); the sign, 0 where singular.

    Complex pivots are compared as LAPACK does, by the sum of their parts' sizes.
    """
    n = a.shape[0]
    sign = 1
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if size(a[i, k]) > size(a[p, k]):
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


def size(x):
    """How large a pivot is."""
    return abs(x.real) + abs(x.imag)


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


def solve(a, b):
    """LU with partial pivoting, then substitution (G&VL 3.4)."""
    expect_matrix(a)
    square(a)
    if is_half(b.dtype):
        raise TypeError("array types of 16 bits are unsupported in linalg")
    if b.ndim == 0:
        raise ValueError("solve: Input operand 1 does not have enough dimensions")
    expect_rows(b.shape[0], a.shape[0])
    t = np.result_type(a / 1, b / 1)
    wide = np.result_type(t, np.float64)
    left = a.astype(wide)
    if b.ndim == 1:
        return solved(left, b.astype(wide).reshape(-1, 1)).reshape(-1).astype(t, copy=False)
    return solved(left, b.astype(wide)).astype(t, copy=False)


def solved(left, right):
    """The solution of left x = right, both of which may be overwritten."""
    n = left.shape[0]
    if n > INLINE:
        by_columns = columns(left)
        x = columns(right)
        status = host_solve(by_columns, x, n, right.shape[1])
        if status > 0:
            raise LinAlgError("Singular matrix")
        if status == 0:
            return np.ascontiguousarray(x.T)
    solve_in_place(left, right)
    return right


def inv(a):
    """solve() with the identity."""
    left = matrix(a)
    square(left)
    return solved(left, np.eye(a.shape[0]).astype(left.dtype)).astype((a / 1).dtype, copy=False)


def triangle(m):
    """Puts the diagonal of U into the matrix; the sign, 0 where it is singular."""
    n = m.shape[0]
    order = np.empty(n, np.int64)
    if n > INLINE:
        by_columns = columns(m)
        status = host_lu(by_columns, order, n)
        if status > 0:
            return 0
        if status == 0:
            sign = 1
            for k in range(n):
                m[k, k] = by_columns[k, k]
                if order[k] != k + 1:
                    sign = -sign
            return sign
    return lu(m, order)


def det(a):
    """The product of lu()'s diagonal."""
    m = matrix(a)
    square(m)
    sign = triangle(m)
    d = m.dtype.type(sign)
    if sign != 0:
        for i in range(a.shape[0]):
            d *= m[i, i]
    return (a / 1).dtype.type(d)


def slogdet(a):
    """Sign, of complex numbers a phase, and logarithm of the size of lu()'s diagonal."""
    m = matrix(a)
    square(m)
    sign = m.dtype.type(triangle(m))
    s = 0.0
    if sign == 0:
        s = -np.inf
    else:
        for i in range(a.shape[0]):
            x = np.abs(m[i, i])
            sign *= m[i, i] / x
            s += np.log(x)
    return (a / 1).dtype.type(sign), np.abs(a / 1).dtype.type(s)


def cholesky(a, upper=False):
    """Column by column (G&VL algorithm 4.2.1), of the lower triangle, or of the upper one."""
    m = matrix(a)
    square(m)
    t = (a / 1).dtype
    if upper:
        return np.conj(lower_factor(np.conj(m.T)).T).astype(t)
    return lower_factor(m).astype(t, copy=False)


def lower_factor(a):
    n = a.shape[0]
    out = np.zeros((n, n), a.dtype)
    if n > INLINE:
        by_columns = columns(a)
        status = host_cholesky(by_columns, n)
        if status > 0:
            raise LinAlgError("Matrix is not positive definite")
        if status == 0:
            for i in range(n):
                for j in range(i + 1):
                    out[i, j] = by_columns[j, i]
            return out
    for j in range(n):
        for i in range(j, n):
            s = a[i, j]
            for k in range(j):
                s -= out[i, k] * np.conj(out[j, k])
            if i == j:
                if not s.real > 0:
                    raise LinAlgError("Matrix is not positive definite")
                out[i, i] = np.sqrt(s.real)
            else:
                out[i, j] = s / out[j, j]
    return out


def inverse(a):
    """The inverse in the same type, which those of integers have not."""
    if a.dtype.kind in "iub":
        raise ValueError("negative powers of integers in a compiled function: convert first")
    return inv(a)


def matrix_power(a, n):
    """Repeated squaring; below zero of the inverse."""
    if a.ndim < 2:
        raise LinAlgError("matrices have at least two axes")
    square(a)
    if isinstance(n, float):
        raise TypeError("exponent must be an integer")
    if n < 0:
        return matrix_power(inverse(a), -n)
    out = np.eye(a.shape[0]).astype(a.dtype)
    base = a.copy()
    while n > 0:
        if n % 2:
            out = np.dot(out, base)
        n //= 2
        if n:
            base = np.dot(base, base)
    return out
