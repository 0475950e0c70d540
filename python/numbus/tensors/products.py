"""Products and linear algebra."""

import functools

import numpy

import numbus as nb

from ..core import derivatives
from ..core.errors import message
from . import _dtypes
from ._arrays import as_dtype, no_out, together
from ._functions import in_place, method, named_results, pure_function, tensor_function
from ._tensor import Tensor
from .factors import adjoint_of, cut_of, linalg_errors
from .pointwise import with_array


def _same(op, *arrays):
    first = arrays[0].dtype
    for a in arrays[1:]:
        if a.dtype != first:
            raise RuntimeError(
                message(op, "operands of different dtypes", [str(x.dtype) for x in arrays],
                        "one dtype")
            )  # fmt: skip


def _fitting(op, x, y, k, j):
    if x.shape[k] != y.shape[j]:
        raise RuntimeError(
            message(op, "shapes cannot be multiplied", f"{list(x.shape)} and {list(y.shape)}",
                    "as many columns as rows")
        )  # fmt: skip


def _matmul(x, y):
    _same("matmul", x, y)
    if x.ndim == 0 or y.ndim == 0:
        raise RuntimeError(
            message("matmul", "a number", f"{x.ndim} and {y.ndim} dimensions", "at least 1")
        )
    _fitting("matmul", x, y, -1, -2 if y.ndim > 1 else -1)
    return nb.matmul(x, y)


@method()
@pure_function
def matmul(input, other, *, out=None):
    """The product of matrices, of stacks of them, or of lines."""
    no_out("matmul", out)
    return _matmul(input, other)


def _of_dims(op, dims, *operands):
    for a, n in zip(operands, dims, strict=True):
        if a.ndim != n:
            raise RuntimeError(
                message(op, "another number of dimensions",
                        " and ".join([str(a.ndim) for a in operands]), f"{dims[0]} and {dims[1]}")
            )  # fmt: skip
    return _matmul(*operands)


@pure_function
def mm(input, mat2, *, out=None):
    """The product of two matrices."""
    no_out("mm", out)
    return _of_dims("mm", (2, 2), input, mat2)


@pure_function
def bmm(input, mat2, *, out=None):
    """The products of matrices in two stacks."""
    no_out("bmm", out)
    return _of_dims("bmm", (3, 3), input, mat2)


@pure_function
def mv(input, vec, *, out=None):
    """The product of a matrix and a line."""
    no_out("mv", out)
    return _of_dims("mv", (2, 1), input, vec)


@pure_function
def dot(input, tensor, *, out=None):
    """The sum of the products of two lines."""
    no_out("dot", out)
    return _of_dims("dot", (1, 1), input, tensor)


@tensor_function
def inner(input, other):
    """The sum of products along the last dimension of both."""
    return nb.inner(input, other)


for _function, _name in ((mm, "mm"), (bmm, "bmm"), (mv, "mv"), (dot, "dot"), (inner, "inner")):
    setattr(Tensor, _name, _function)
Tensor.__matmul__ = lambda self, other: (
    matmul(self, other) if isinstance(other, Tensor) else with_array("matmul", self, other)
)


@method("outer", "ger")
@tensor_function
def outer(input, vec2):
    """The products of all pairs of elements of two lines."""
    if input.ndim != 1 or vec2.ndim != 1:
        raise RuntimeError(
            message("outer", "an operand that is no line", f"{input.shape} and {vec2.shape}",
                    "one dimension each")
        )  # fmt: skip
    return nb.outer(*together(input, vec2))


@pure_function
def einsum(equation, *operands):
    """Sums of products by Einstein's convention."""
    if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
        operands = operands[0]
    return nb.einsum(equation, *operands)


@tensor_function
def tensordot(a, b, dims=2):
    """Sums of products over dimensions of both."""
    return nb.tensordot(a, b, dims)


@tensor_function
def kron(input, other):
    """The Kronecker product."""
    return as_dtype(nb.kron(input, other), _dtypes.common([input, other]))


def _sum_of(beta, x, alpha, y):
    t = y.dtype
    if t.kind in "iu":  # numbers are taken as integers, as PyTorch does
        beta, alpha = int(beta), int(alpha)
    y = y if alpha == 1 else as_dtype(alpha * y, t)
    return y if beta == 0 else (x if beta == 1 else as_dtype(beta * x, t)) + y


@method()
@pure_function
def addmm(input, mat1, mat2, *, beta=1, alpha=1):
    """beta * input + alpha * mat1 @ mat2."""
    return _sum_of(beta, input, alpha, _matmul(mat1, mat2))


@method()
@pure_function
def baddbmm(input, batch1, batch2, *, beta=1, alpha=1):
    """beta * input + alpha * batch1 @ batch2."""
    return _sum_of(beta, input, alpha, _matmul(batch1, batch2))


@method()
@pure_function
def addbmm(input, batch1, batch2, *, beta=1, alpha=1):
    """beta * input + alpha * the sum of batch1 @ batch2 over the stack."""
    if batch1.ndim != 3 or batch2.ndim != 3 or batch1.shape[0] != batch2.shape[0]:
        raise RuntimeError(
            message("addbmm", "no stacks of matrices of one length",
                    (batch1.shape, batch2.shape), "(n, i, k) and (n, k, j)")
        )  # fmt: skip
    return _sum_of(beta, input, alpha, nb.sum(_matmul(batch1, batch2), axis=0))


@method()
@pure_function
def addmv(input, mat, vec, *, beta=1, alpha=1):
    """beta * input + alpha * mat @ vec."""
    return _sum_of(beta, input, alpha, _matmul(mat, vec))


def _addmm_in_place(a, mat1, mat2, *, beta=1, alpha=1):
    """beta * input + alpha * mat1 @ mat2. In place."""
    a[...] = _sum_of(beta, a, alpha, _matmul(mat1, mat2))


def _addbmm_in_place(a, batch1, batch2, *, beta=1, alpha=1):
    """beta * input + alpha * the sum of batch1 @ batch2 over the stack. In place."""
    a[...] = addbmm(a, batch1, batch2, beta=beta, alpha=alpha)


def _baddbmm_in_place(a, batch1, batch2, *, beta=1, alpha=1):
    """beta * input + alpha * batch1 @ batch2. In place."""
    a[...] = _sum_of(beta, a, alpha, _matmul(batch1, batch2))


def _addmv_in_place(a, mat, vec, *, beta=1, alpha=1):
    """beta * input + alpha * mat @ vec. In place."""
    a[...] = _sum_of(beta, a, alpha, _matmul(mat, vec))


Tensor.addmm_ = in_place(_addmm_in_place)
Tensor.baddbmm_ = in_place(_baddbmm_in_place)
Tensor.addmv_ = in_place(_addmv_in_place)
Tensor.addbmm_ = in_place(_addbmm_in_place)


@method()
@tensor_function
def cross(input, other, dim=-1):
    """The vector product along a dimension of three elements."""
    return nb.cross(input, other, axis=dim)


# torch.linalg


@method("inverse")
@tensor_function
@linalg_errors
def inv(A):
    """The inverse of matrices."""
    return nb.linalg.inv(A)


inverse = inv


@method("det")
@tensor_function
def det(A):
    """The determinant of matrices."""
    return nb.linalg.det(A)


@tensor_function
@linalg_errors
def solve(A, B, *, left=True):
    """X of A @ X = B, or of X @ A = B unless `left`."""
    _same("solve", A, B)
    if not left:
        return nb.swapaxes(nb.linalg.solve(nb.swapaxes(A, -1, -2), nb.swapaxes(B, -1, -2)), -1, -2)
    if B.ndim == 1 or (B.ndim == A.ndim - 1 and B.shape == A.shape[:-1]):
        return nb.squeeze(nb.linalg.solve(A, B[..., None]), axis=-1)
    return nb.linalg.solve(A, B)


@method("cholesky")
@tensor_function
@linalg_errors
def cholesky(A, *, upper=False):
    """The Cholesky factor."""
    return nb.linalg.cholesky(A, upper=upper)


_QR = named_results("qr", ["Q", "R"])
_SVD = named_results("svd", ["U", "S", "V"])
_EIGH = named_results("linalg_eigh", ["eigenvalues", "eigenvectors"])
_EIG = named_results("linalg_eig", ["eigenvalues", "eigenvectors"])
_SLOGDET = named_results("linalg_slogdet", ["sign", "logabsdet"])


@tensor_function
@linalg_errors
def qr(input, some=True):
    """The QR factorisation; `some`: of as many columns as a matrix has at most."""
    return _QR(*nb.linalg.qr(input, "reduced" if some else "complete"))


@tensor_function
@linalg_errors
def svd(input, some=True, compute_uv=True):
    """The singular value decomposition U, S, V, without the conjugate transposition of V that
    `linalg.svd` gives; without `compute_uv` U and V are zeros.
    """
    if not compute_uv:
        s = nb.linalg.svd(input, compute_uv=False)
        rows, columns = input.shape[-2:]
        u, v = (nb.zeros((*input.shape[:-2], n, n), dtype=input.dtype) for n in (rows, columns))
        return _SVD(u, s, v)
    u, s, vh = nb.linalg.svd(input, not some)
    return _SVD(u, s, adjoint_of(vh))


@tensor_function
@linalg_errors
def svdvals(A):
    """The singular values, the largest first."""
    return nb.linalg.svd(A, compute_uv=False)


@tensor_function
@linalg_errors
def eigh(A, UPLO="L"):
    """Eigenvalues and eigenvectors of symmetric matrices."""
    return _EIGH(*nb.linalg.eigh(A, UPLO))


@tensor_function
@linalg_errors
def eigvalsh(A, UPLO="L"):
    """Eigenvalues of symmetric matrices."""
    return nb.linalg.eigvalsh(A, UPLO)


def _complex(a):
    return as_dtype(a, numpy.result_type(a.dtype, numpy.complex64))


@tensor_function
@linalg_errors
def eig(A):
    """Complex eigenvalues and eigenvectors of square matrices."""
    return _EIG(*[_complex(a) for a in nb.linalg.eig(A)])


@tensor_function
@linalg_errors
def eigvals(A):
    """Complex eigenvalues of square matrices."""
    return _complex(nb.linalg.eigvals(A))


@tensor_function
def slogdet(A):
    """The sign and the logarithm of the magnitude of the determinant."""
    return _SLOGDET(*nb.linalg.slogdet(A))


@method("pinverse")
@tensor_function
@linalg_errors
def pinv(A, rcond=None, hermitian=False, *, atol=None, rtol=None):
    """The pseudoinverse; singular values count where they are larger than max(atol, rtol * s)."""
    if atol is None and rtol is None and not hermitian and not hasattr(rcond, "dtype"):
        return nb.linalg.pinv(A) if rcond is None else nb.linalg.pinv(A, rcond)
    if derivatives.watched([A]):
        whole = functools.partial(_pinv, rcond=rcond, hermitian=hermitian, atol=atol, rtol=rtol)
        return derivatives.apply("linalg.pinv", whole, (A,), {})
    return _pinv(A, rcond, hermitian, atol, rtol)


def _pinv(A, rcond, hermitian, atol, rtol):
    if hermitian:
        values, vectors = nb.linalg.eigh(A)
        u = v = vectors
        size = nb.abs(values)
    else:
        u, values, vh = nb.linalg.svd(A, full_matrices=False)
        v, size = adjoint_of(vh), values
    kept = size > cut_of("pinv", A, size, atol, rtol, rcond)
    inverse = nb.where(kept, 1 / nb.where(kept, values, 1), nb.zeros((), values.dtype))
    return (v * as_dtype(inverse, A.dtype)[..., None, :]) @ adjoint_of(u)


pinverse = pinv


@tensor_function
def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    """A norm of matrices. RuntimeError for orders that matrices have not."""
    if ord not in ("fro", "nuc", numpy.inf, -numpy.inf, 1, -1, 2, -2):
        raise RuntimeError(
            message("matrix_norm", "order", ord, "'fro', 'nuc', inf, -inf, 1, -1, 2 or -2")
        )
    if ord == "fro":
        from .reductions import norm

        return norm.on_arrays(A, 2, tuple(dim), keepdim, dtype)
    A = A if dtype is None else as_dtype(A, _dtypes.to_numpy(dtype))
    return nb.linalg.norm(A, ord, axis=tuple(dim), keepdims=keepdim)


@tensor_function
def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None):
    """A norm of lines. RuntimeError for an order that is no number."""
    from .reductions import norm

    if not isinstance(ord, (int, float)):
        raise RuntimeError(message("vector_norm", "order", ord, "a number"))
    return norm.on_arrays(x, ord, dim, keepdim, dtype)


@tensor_function
def matrix_power(A, n):
    """A matrix to a whole power."""
    return nb.linalg.matrix_power(A, n)
