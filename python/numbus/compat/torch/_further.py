"""Further names of torch and of tensors: those of functions that stand elsewhere here, and older
ones.
"""

import importlib

from ... import tensors
from ...core.errors import message
from ...tensors import Tensor

NAMES = frozenset((
    "empty_strided", "frobenius_norm", "get_num_interop_threads", "igamma", "igammac",
    "is_inference", "is_neg", "lu", "nuclear_norm", "pca_lowrank", "resize_as_", "resolve_neg",
    "set_num_interop_threads", "svd_lowrank",
))  # fmt: skip


def _elsewhere(module, name):
    def function(input, *args, **keywords):
        return getattr(importlib.import_module(module), name)(input, *args, **keywords)

    function.__name__ = function.__qualname__ = name
    return function


def _special(name):
    return _elsewhere(f"{__package__}.special", name)


igamma, igammac = _special("gammainc"), _special("gammaincc")
Tensor.igamma, Tensor.igammac = igamma, igammac
Tensor.hardshrink = _elsewhere("numbus.nn.functional", "hardshrink")
Tensor.prelu = _elsewhere("numbus.nn.functional", "prelu")
Tensor.record_stream = lambda self, stream: None  # memory follows the work that uses it


def _new(self, *args, device=None):
    """A tensor of the same dtype: of sizes, with undefined numbers, or of data."""
    if len(args) == 1 and not isinstance(args[0], (int, tensors.Size)):
        return self.new_tensor(args[0], device=device)
    return self.new_empty(*args, device=device) if args else self.new_empty(0, device=device)


Tensor.new = _new


def resize_as_(input, the_template):
    """Has a tensor the sizes of another one."""
    return input.resize_as_(the_template)


def is_inference(input):
    """False: tensors of inference mode are such as others here."""
    return False


def is_neg(input):
    """False: signs are computed at once."""
    return False


def resolve_neg(input):
    """The tensor: signs are computed at once."""
    return input


def get_num_interop_threads():
    """1: work is queued one piece after another."""
    return 1


def set_num_interop_threads(number):
    """Raises RuntimeError for no positive number; results do not depend on it."""
    if number < 1:
        raise RuntimeError(message("set_num_interop_threads", "no positive number", number, "1"))


def empty_strided(size, stride, *, dtype=None, device=None, requires_grad=False):
    """A tensor of undefined numbers that lie at such steps in memory."""
    last = sum([(n - 1) * s for n, s in zip(size, stride, strict=True)]) + 1
    count = 0 if 0 in tuple(size) else last
    made = tensors.empty(count, dtype=dtype, device=device).as_strided(size, stride)
    return made.requires_grad_() if requires_grad else made


def frobenius_norm(input, dim, keepdim=False):
    """The root of the sum of squares of magnitudes."""
    return tensors.linalg.vector_norm(input, 2, dim, keepdim)


def nuclear_norm(input, dim=(-2, -1), keepdim=False):
    """The sum of the singular values."""
    return tensors.linalg.matrix_norm(input, "nuc", dim, keepdim)


def lu(A, pivot=True, get_infos=False):
    """The LU factorisation in one matrix, and the rows that were exchanged."""
    factors, pivots = tensors.linalg.lu_factor(A, pivot=pivot)
    if get_infos:
        shape = tuple(A.shape[:-2])
        return factors, pivots, tensors.zeros(shape, dtype=tensors.int32, device=A.device)
    return factors, pivots


def svd_lowrank(A, q=6, niter=2, M=None):
    """The q largest singular values with their vectors, of A - M: exact ones, whatever `niter`."""
    if niter < 0:
        raise ValueError(message("svd_lowrank", "niter is negative", niter, "0 or more"))
    u, s, vh = tensors.linalg.svd(A if M is None else A - M, full_matrices=False)
    return u[..., :q], s[..., :q], vh[..., :q, :].mH


def pca_lowrank(A, q=None, center=True, niter=2):
    """The main directions of rows, as `svd_lowrank` of A less the mean of each column."""
    rows, columns = A.shape[-2:]
    if q is None:
        q = min(6, rows, columns)
    elif not 0 <= q <= min(rows, columns):
        raise ValueError(
            message("pca_lowrank", "q is out of range", q, f"0 to {min(rows, columns)}")
        )
    mean = A.mean(dim=-2, keepdim=True) if center else None
    return svd_lowrank(A, q, niter, mean)
