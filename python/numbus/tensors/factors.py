"""Factors of matrices and what is solved by them: LU, triangles, least squares, exponentials."""

import functools

import numpy

import numbus as nb

from .. import _core
from ..core import derivatives
from ..core.dtypes import kind_of
from ..core.errors import message
from . import _dtypes
from ._arrays import as_dtype
from ._functions import method, named_results, tensor_function
from ._tensor import Tensor
from .shapes import writable_diagonal

__all__ = [
    "chain_matmul", "cholesky_inverse", "cholesky_solve", "lu_solve", "lu_unpack", "matrix_exp",
    "triangular_solve",
]  # fmt: skip


class LinAlgError(numpy.linalg.LinAlgError, RuntimeError):
    """A matrix has not what a function asks of it, as PyTorch has it: a RuntimeError, too."""


def linalg_errors(body):
    """The function with errors of NumPy's as those of PyTorch's kind."""

    @functools.wraps(body)
    def wrapper(*args, **kwargs):
        try:
            return body(*args, **kwargs)
        except LinAlgError:
            raise
        except numpy.linalg.LinAlgError as error:
            raise LinAlgError(*error.args) from None

    return wrapper


_LU = named_results("linalg_lu", ["P", "L", "U"])
_UNPACKED = named_results("lu_unpack", ["P", "L", "U"])
_COMPACT = named_results("linalg_lu_factor", ["LU", "pivots"])
_COMPACT_INFO = named_results("linalg_lu_factor_ex", ["LU", "pivots", "info"])
_LSTSQ = named_results("linalg_lstsq", ["solution", "residuals", "rank", "singular_values"])
_TRIANGULAR = named_results("triangular_solve", ["solution", "cloned_coefficient"])


def _matrices(op, *arrays, square=False):
    for a in arrays:
        if a.ndim < 2 or (square and a.shape[-1] != a.shape[-2]):
            raise RuntimeError(
                message(op, "no square matrices" if square else "no matrices", f"shape {a.shape}",
                        "(..., n, n)" if square else "(..., m, n)")
            )  # fmt: skip
        if kind_of(a.dtype) not in "fc":
            raise RuntimeError(message(op, "not floating point", a.dtype, "a dtype of floats"))


def _of_one_dtype(op, *arrays):
    if len({a.dtype for a in arrays}) > 1:
        raise RuntimeError(
            message(op, "operands of different dtypes", [str(a.dtype) for a in arrays], "one dtype")
        )


def adjoint_of(a):
    """The conjugate transpose of matrices."""
    a = nb.swapaxes(a, -1, -2)
    return nb.conj(a) if kind_of(a.dtype) == "c" else a


# Triangles


def _triangle(a, upper, unit):
    a = nb.triu(a) if upper else nb.tril(a)
    if unit:
        a = nb.where(nb.eye(a.shape[-1], dtype=bool), nb.ones((), dtype=a.dtype), a)
    return a


@tensor_function
def solve_triangular(A, B, *, upper, left=True, unitriangular=False):
    """X of A @ X = B, or of X @ A = B; only the triangle of A is read."""
    _matrices("solve_triangular", A, square=True)
    _matrices("solve_triangular", B)
    _of_one_dtype("solve_triangular", A, B)
    a = _triangle(A, upper, unitriangular)
    if left:
        return _by_triangle(a, B, upper)
    found = _by_triangle(nb.swapaxes(a, -1, -2), nb.swapaxes(B, -1, -2), not upper)
    return nb.swapaxes(found, -1, -2)


def _by_triangle(a, b, upper):
    """The solution by a triangle; by one that is singular with infinities and NaNs."""
    diagonal = nb.diagonal(nb.stop_gradient(a), axis1=-2, axis2=-1)
    if not bool(nb.any(diagonal == 0)):
        return nb.linalg.solve(a, b)
    n = a.shape[-1]
    stack = numpy.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    x = nb.broadcast_to(b, (*stack, *b.shape[-2:])) + nb.zeros((), b.dtype)
    with nb.errstate(all="ignore"):
        for k in range(n - 1, -1, -1) if upper else range(n):
            x[..., k, :] = x[..., k, :] / a[..., k, k][..., None]
            rest = slice(0, k) if upper else slice(k + 1, None)
            x[..., rest, :] = x[..., rest, :] - a[..., rest, k][..., None] * x[..., k, None, :]
    return x


@method()
@tensor_function
def triangular_solve(input, A, upper=True, transpose=False, unitriangular=False):
    """X of A @ X = input, and A: the older form of `linalg.solve_triangular`."""
    a = _triangle(A, upper, unitriangular)
    _of_one_dtype("triangular_solve", A, input)
    a = nb.swapaxes(a, -1, -2) if transpose else a
    return _TRIANGULAR(_by_triangle(a, input, bool(upper) != bool(transpose)), A)


@method()
@tensor_function
def cholesky_solve(input, L, upper=False):
    """X of A @ X = input, by the Cholesky factor of A."""
    _matrices("cholesky_solve", input, L)
    _of_one_dtype("cholesky_solve", input, L)
    low = adjoint_of(nb.triu(L)) if upper else nb.tril(L)
    return _by_triangle(adjoint_of(low), _by_triangle(low, input, False), True)


@method()
@tensor_function
def cholesky_inverse(L, upper=False):
    """The inverse of a matrix, by its Cholesky factor."""
    _matrices("cholesky_inverse", L, square=True)
    low = adjoint_of(nb.triu(L)) if upper else nb.tril(L)
    inverse = nb.linalg.inv(low)
    return adjoint_of(inverse) @ inverse


# LU


def _order_and_factors(a, pivot):
    """The order of rows, the pivots of each step, counted from 1, and L and U in one matrix.

    The order is found first and is constant; the factors are made of the ordered rows.
    """
    m, n = a.shape[-2:]
    flat = nb.reshape(a, (-1, m, n))
    count, steps = flat.shape[0], min(m, n)
    each = nb.arange(count)
    order = nb.zeros((count, m), int) + nb.arange(m)
    pivots = nb.zeros((count, steps), int) + nb.arange(1, steps + 1)
    if pivot and steps:
        work = nb.stop_gradient(flat).copy()
        for k in range(steps):
            best = k + nb.argmax(nb.abs(work[:, k:, k]), axis=-1)
            pivots[:, k] = best + 1
            rows, own = work[each, best], order[each, best]
            work[each, best], order[each, best] = work[:, k].copy(), order[:, k].copy()
            work[:, k], order[:, k] = rows, own
            below = _divided(work[:, k + 1 :, k], work[:, k, k][:, None])
            work[:, k + 1 :, k:] -= below[:, :, None] * work[:, k, None, k:]
    made = nb.take_along_axis(flat, order[:, :, None], axis=1) + nb.zeros((), flat.dtype)
    for k in range(steps):
        below = _divided(made[:, k + 1 :, k], made[:, k, k][:, None])
        made[:, k + 1 :, k] = below
        made[:, k + 1 :, k + 1 :] -= below[:, :, None] * made[:, k, None, k + 1 :]
    shape = a.shape[:-2]
    return (
        nb.reshape(order, (*shape, m)), nb.reshape(pivots, (*shape, steps)),
        nb.reshape(made, a.shape),
    )  # fmt: skip


def _divided(column, pivot):
    """A column by its pivot; one that is zero throughout stays as it is."""
    zero = pivot == 0
    return column / nb.where(zero, nb.ones((), dtype=pivot.dtype), pivot)


def _parts(lu):
    """L with ones on its diagonal, and U."""
    m, n = lu.shape[-2:]
    k = min(m, n)
    low = nb.tril(lu[..., :, :k], -1) + nb.eye(m, k, dtype=lu.dtype)
    return low, nb.triu(lu[..., :k, :])


def _permutation(order, t):
    """P of A = P @ L @ U."""
    rows = nb.arange(order.shape[-1])
    return as_dtype(rows[:, None] == order[..., None, :], t)


def _order_of(pivots, m):
    """The order of rows that pivots leave."""
    flat = nb.reshape(pivots, (-1, pivots.shape[-1]))
    each = nb.arange(flat.shape[0])
    order = nb.zeros((flat.shape[0], m), int) + nb.arange(m)
    for k in range(flat.shape[1]):
        with_row = as_dtype(flat[:, k], numpy.dtype("i8")) - 1
        own = order[each, with_row]
        order[each, with_row] = order[:, k].copy()
        order[:, k] = own
    return nb.reshape(order, (*pivots.shape[:-1], m))


@tensor_function
def lu(A, *, pivot=True):
    """P, L and U of A = P @ L @ U; without `pivot` P is empty."""
    _matrices("lu", A)
    order, _, made = _order_and_factors(A, pivot)
    low, up = _parts(made)
    return _LU(_permutation(order, A.dtype) if pivot else nb.zeros((0,), A.dtype), low, up)


@method("lu_factor")
@tensor_function
def lu_factor(A, *, pivot=True):
    """L and U in one matrix, and the rows that were exchanged, counted from 1."""
    _matrices("lu_factor", A)
    return _COMPACT(*_factors("lu_factor", A, pivot, True)[:2])


def _factors(op, a, pivot, check):
    _, pivots, made = _order_and_factors(a, pivot)
    zero = nb.diagonal(nb.stop_gradient(made), axis1=-2, axis2=-1) == 0
    info = nb.asarray(nb.where(nb.any(zero, axis=-1), nb.argmax(zero, axis=-1) + 1, 0))
    if check and bool(nb.any(info != 0)):
        raise RuntimeError(
            message(op, "a matrix is singular: a pivot is zero (counted from 1; 0: none)",
                    info.tolist(), "none")
        )  # fmt: skip
    return made, as_dtype(pivots, _dtypes.int32.numpy), as_dtype(info, _dtypes.int32.numpy)


@tensor_function
def lu_factor_ex(A, *, pivot=True, check_errors=False):
    """`lu_factor`, and which pivot is the first that is zero, counted from 1 (0: none)."""
    _matrices("lu_factor_ex", A)
    return _COMPACT_INFO(*_factors("lu_factor_ex", A, pivot, check_errors))


@method("lu")
@tensor_function
def _older_lu(A, pivot=True, get_infos=False):
    """`linalg.lu_factor` without an error for singular matrices: the older form."""
    _matrices("lu", A)
    found = _factors("lu", A, pivot, False)
    return found if get_infos else found[:2]


def _solved_by(lu, pivots, b, left, adjoint):
    low, up = _parts(lu)
    p = _permutation(_order_of(pivots, lu.shape[-1]), lu.dtype)
    # A = p @ low @ up; from the right it is the equation of the transposes.
    if not left:
        turned = nb.swapaxes(b, -1, -2)
        return nb.swapaxes(_solved_by_transposed(p, low, up, turned, adjoint), -1, -2)
    if adjoint:
        return p @ _by_triangle(adjoint_of(low), _by_triangle(adjoint_of(up), b, False), True)
    return _by_triangle(up, _by_triangle(low, nb.swapaxes(p, -1, -2) @ b, False), True)


def _solved_by_transposed(p, low, up, b, adjoint):
    if adjoint:  # X @ conj(A).T = B
        conj = nb.conj if kind_of(b.dtype) == "c" else (lambda x: x)
        inner = _by_triangle(conj(low), nb.swapaxes(p, -1, -2) @ b, False)
        return _by_triangle(conj(up), inner, True)
    inner = _by_triangle(nb.swapaxes(up, -1, -2), b, False)
    return p @ _by_triangle(nb.swapaxes(low, -1, -2), inner, True)


@tensor_function
def _lu_solve(LU, pivots, B, *, left=True, adjoint=False):
    """X of A @ X = B, or of X @ A = B, by the factors of A; adjoint: by those of A's adjoint."""
    _matrices("lu_solve", LU, square=True)
    _matrices("lu_solve", B)
    _of_one_dtype("lu_solve", LU, B)
    if pivots.dtype != _dtypes.int32.numpy:
        raise RuntimeError(message("lu_solve", "dtype of the pivots", pivots.dtype, "int32"))
    return _solved_by(LU, pivots, B, left, adjoint)


_lu_solve.__name__ = _lu_solve.__qualname__ = "lu_solve"


def lu_solve(b, LU_data, LU_pivots):
    """`linalg.lu_solve` in the older order of arguments."""
    return _lu_solve(LU_data, LU_pivots, b)


Tensor.lu_solve = lu_solve


@tensor_function
def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True):
    """P, L and U of what `lu_factor` gives; what is not asked for is empty."""
    empty = nb.zeros((0,), LU_data.dtype)
    low, up = _parts(LU_data) if unpack_data else (empty, empty)
    if not unpack_pivots:
        return _UNPACKED(empty, low, up)
    order = _order_of(LU_pivots, LU_data.shape[-2])
    return _UNPACKED(_permutation(order, LU_data.dtype), low, up)


# Least squares, rank, exponentials


def cut_of(op, a, values, atol, rtol, rcond=None):
    """What singular values have to be larger than."""
    eps = float(numpy.finfo(a.dtype).eps)
    if rcond is not None:
        if atol is not None or rtol is not None:
            raise RuntimeError(message(op, "two tolerances", "rcond and rtol", "one of them"))
        rtol = rcond
    if rtol is None:
        rtol = eps * max(a.shape[-2:])
        if getattr(atol, "ndim", 0):
            rtol = nb.where(atol > 0, 0.0, rtol)
        elif atol is not None and float(atol) > 0:
            rtol = 0.0
    largest = nb.max(values, axis=-1, keepdims=True) if values.shape[-1] else 0.0
    relative = (rtol[..., None] if getattr(rtol, "ndim", 0) else rtol) * largest
    if atol is None:
        return relative
    return nb.maximum(relative, atol[..., None] if getattr(atol, "ndim", 0) else atol)


@tensor_function
def matrix_rank(A, *, atol=None, rtol=None, hermitian=False, tol=None):
    """How many singular values are larger than the tolerance."""
    _matrices("matrix_rank", A)
    a = nb.stop_gradient(A)
    values = nb.abs(nb.linalg.eigvalsh(a)) if hermitian else nb.linalg.svd(a, compute_uv=False)
    cut = tol if tol is not None else cut_of("matrix_rank", a, values, atol, rtol)
    cut = cut[..., None] if tol is not None and getattr(cut, "ndim", 0) else cut
    return nb.asarray(nb.sum(values > cut, axis=-1))


@tensor_function
@linalg_errors
def lstsq(A, B, rcond=None, *, driver=None):
    """The solution of least squares, residuals, rank and singular values, as the driver has them.

    `gels`, the default on GPUs, takes matrices of full rank only; `gelsy` (the default), `gelsd`
    and `gelss` take all.
    """
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError(
            message("lstsq", "unknown driver", driver, "'gels', 'gelsy', 'gelsd' or 'gelss'")
        )
    _matrices("lstsq", A)
    _of_one_dtype("lstsq", A, B)
    line = B.ndim == 1 or (A.ndim - 1 == B.ndim and B.shape == A.shape[:-1])
    b = B[..., None] if line else B
    m, n = A.shape[-2:]
    u, s, vh = nb.linalg.svd(A, full_matrices=False)
    eps = float(numpy.finfo(A.dtype).eps)
    cut = (eps * max(m, n) if rcond is None else rcond) * nb.stop_gradient(s[..., :1])
    kept = nb.stop_gradient(s) > cut
    inverse = nb.where(kept, 1 / nb.where(kept, s, 1), nb.zeros((), s.dtype))
    if derivatives.watched([A]):
        inverse_of = nb.linalg.pinv(A, eps * max(m, n) if rcond is None else rcond)
        x = inverse_of @ b  # singular vectors have no derivatives where values are equal
    else:
        x = adjoint_of(vh) @ (as_dtype(inverse, A.dtype)[..., None] * (adjoint_of(u) @ b))
    rank = nb.sum(kept, axis=-1)
    if driver == "gels" and bool(nb.any(rank < min(m, n))):
        raise LinAlgError(
            message("lstsq", "rank of a matrix", nb.asarray(rank).tolist(), f"{min(m, n)} by gels")
        )
    empty = nb.zeros((0,), s.dtype)
    full = m > n and bool(nb.all(rank == n)) and driver != "gelsy" and driver is not None
    residuals = nb.sum(nb.square(nb.abs(A @ x - b)), axis=-2) if full else empty
    return _LSTSQ(
        x[..., 0] if line else x,
        residuals,
        nb.zeros((0,), int) if driver == "gels" else nb.asarray(rank),
        s if driver in ("gelsd", "gelss") else empty,
    )


@method()
@tensor_function
def matrix_exp(A):
    """The exponential of matrices, by squaring that of a small part."""
    _matrices("matrix_exp", A, square=True)
    n = A.shape[-1]
    if n == 0 or A.size == 0:
        return A + nb.zeros((), A.dtype)
    largest = nb.asarray(nb.max(nb.sum(nb.abs(nb.stop_gradient(A)), axis=-2), axis=-1))
    norms = largest.to_numpy().astype("f8")
    norms = numpy.where(norms < 1e300, numpy.maximum(norms, 1e-30), 1e-30)
    squarings = numpy.maximum(0, numpy.ceil(numpy.log2(norms)).astype(int) + 1)  # of each matrix
    squarings = squarings[..., None, None]
    each = _core.beside(nb.asarray(squarings), A._device)
    small = A / _core.beside(nb.asarray((2.0**squarings).astype(A.dtype)), A._device)
    one = nb.eye(n, dtype=A.dtype)
    total = one + nb.zeros((), A.dtype)
    for k in range(18, 0, -1):  # Horner's scheme of the series: terms below 2^-18 / 18!
        total = one + (small @ total) / A.dtype.type(k)
    for k in range(int(numpy.max(squarings))):
        total = nb.where(each > k, total @ total, total)
    return total


@tensor_function
@linalg_errors
def cond(A, p=None):
    """The condition number: the product of the norms of a matrix and its inverse."""
    _matrices("cond", A)
    if p in (None, 2, -2):
        s = nb.linalg.svd(A, compute_uv=False)
        return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    try:
        inverse = nb.linalg.inv(A)
    except nb.linalg.LinAlgError:  # a singular one among them
        if A.ndim == 2:
            return nb.asarray(numpy.inf, A.real.dtype)
        each = [cond.on_arrays(a, p) for a in A.reshape(-1, *A.shape[-2:])]
        return nb.stack(each).reshape(A.shape[:-2])
    norm = functools.partial(nb.linalg.norm, ord=p, axis=(-2, -1))
    return norm(A) * norm(inverse)


@tensor_function
def multi_dot(tensors):
    """The product of several matrices in the order that needs the least work."""
    parts = list(tensors)
    if len(parts) < 2:
        raise RuntimeError(message("multi_dot", "too few tensors", len(parts), "at least 2"))
    return nb.linalg.multi_dot(parts)


def chain_matmul(*matrices):
    """`linalg.multi_dot` of its arguments."""
    return multi_dot(matrices) if len(matrices) > 1 else matrices[0]


@tensor_function
def vecdot(x, y, *, dim=-1):
    """The sums of conj(x) * y along a dimension."""
    return nb.sum((nb.conj(x) if kind_of(x.dtype) == "c" else x) * y, axis=dim)


@tensor_function
def diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """The diagonal of matrices, a view."""
    return writable_diagonal(A, offset, dim1, dim2)


@tensor_function
def tensorinv(A, ind=2):
    """The inverse of a tensor whose first `ind` dimensions count the rows."""
    rows = int(numpy.prod(A.shape[:ind]))
    return nb.reshape(nb.linalg.inv(nb.reshape(A, (rows, -1))), (*A.shape[ind:], *A.shape[:ind]))


@tensor_function
def tensorsolve(A, B, dims=None):
    """X of the equation whose matrix is a tensor."""
    if dims is not None:
        dims = [d % A.ndim for d in dims]
        A = nb.transpose(A, [k for k in range(A.ndim) if k not in dims] + list(dims))
    shape = A.shape[B.ndim :]
    x = nb.linalg.solve(nb.reshape(A, (B.size, -1)), nb.reshape(B, (-1, 1)))
    return nb.reshape(x, shape)
