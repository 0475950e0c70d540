"""torch.distributions.utils: what distributions of a program's own use."""

import functools

from .... import tensors
from ....nn import functional
from .discrete import _inside as clamp_probs
from .distribution import together


def broadcast_all(*values):
    """Numbers and tensors as tensors of one shape."""
    if not all([isinstance(x, (int, float)) or tensors.is_tensor(x) for x in values]):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects implementing"
            " __torch_function__."
        )
    return together(*values)


def logits_to_probs(logits, is_binary=False):
    """Probabilities of logarithms; of log-odds where there are two outcomes."""
    return logits.sigmoid() if is_binary else functional.softmax(logits, dim=-1)


def probs_to_logits(probs, is_binary=False):
    """The inverse of `logits_to_probs`."""
    p = clamp_probs(probs)
    return p.log() - (-p).log1p() if is_binary else p.log()


class lazy_property:
    """A property that is computed once, with gradients, and kept in the object."""

    def __init__(self, wrapped):
        self.wrapped = wrapped
        functools.update_wrapper(self, wrapped)

    def __get__(self, instance, obj_type=None):
        if instance is None:
            return property(self.wrapped)
        with tensors.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


def vec_to_tril_matrix(vec, diag=0):
    """Vectors as the elements below a diagonal, row by row."""
    n = vec.shape[-1]
    size = (-(1 + 2 * diag) + ((1 + 2 * diag) ** 2 + 8 * n + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2
    if abs(size - round(size)) > tensors.finfo(vec.dtype).eps:
        raise ValueError(f"The size of last dimension is {n} which cannot be expressed as the"
                         " lower triangular part of a square D x D matrix.")  # fmt: skip
    size = round(size)
    made = vec.new_zeros((*vec.shape[:-1], size, size))
    rows, columns = tensors.tril_indices(size, size, diag)
    made[..., rows, columns] = vec
    return made


def tril_matrix_to_vec(mat, diag=0):
    """The inverse of `vec_to_tril_matrix`."""
    n = mat.shape[-1]
    if diag < -n or diag >= n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = tensors.tril_indices(n, n, diag)
    return mat[..., rows, columns]
