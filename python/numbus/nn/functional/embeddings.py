"""Rows of a matrix by their numbers, and numbers as rows of 0 and 1."""

import numpy

from ...core.errors import message
from ...functions import names as np
from ...tensors import no_grad, pure_function
from ._shared import constant, floating, indices, whole
from .normalisation import norm_along

__all__ = ["embedding", "embedding_bag", "one_hot"]


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


@pure_function
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


@pure_function
def _shorten(input, weight, longest, p):
    """Shortens the rows of the matrix that numbers name."""
    t, w = _operands(input, weight)
    plain = constant(w)
    asked = np.zeros((w.shape[0], 1), bool)
    asked[t.reshape(-1)] = True
    length = norm_along(plain, p, 1)
    scale = np.where(asked & (length > longest), longest / (length + 1e-7), 1.0)
    w[...] = plain * scale.astype(w.dtype)


def embedding_bag(
    input,
    weight,
    offsets=None,
    max_norm=None,
    norm_type=2.0,
    scale_grad_by_freq=False,
    mode="mean",
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
):
    """Sums, means or largest elements of rows of a matrix: (bags, columns).

    input: integers (bags, n), or all bags one after another with `offsets`, where each begins (and,
    with include_last_offset, where the last one ends); mode: 'sum', 'mean' or 'max'; a bag without
    rows gives 0; per_sample_weights: a factor of each row, for 'sum'; padding_idx: a row that does
    not count. Other arguments as of embedding(). Raises ValueError for offsets and weights that do
    not fit.
    """
    op = "embedding_bag"
    if scale_grad_by_freq or sparse:
        name = "sparse" if sparse else "scale_grad_by_freq"
        raise NotImplementedError(message(op, f"{name} is not there yet", True, False))
    if mode not in ("sum", "mean", "max"):
        raise ValueError(message(op, "mode", mode, "'sum', 'mean' or 'max'"))
    if per_sample_weights is not None:
        if mode != "sum":
            raise NotImplementedError(message(op, "per_sample_weights with mode", mode, "'sum'"))
        if tuple(per_sample_weights.shape) != tuple(input.shape):
            raise ValueError(
                message(op, "per_sample_weights do not fit", tuple(per_sample_weights.shape),
                        tuple(input.shape))
            )  # fmt: skip
    places = _bags(op, input, offsets, include_last_offset)
    if max_norm is not None:
        with no_grad():
            _shorten(input, weight, max_norm, norm_type)
    return _bagged(input, weight, places, mode, per_sample_weights, padding_idx)


def _bags(op, input, offsets, ended):
    """(bags, n): which elements of the line of input are in each bag, -1 for none."""
    if input.ndim == 2:
        if offsets is not None:
            raise ValueError(message(op, "offsets with input of two axes", "both", "offsets=None"))
        return numpy.arange(input.shape[0] * input.shape[1]).reshape(tuple(input.shape))
    if input.ndim != 1 or offsets is None:
        raise ValueError(message(op, "input", tuple(input.shape), "(bags, n), or (n,) and offsets"))
    edges = numpy.asarray(offsets.tolist(), int)
    total = input.shape[0]
    if not ended:
        edges = numpy.append(edges, total)
    if edges.size < 1 or edges[0] != 0 or (numpy.diff(edges) < 0).any() or edges[-1] > total:
        raise ValueError(message(op, "offsets", edges.tolist(), f"rising from 0 to {total}"))
    sizes = numpy.diff(edges)
    along = numpy.arange(max(sizes.max(initial=0), 1))
    return numpy.where(along < sizes[:, None], edges[:-1, None] + along, -1)


@pure_function
def _bagged(input, weight, places, mode, factors, padding_idx):
    t, w = _operands(input, weight)
    bags, columns = places.shape[0], w.shape[1]
    if t.size == 0:
        return np.zeros((bags, columns), w.dtype)
    at = np.array(numpy.maximum(places, 0))
    named = t.reshape(-1)[at]
    counts = np.array(places >= 0)
    if padding_idx is not None:
        counts = counts & (named != padding_idx % w.shape[0])
    rows = w[named.reshape(-1)].reshape((*places.shape, columns))
    if factors is not None:
        rows = rows * factors.reshape(-1)[at][..., None]
    zero = w.dtype.type(0)
    if mode == "max":
        most = np.max(np.where(counts[..., None], rows, w.dtype.type(-np.inf)), axis=1)
        return np.where(np.any(counts, axis=1)[:, None], most, zero)
    total = np.sum(np.where(counts[..., None], rows, zero), axis=1)
    if mode == "sum":
        return total
    return total / np.maximum(np.sum(counts, axis=1), 1).astype(w.dtype)[:, None]


@pure_function
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
