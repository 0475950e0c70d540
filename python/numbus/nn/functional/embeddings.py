"""Rows of a matrix by their numbers, and numbers as rows of 0 and 1."""

from ...core.errors import message
from ...functions import names as np
from ...tensors import no_grad, tensor_function
from ._shared import constant, floating, indices, whole
from .normalisation import norm_along

__all__ = ["embedding", "one_hot"]


def embedding(
    input,
    weight,
    padding_idx=None,
    max_norm=None,
    norm_type=2.0,
    scale_grad_by_freq=False,
    sparse=False,
):
    """weight[input]; input: integers of any shape, weight: (rows, columns).

    padding_idx: the row that gets no derivative; max_norm: rows that are asked for and longer than
    that, by the `norm_type`-norm, are shortened to it in place. Raises IndexError, when the result
    is read, for numbers that are not in [0, rows); NotImplementedError for scale_grad_by_freq and
    sparse.
    """
    if scale_grad_by_freq or sparse:
        name = "sparse" if sparse else "scale_grad_by_freq"
        raise NotImplementedError(message("embedding", f"{name} is not there yet", True, False))
    if max_norm is not None:
        with no_grad():
            _shorten(input, weight, max_norm, norm_type)
    return _rows(input, weight, padding_idx)


@tensor_function
def _rows(input, weight, padding_idx):
    t, w = _operands(input, weight)
    if padding_idx is not None:
        rows = w.shape[0]
        if not -rows <= padding_idx < rows:
            raise ValueError(
                message("embedding", "padding_idx is no row", padding_idx, f"{-rows} to {rows - 1}")
            )
        padding_idx %= rows
    found = w[t.reshape(-1)].reshape((*t.shape, w.shape[1]))
    if padding_idx is None:
        return found
    return np.where((t == padding_idx)[..., None], constant(found), found)


def _operands(input, weight):
    """Numbers of rows, those that are none out of range, and the matrix."""
    t, w = whole("embedding", input, "input"), floating("embedding", weight, "weight")
    if w.ndim != 2:
        raise ValueError(message("embedding", "weight is no matrix", w.shape, "(rows, columns)"))
    return indices(t, w.shape[0]), w


@tensor_function
def _shorten(input, weight, longest, p):
    """Shortens the rows of the matrix that numbers name."""
    t, w = _operands(input, weight)
    plain = constant(w)
    asked = np.zeros((w.shape[0], 1), bool)
    asked[t.reshape(-1)] = True
    length = norm_along(plain, p, 1)
    scale = np.where(asked & (length > longest), longest / (length + 1e-7), 1.0)
    w[...] = plain * scale.astype(w.dtype)


@tensor_function
def one_hot(tensor, num_classes=-1):
    """int64 of 1 at the class that each integer names and 0 elsewhere: one more axis, the last.

    num_classes: -1 for as many as the largest integer asks for, which reads them. Raises ValueError
    for integers that are negative or no classes.
    """
    t = whole("one_hot", tensor, "classes")
    if t.size == 0:
        if num_classes <= 0:
            raise ValueError(message("one_hot", "no classes are named", "none", "num_classes"))
        return np.zeros(t.shape + (num_classes,), np.int64)
    low, high = int(np.min(t)), int(np.max(t))
    classes = high + 1 if num_classes == -1 else num_classes
    if low < 0 or high >= classes or classes < 1:
        raise ValueError(
            message("one_hot", "integers are no classes", f"{low} to {high}", f"0 to {classes - 1}")
        )
    return (t[..., None] == np.arange(classes)).astype(np.int64)
