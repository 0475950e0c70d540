"""What torch.linalg has under names that mean something else in torch: `norm` of matrices, the
decompositions' modes, `vander` by rising powers.
"""

import collections

import numbus as nb

from ..core.errors import message
from ._functions import tensor_function
from .factors import linalg_errors
from .products import matrix_norm, vector_norm

__all__ = ["norm", "qr", "svd", "vander"]

_QR = collections.namedtuple("qr", ["Q", "R"])
_SVD = collections.namedtuple("svd", ["U", "S", "Vh"])


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
