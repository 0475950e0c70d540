"""Types for editors and checkers, made by tools/stubs.py: do not edit."""

from collections.abc import Sequence
from typing import Any, SupportsIndex

from numpy.typing import ArrayLike, DTypeLike
from . import ndarray
from numpy.linalg import LinAlgError as LinAlgError
def cholesky(a: ArrayLike, /, *, upper: Any = False) -> ndarray:
    """Cholesky decomposition."""
def cond(x: ArrayLike, p: Any = None) -> Any:
    """Compute the condition number of a matrix."""
def cross(x1: Any, x2: Any, /, *, axis: SupportsIndex | Sequence[SupportsIndex] | None = -1) -> Any:
    """Cross product of vectors of 3 components along `axis`."""
def det(a: ArrayLike) -> Any:
    """Compute the determinant of an array."""
def diagonal(x: ArrayLike, /, *, offset: Any = 0) -> Any:
    """Diagonals of the matrices in the last two axes."""
def eig(a: ArrayLike) -> Any:
    """Compute the eigenvalues and right eigenvectors of a square array."""
def eigh(a: ArrayLike, UPLO: Any = 'L') -> Any:
    """Return the eigenvalues and eigenvectors of a complex Hermitian
    (conjugate symmetric) or a real symmetric matrix."""
def eigvals(a: ArrayLike) -> Any:
    """Compute the eigenvalues of a general matrix."""
def eigvalsh(a: ArrayLike, UPLO: Any = 'L') -> Any:
    """Compute the eigenvalues of a complex Hermitian or real symmetric matrix."""
def inv(a: ArrayLike) -> ndarray:
    """Compute the inverse of a matrix."""
def lstsq(a: ArrayLike, b: ArrayLike, rcond: Any = None) -> Any:
    """Return the least-squares solution to a linear matrix equation."""
def matmul(x1: Any, x2: Any, /, out: Any = None, *, casting: Any = 'same_kind', order: Any = 'K', dtype: DTypeLike | None = None, subok: Any = True, axes: Any = ..., axis: SupportsIndex | Sequence[SupportsIndex] | None = ..., keepdims: bool = ..., signature: Any = ..., sig: Any = ...) -> Any:
    """Matrix product; stacks of matrices broadcast, 1-D operands are a row on the left, a column on
    the right."""
def matrix_norm(x: ArrayLike, /, *, keepdims: bool = False, ord: Any = 'fro') -> Any:
    """Norm of the matrices in the last two axes."""
def matrix_power(a: ArrayLike, n: Any) -> Any:
    """Each square matrix multiplied by itself to the power of the integer `n`; below zero its
    inverse."""
def matrix_rank(A: Any, tol: Any = None, hermitian: Any = False, *, rtol: Any = None) -> Any:
    """Number of singular values above `tol`, or `rtol` times the largest one, for each matrix; of
    a vector whether it is not zero."""
def matrix_transpose(x: ArrayLike, /) -> ndarray:
    """`x` with its last two axes exchanged: a view. ValueError for fewer than two axes."""
def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    """The product of two or more matrices (the first and the last may be vectors), in the order
    that takes the fewest multiplications."""
def norm(x: ArrayLike, ord: Any = None, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, keepdims: bool = False) -> Any:
    """Norm of a vector or matrix, or of those along one or two axes."""
def outer(x1: Any, x2: Any, /) -> ndarray:
    """The products of each element of one vector with each of another. Raises ValueError for arrays
    of more dimensions or fewer."""
def pinv(a: ArrayLike, rcond: Any = None, hermitian: Any = False, *, rtol: Any = ...) -> ndarray:
    """Moore and Penrose's inverse of each matrix, without the singular values below `rcond` (or
    `rtol`, where None means a limit by extents and type; else 1e-15) times the largest one."""
def qr(a: ArrayLike, mode: Any = 'reduced') -> Any:
    """Compute the qr factorization of a matrix."""
def slogdet(a: ArrayLike) -> Any:
    """Compute the sign and (natural) logarithm of the determinant of an array."""
def solve(a: ArrayLike, b: ArrayLike) -> Any:
    """Solve a linear matrix equation, or system of linear scalar equations."""
def svd(a: ArrayLike, full_matrices: Any = True, compute_uv: Any = True, hermitian: Any = False) -> Any:
    """Singular Value Decomposition."""
def svdvals(x: ArrayLike, /) -> Any:
    """Returns the singular values of a matrix (or a stack of matrices) ``x``.
    When x is a stack of matrices, the function will compute the singular
    values for each matrix in the stack."""
def tensordot(a: ArrayLike, b: ArrayLike, axes: Any = 2) -> Any:
    """Sum of products over pairs of axes: `axes` is a number of inner axes or two sequences of
    axes."""
def tensorinv(a: ArrayLike, ind: Any = 2) -> Any:
    """The inverse of `a` as a map from its last axes to its first `ind` ones."""
def tensorsolve(a: ArrayLike, b: ArrayLike, axes: Any = None) -> Any:
    """x with tensordot(a, x, x.ndim) == b; `axes` of `a` are moved to its end first."""
def trace(x: ArrayLike, /, *, offset: Any = 0, dtype: DTypeLike | None = None) -> Any:
    """Sums along the diagonals of the matrices in the last two axes."""
def vecdot(x1: Any, x2: Any, /, out: Any = None, *, casting: Any = 'same_kind', order: Any = 'K', dtype: DTypeLike | None = None, subok: Any = True, axes: Any = ..., axis: SupportsIndex | Sequence[SupportsIndex] | None = ..., keepdims: bool = ..., signature: Any = ..., sig: Any = ...) -> Any:
    """Sum of products along one axis, the first operand conjugated; other axes broadcast."""
def vector_norm(x: ArrayLike, /, *, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """Norm of vectors along `axis` (int, tuple, None for all elements)."""
