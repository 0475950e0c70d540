"""Losses by margins: of classes, of sets of classes, and of triplets by any distance."""

from ...core.dtypes import kind_of
from ...core.errors import message
from ...functions import names as np
from ...tensors import pure_function
from ._shared import array, floating, indices, reduced, reduction_of, whole
from .activations import log_logistic
from .losses import pairwise_distance

__all__ = [
    "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss",
    "triplet_margin_with_distance_loss",
]  # fmt: skip


def _rows(op, input, target, one):
    """(input with a batch, target with one, whether they had it); `one`: a class an example."""
    x, t = floating(op, input), whole(op, target, "target")
    expected = x.shape[: x.ndim - 1] if one else x.shape
    alone = one and x.ndim == 1 and t.shape == (1,)
    if x.ndim not in (1, 2) or (t.shape != expected and not alone):
        raise ValueError(
            message(op, "target does not fit the input", f"shapes {t.shape} and {x.shape}",
                    f"(C) or (N, C), and {'a class' if one else 'classes'} of each example")
        )  # fmt: skip
    if x.ndim == 2:
        return x, t, True
    return x[None], t.reshape((1,) if one else (1, -1)), False


@pure_function
def multi_margin_loss(
    input,
    target,
    p=1,
    margin=1.0,
    weight=None,
    size_average=None,
    reduce=None,
    reduction="mean",
):
    """The mean over other classes j of max(0, margin - input[target] + input[j])^p; the target's
    own class counts in the divisor.

    input: (C) or (N, C); p: 1 or 2; weight: of the targets' classes. ValueError for others, and
    IndexError, when the result is read, for targets that are no classes.
    """
    op = "multi_margin_loss"
    reduction = reduction_of(op, size_average, reduce, reduction)
    if p not in (1, 2):
        raise ValueError(message(op, "p", p, "1 or 2"))
    x, t, had_batch = _rows(op, input, target, True)
    classes = x.shape[1]
    t = indices(t, classes)
    own = np.arange(classes)[None, :] == t[:, None]
    chosen = x[np.arange(x.shape[0]), t][:, None]
    z = margin - chosen + x
    zero = x.dtype.type(0)
    z = np.where((z > 0) & ~own, z, zero)
    z = z * z if p == 2 else z
    if weight is not None:
        w = floating(op, weight, "weight")
        if w.shape != (classes,):
            raise ValueError(message(op, "weight is not one a class", w.shape, f"({classes},)"))
        z = z * w[t][:, None]
    loss = np.sum(z, axis=1) / classes
    return reduced(loss if had_batch else loss[0], reduction)


@pure_function
def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """The mean over classes i that are no targets, and the sum over targets j, of
    max(0, 1 - input[j] + input[i]).

    target: classes of each example of (C) or (N, C), up to the first -1. IndexError, when the
    result is read, for others.
    """
    op = "multilabel_margin_loss"
    reduction = reduction_of(op, size_average, reduce, reduction)
    x, t, had_batch = _rows(op, input, target, False)
    classes = x.shape[1]
    counts = np.cumsum(t < 0, axis=1) == 0
    t = np.where(counts, t, 0)
    rows = np.arange(x.shape[0])[:, None]
    chosen = x[rows, t]
    among = np.any((t[:, :, None] == np.arange(classes)) & counts[:, :, None], axis=1)
    z = 1 - chosen[:, :, None] + x[:, None, :]
    z = np.where((z > 0) & counts[:, :, None] & ~among[:, None, :], z, x.dtype.type(0))
    loss = np.sum(z, axis=(1, 2)) / classes
    return reduced(loss if had_batch else loss[0], reduction)


@pure_function
def multilabel_soft_margin_loss(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean"
):
    """The mean over classes of -t log(sigmoid(x)) - (1 - t) log(sigmoid(-x)); the last axis is that
    of classes, whose `weight` multiplies.
    """
    op = "multilabel_soft_margin_loss"
    reduction = reduction_of(op, size_average, reduce, reduction)
    x = floating(op, input)
    t = array(op, target, "target")
    t = t if kind_of(t.dtype) == "f" else t.astype(x.dtype)
    loss = -(t * log_logistic(x) + (1 - t) * log_logistic(-x))
    if weight is not None:
        loss = loss * array(op, weight, "weight")
    return reduced(np.mean(loss, axis=-1), reduction)


@pure_function
def _triplets(far, near, margin, reduction):
    d = margin + near - far
    return reduced(np.where(d < 0, d.dtype.type(0), d), reduction)


def triplet_margin_with_distance_loss(
    anchor,
    positive,
    negative,
    *,
    distance_function=None,
    margin=1.0,
    swap=False,
    reduction="mean",
):
    """max(0, d(anchor, positive) - d(anchor, negative) + margin) of a distance d, that of
    pairwise_distance() unless given; `swap`: d(positive, negative) where it is shorter than the
    second one. ValueError for a margin that is not positive.
    """
    op = "triplet_margin_with_distance_loss"
    reduction = reduction_of(op, None, None, reduction)
    if margin <= 0:
        raise ValueError(message(op, "margin", margin, "margin > 0"))
    d = pairwise_distance if distance_function is None else distance_function
    near, far = d(anchor, positive), d(anchor, negative)
    if swap:
        far = _smaller(far, d(positive, negative))
    return _triplets(far, near, margin, reduction)


@pure_function
def _smaller(a, b):
    return np.minimum(a, b)
