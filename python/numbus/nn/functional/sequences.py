"""The loss of sequences whose alignment with the input is not known (CTC)."""

import numpy

from ...core.errors import message
from ...functions import names as np
from ...tensors import Tensor, tensor_function
from ._shared import array, constant, floating, reduction_of

__all__ = ["ctc_loss"]

_NEVER = -1e30  # the logarithm of a chance of zero, which can be subtracted from itself


def _lengths(op, given, name, count):
    found = given.tolist() if isinstance(given, Tensor) else given
    found = [int(n) for n in numpy.asarray(found).reshape(-1)]
    if len(found) != count:
        raise ValueError(message(op, f"{name} is no length for each sequence", len(found), count))
    return numpy.array(found)


def ctc_loss(
    log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean",
    zero_infinity=False,
):  # fmt: skip
    """The negative logarithm of how likely the targets are, over all alignments with the input
    (Graves et al., 2006).

    log_probs: (T, N, C), logarithms of the chances of classes, or (T, C); targets: integers (N, S),
    or the sequences one after another; input_lengths, target_lengths: a length for each; blank: the
    class between others; reduction: 'none', 'sum', or 'mean', of losses divided by the lengths of
    their targets; zero_infinity: 0 where there is no alignment, instead of infinity.

    Derivatives are PyTorch's, which are by what log_softmax was given. Raises ValueError
    for lengths and classes that do not fit.
    """
    op = "ctc_loss"
    reduction = reduction_of(op, None, None, reduction)
    if log_probs.ndim not in (2, 3):
        raise ValueError(message(op, "log_probs", tuple(log_probs.shape), "(T, N, C) or (T, C)"))
    count = 1 if log_probs.ndim == 2 else log_probs.shape[1]
    steps = _lengths(op, input_lengths, "input_lengths", count)
    sizes = _lengths(op, target_lengths, "target_lengths", count)
    labels = numpy.asarray(targets.tolist() if isinstance(targets, Tensor) else targets, int)
    longest = int(sizes.max(initial=0))
    rows = numpy.zeros((count, longest), int)
    if labels.ndim == 2 or (log_probs.ndim == 2 and labels.ndim == 1):
        labels = labels.reshape(count, -1)
        if labels.shape[1] < longest:
            raise ValueError(message(op, "target_lengths", longest, f"up to {labels.shape[1]}"))
        for k, n in enumerate(sizes):
            rows[k, :n] = labels[k, :n]
    else:
        if labels.size != sizes.sum():
            raise ValueError(message(op, "targets", labels.size, f"{sizes.sum()} of all sequences"))
        for k, end in enumerate(numpy.cumsum(sizes)):
            rows[k, : sizes[k]] = labels.reshape(-1)[end - sizes[k] : end]
    classes = log_probs.shape[-1]
    if not 0 <= blank < classes or rows.min(initial=0) < 0 or rows.max(initial=0) >= classes:
        raise ValueError(message(op, "classes", f"blank {blank}", f"0 to {classes - 1}"))
    if steps.min() < 0 or steps.max() > log_probs.shape[0]:
        raise ValueError(message(op, "input_lengths", steps.tolist(), f"to {log_probs.shape[0]}"))
    loss = _losses(log_probs, rows, steps, sizes, blank, zero_infinity)
    if reduction == "mean":
        loss = _scaled(loss, numpy.maximum(sizes, 1))
        return loss.mean()
    if reduction == "sum":
        return loss.sum()
    return loss if log_probs.ndim == 3 else loss.reshape(())


@tensor_function
def _scaled(loss, sizes):
    return loss / np.array(sizes.astype(loss.dtype))


def _joined(*parts):
    """log(sum(exp(parts))), of which all may be _NEVER."""
    most = parts[0]
    for p in parts[1:]:
        most = np.maximum(most, p)
    total = np.exp(parts[0] - most)
    for p in parts[1:]:
        total = total + np.exp(p - most)
    return most + np.log(total)


@tensor_function
def _losses(log_probs, rows, steps, sizes, blank, zero_infinity):
    x = floating("ctc_loss", log_probs, "log_probs")
    x = x[:, None, :] if x.ndim == 2 else x
    count, kind = x.shape[1], x.dtype.type
    width = 2 * rows.shape[1] + 1
    states = numpy.full((count, width), blank)
    states[:, 1::2] = rows
    at = numpy.arange(width)
    skips = numpy.zeros((count, width), bool)  # from a class to another one, without the blank
    skips[:, 2:] = (states[:, 2:] != blank) & (states[:, 2:] != states[:, :-2])
    inside = at[None, :] < 2 * sizes[:, None] + 1
    index = np.array(numpy.arange(count)[:, None]), np.array(states)
    never = np.array(numpy.full((count, 2), _NEVER, x.dtype))
    skips, reached = np.array(skips), np.array(inside & (at < 2)[None, :])
    alpha = np.where(reached, x[0][index], kind(_NEVER))
    for t in range(1, x.shape[0]):
        one = np.concatenate([never[:, :1], alpha[:, :-1]], axis=1) if width > 1 else never[:, :1]
        joined = _joined(alpha, one)
        if width > 2:
            two = np.concatenate([never, alpha[:, :-2]], axis=1)
            joined = _joined(alpha, one, np.where(skips, two, kind(_NEVER)))
        after = np.maximum(joined + x[t][index], kind(_NEVER))
        alpha = np.where(np.array(steps > t)[:, None], after, alpha)
    last = (at[None, :] == 2 * sizes[:, None]) | (at[None, :] == 2 * sizes[:, None] - 1)
    ends = np.where(np.array(last), alpha, kind(_NEVER))
    most = np.max(ends, axis=1, keepdims=True)
    found = most[:, 0] + np.log(np.sum(np.exp(ends - most), axis=1))
    lost = array("ctc_loss", found) < _NEVER / 2
    empty = np.array((steps == 0) & (sizes == 0))
    lost = np.where(np.array(steps == 0), ~empty, lost)
    loss = np.where(empty, kind(0), -found)
    # The chances of a step sum to 1 whatever log_softmax was given: their sum less itself is 0, and
    # its derivative by the logarithms is what makes theirs that by what log_softmax was given.
    counted = np.array((numpy.arange(x.shape[0])[:, None] < steps)[:, :, None])
    chances = np.sum(np.where(counted, np.exp(x), kind(0)), axis=(0, 2))
    loss = loss + (chances - constant(chances))
    return np.where(lost, kind(0) if zero_infinity else kind(np.inf), loss)
