"""Losses: of each element, or their mean or sum."""

import functools

import numpy

from ..._core import beside, capturing, depends, enter_class_losses, quiet, uncaptured
from ...core.dtypes import kind_of
from ...core.errors import message
from ...core.host import on_host
from ...core.operands import adopt
from ...functions import names as np
from ...gradients import custom_gradient
from ...tensors import pure_function
from ...tensors._dtypes import to_numpy
from ...tensors.reductions import norm
from ._shared import array, floating, indices, reduced, reduction_of, same_extents, whole
from .activations import log_logistic, log_softmax_along, shifted_exponents

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cosine_embedding_loss",
    "cosine_similarity", "cross_entropy", "gaussian_nll_loss", "hinge_embedding_loss", "huber_loss",
    "kl_div", "l1_loss", "margin_ranking_loss", "mse_loss", "nll_loss", "pairwise_distance",
    "poisson_nll_loss", "smooth_l1_loss", "soft_margin_loss", "triplet_margin_loss",
]  # fmt: skip


def _operands(op, input, target, own=False):
    """Input and target; its integers (with `own`: all its numbers) take the type of the input."""
    x, y = floating(op, input), array(op, target, "target")
    if kind_of(y.dtype) not in "fc" or (own and y.dtype != x.dtype):
        y = y.astype(x.dtype)
    return x, y


def _pair(op, input, target, own=False):
    x, y = _operands(op, input, target, own)
    same_extents(op, x, y)
    return x, y


def _weighted(loss, weight, reduction):
    """Losses times weights of elements, whose mean is that of the weights, too."""
    if weight is None:
        return reduced(loss, reduction)
    w = array("loss", weight, "weight")
    if reduction == "mean":
        return np.sum(loss * w) / np.sum(np.broadcast_to(w, loss.shape))
    return reduced(loss * w, reduction)


@pure_function
def mse_loss(
    input, target, size_average=None, reduce=None, reduction="mean", weight=None
):  # fmt: skip
    """(input - target)². A target of another shape is broadcast, with a warning.

    reduction, here and below: 'none', 'mean' or 'sum'. weight: of elements.
    """
    reduction = reduction_of("mse_loss", size_average, reduce, reduction)
    x, y = _pair("mse_loss", input, target)
    d = x - y
    return _weighted(d * d, weight, reduction)


@pure_function
def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """abs(input - target)."""
    reduction = reduction_of("l1_loss", size_average, reduce, reduction)
    x, y = _pair("l1_loss", input, target)
    return _weighted(np.abs(x - y), weight, reduction)


def _smooth(x, y, width):
    """d² / 2 up to `width` of the distance, and the line that goes on there."""
    d = x - y
    far = np.abs(d)
    return np.where(far < width, d * d * 0.5, (far - 0.5 * width) * width)


@pure_function
def smooth_l1_loss(
    input, target, size_average=None, reduce=None, reduction="mean", beta=1.0
):  # fmt: skip
    """d² / (2 beta) where d = abs(input - target) is below `beta`, else d - beta / 2.

    ValueError for a negative `beta`; 0 gives l1_loss.
    """
    reduction = reduction_of("smooth_l1_loss", size_average, reduce, reduction)
    if beta < 0:
        raise ValueError(message("smooth_l1_loss", "beta is negative", beta, "beta >= 0"))
    x, y = _pair("smooth_l1_loss", input, target)
    loss = np.abs(x - y) if beta == 0 else _smooth(x, y, beta) / beta
    return reduced(loss, reduction)


@pure_function
def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """d² / 2 where d = abs(input - target) is below `delta`, else delta (d - delta / 2).

    ValueError for a `delta` that is not positive.
    """
    reduction = reduction_of("huber_loss", None, None, reduction)
    if delta <= 0:
        raise ValueError(message("huber_loss", "delta is not positive", delta, "delta > 0"))
    x, y = _pair("huber_loss", input, target, True)
    return _weighted(_smooth(x, y, delta), weight, reduction)


@functools.partial(custom_gradient, repeats=True)
def _binary_entropy(x, y):
    """-y log(x) - (1 - y) log(1 - x), with logarithms of -100 at least."""

    def pull(g):
        by_x = g * (x - y) / np.maximum((1 - x) * x, 1e-12)
        return by_x, g * (np.log1p(-x) - np.log(x))

    return -(y * np.maximum(np.log(x), -100.0) + (1 - y) * np.maximum(np.log1p(-x), -100.0)), pull


def _expect_probabilities(op, **given):
    for name, a in given.items():
        if capturing() or not on_host(a):
            return
        if not np.all((a >= 0) & (a <= 1)):
            raise RuntimeError(
                message(op, f"not all elements of the {name} are probabilities",
                        f"{np.min(a)} to {np.max(a)}", "between 0 and 1")
            )  # fmt: skip


@pure_function
def binary_cross_entropy(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean"
):
    """-t log(x) - (1 - t) log(1 - x) of probabilities, with logarithms of -100 at least.

    ValueError where input and target differ in shape. Elements of either outside of [0, 1] are a
    RuntimeError on devices whose memory the host reads; on others they give NaN.
    """
    op = "binary_cross_entropy"
    reduction = reduction_of(op, size_average, reduce, reduction)
    x, y = floating(op, input), floating(op, target, "target")
    if x.shape != y.shape:
        raise ValueError(message(op, "target does not fit the input", y.shape, f"shape {x.shape}"))
    _expect_probabilities(op, input=x, target=y)
    loss = _binary_entropy(x, y)
    return reduced(loss if weight is None else loss * array(op, weight, "weight"), reduction)


@pure_function
def binary_cross_entropy_with_logits(
    input,
    target,
    weight=None,
    size_average=None,
    reduce=None,
    reduction="mean",
    pos_weight=None,
):
    """binary_cross_entropy of sigmoid(input), without overflow.

    pos_weight: of the positive class, which broadcasts with the target.
    """
    op = "binary_cross_entropy_with_logits"
    reduction = reduction_of(op, size_average, reduce, reduction)
    x, y = floating(op, input), floating(op, target, "target")
    if x.shape != y.shape:
        raise ValueError(message(op, "target does not fit the input", y.shape, f"shape {x.shape}"))
    log_yes = log_logistic(x)
    log_no = log_yes - x
    positive = y if pos_weight is None else y * array(op, pos_weight, "pos_weight")
    loss = -(positive * log_yes + (1 - y) * log_no)
    return reduced(loss if weight is None else loss * array(op, weight, "weight"), reduction)


def _log_product(y):
    """y log(y), which is 0 at 0."""
    return np.where(y == 0, y, y * np.log(np.where(y == 0, y.dtype.type(1), y)))


@pure_function
def kl_div(
    input, target, size_average=None, reduce=None, reduction="mean", log_target=False
):  # fmt: skip
    """t (log(t) - input) of logarithms of probabilities.

    reduction: also 'batchmean', the sum over the extent of the first axis. log_target: the target
    holds logarithms, too.
    """
    of_batch = reduction == "batchmean"
    reduction = reduction_of("kl_div", size_average, reduce, "sum" if of_batch else reduction)
    x, y = floating("kl_div", input), floating("kl_div", target, "target")
    loss = np.exp(y) * (y - x) if log_target else _log_product(y) - y * x
    loss = reduced(loss, reduction)
    return loss / x.shape[0] if of_batch and x.ndim else loss


def _classes(op, x):
    """(axis of classes, number of classes). ValueError without axes."""
    if x.ndim == 0:
        raise ValueError(message(op, "input has no axis of classes", x.shape, "(N, C, ...)"))
    axis = 0 if x.ndim == 1 else 1
    return axis, x.shape[axis]


def _class_weights(op, weight, classes):
    w = floating(op, weight, "weight")
    if w.shape != (classes,):
        raise ValueError(message(op, "weight is not one a class", w.shape, f"({classes},)"))
    return w


_KEPT = 65536  # classes whose constants stay for the next call


@functools.lru_cache(maxsize=32)
def _numbers_and_ones(key):
    """(0, 1, ..., ones) of (number, dtype, device of an operand that new arrays lie beside)."""
    classes, dtype, device = key
    with quiet(), uncaptured():  # nothing is pending: other work takes nothing with it
        numbers, ones = numpy.arange(classes), numpy.ones(classes, to_numpy(dtype))
        return beside(adopt(numbers), device), beside(adopt(ones), device)


def _targets(op, x, axis, target, weight, ignore_index):
    """(of each element of x whether it is of its target's class, weights of the targets, whether
    they count).

    Comparing all classes fuses with what is done to them, and its derivative needs no scatter.
    """
    classes = x.shape[axis]
    t = whole(op, target, "target")
    expected = x.shape[:axis] + x.shape[axis + 1 :]
    if t.shape != expected:
        raise ValueError(
            message(op, f"target does not fit input of shape {x.shape}", t.shape, expected)
        )
    kept, given = t != ignore_index, t
    t = np.where(kept, indices(t, classes), 0)
    made = _numbers_and_ones if classes <= _KEPT else _numbers_and_ones.__wrapped__
    numbers, ones = made((classes, x.dtype, x._device))
    # This gather is also what finds targets that are no classes.
    weights = ones if weight is None else _class_weights(op, weight, classes)
    w = np.where(kept, weights[t], x.dtype.type(0))
    numbers = numbers.reshape((classes,) + (1,) * (x.ndim - 1 - axis))
    # Nothing reads which class a target is of that does not count.
    return numbers == np.expand_dims(given, axis), w, kept


def _chosen(own, x, axis):
    """The elements of the targets' classes."""
    return np.sum(np.where(own, x, x.dtype.type(0)), axis=axis)


def _mean_of(loss, w, reduction):
    return np.sum(loss) / np.sum(w) if reduction == "mean" else reduced(loss, reduction)


@pure_function
def nll_loss(
    input,
    target,
    weight=None,
    size_average=None,
    ignore_index=-100,
    reduce=None,
    reduction="mean",
):
    """-input[n, target[n]] of logarithms of probabilities of shape (C), (N, C) or (N, C, d1, ...).

    target: integers of that shape without the axis of classes; weight: of classes, by which the
    mean is weighted; ignore_index: the target that counts for nothing. Raises IndexError, when the
    result is read, for targets that are no classes; ValueError for shapes that do not fit.
    """
    reduction = reduction_of("nll_loss", size_average, reduce, reduction)
    x = floating("nll_loss", input)
    axis, _ = _classes("nll_loss", x)
    own, w, kept = _targets("nll_loss", x, axis, target, weight, ignore_index)
    loss = np.where(kept, -_chosen(own, x, axis) * w, x.dtype.type(0))
    return _mean_of(loss, w, reduction)


@pure_function
def cross_entropy(
    input,
    target,
    weight=None,
    size_average=None,
    ignore_index=-100,
    reduce=None,
    reduction="mean",
    label_smoothing=0.0,
):
    """-log(softmax(input)) of the targets' classes; input: (C), (N, C) or (N, C, d1, ...).

    target: classes as for nll_loss(), or their probabilities, floats of the input's shape.
    label_smoothing: what of each target is given to all classes alike (Szegedy et al., 2015).
    ValueError where it is not in [0, 1] or shapes do not fit; IndexError as for nll_loss().
    """
    op = "cross_entropy"
    reduction = reduction_of(op, size_average, reduce, reduction)
    if not 0 <= label_smoothing <= 1:
        raise ValueError(message(op, "label_smoothing", label_smoothing, "0 to 1"))
    x, t = floating(op, input), array(op, target, "target")
    axis, classes = _classes(op, x)
    lined = None
    if weight is not None:
        shape = tuple(-1 if k == axis else 1 for k in range(x.ndim))
        lined = _class_weights(op, weight, classes).reshape(shape)
    if kind_of(t.dtype) == "f":
        logs = log_softmax_along(x, axis)
        return _of_probabilities(op, logs, t, lined, axis, reduction, label_smoothing)
    own, w, kept = _targets(op, x, axis, t, weight, ignore_index)
    if weight is None and label_smoothing == 0 and depends(x):
        return _mean_of(_losses_of_classes(x, axis, own, w, kept), w, reduction)
    # The derivative of log(sum(exp(x))) - x[target] by x needs no further sum.
    shifted, _, total = shifted_exponents(x, axis)
    normaliser = np.log(total)
    zero = x.dtype.type(0)
    loss = np.where(kept, (np.squeeze(normaliser, axis) - _chosen(own, shifted, axis)) * w, zero)
    chosen = _mean_of(loss, w, reduction)
    if label_smoothing == 0:
        return chosen
    spread = normaliser - shifted
    spread = np.sum(spread if lined is None else spread * lined, axis=axis)
    spread = _mean_of(np.where(kept, spread, zero), w, reduction)
    return chosen * (1 - label_smoothing) + spread * (label_smoothing / classes)


def _losses_of_classes(x, axis, own, w, kept):
    """(log(sum(exp(x))) - x[target]) w, whose derivative is one formula of all elements."""
    z, exponents, sums = shifted_exponents(x, axis)
    with quiet():
        normaliser = np.squeeze(np.log(sums), axis)
        loss = (normaliser - _chosen(own, z, axis)) * w
        loss = np.where(kept, loss, x.dtype.type(0))
    enter_class_losses(x, exponents, sums, own, kept, w, loss, axis)
    return loss


def _of_probabilities(op, logs, t, lined, axis, reduction, smoothing):
    if t.shape != logs.shape:
        raise ValueError(
            message(op, "target of floats does not fit the input", t.shape,
                    f"probabilities of shape {logs.shape}, or integers")
        )  # fmt: skip
    if smoothing:
        t = t * (1 - smoothing) + smoothing / logs.shape[axis]
    loss = logs * t
    loss = -np.sum(loss if lined is None else loss * lined, axis=axis)
    return reduced(loss, reduction)


@pure_function
def poisson_nll_loss(
    input,
    target,
    log_input=True,
    full=False,
    size_average=None,
    eps=1e-8,
    reduce=None,
    reduction="mean",
):
    """exp(x) - t x, or x - t log(x + eps) unless `log_input`; `full` adds Stirling's formula of
    log(t!) where t is above 1.
    """
    op = "poisson_nll_loss"
    reduction = reduction_of(op, size_average, reduce, reduction)
    x, y = _operands(op, input, target)
    loss = np.exp(x) - y * x if log_input else x - y * np.log(x + eps)
    if full:
        safe = np.where(y > 1, y, 1)
        stirling = safe * np.log(safe) - safe + 0.5 * np.log(safe * 6.283185307179586)
        loss = loss + np.where(y > 1, stirling, 0)
    return reduced(loss, reduction)


@pure_function
def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """(log(var) + (input - target)² / var) / 2, with variances of `eps` at least, which is a
    constant for the derivative; `full` adds log(2 pi) / 2. Negative variances are a ValueError on
    devices whose memory the host reads; on others they give NaN.
    """
    op = "gaussian_nll_loss"
    reduction = reduction_of(op, None, None, reduction)
    x, y = _operands(op, input, target)
    v = floating(op, var, "var")
    if not capturing() and on_host(v) and np.any(v < 0):
        raise ValueError(message(op, "var has negative elements", np.min(v), "0 and more"))
    if v.shape != x.shape and v.shape == x.shape[:-1]:
        v = v[..., None]
    with quiet():  # what is added is a constant
        more = np.where(v < eps, np.where(v < 0, np.nan, eps - v), 0)
    v = v + more
    d = x - y
    loss = (np.log(v) + d * d / v) * 0.5
    return reduced(loss + 0.9189385332046727 if full else loss, reduction)


@pure_function
def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """log(1 + exp(-target input)) for targets of 1 and -1."""
    reduction = reduction_of("soft_margin_loss", size_average, reduce, reduction)
    x, y = _operands("soft_margin_loss", input, target, True)
    return reduced(-log_logistic(x * y), reduction)


def _above(x):
    """max(x, 0), with PyTorch's derivative of clamp_min: that of x at 0."""
    return np.where(x < 0, x.dtype.type(0), x)


@pure_function
def margin_ranking_loss(
    input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"
):
    """max(0, -target (input1 - input2) + margin) for targets of 1 and -1."""
    op = "margin_ranking_loss"
    reduction = reduction_of(op, size_average, reduce, reduction)
    a, b = floating(op, input1, "input1"), floating(op, input2, "input2")
    d, y = _operands(op, a - b, target)
    return reduced(_above(-y * d + margin), reduction)


@pure_function
def hinge_embedding_loss(
    input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"
):
    """input where target is 1, max(0, margin - input) where it is -1."""
    op = "hinge_embedding_loss"
    reduction = reduction_of(op, size_average, reduce, reduction)
    x, y = floating(op, input), array(op, target, "target")
    zero = x.dtype.type(0)
    loss = np.where(y != 1, _above(margin - x), zero) + np.where(y != -1, x, zero)
    return reduced(loss, reduction)


@pure_function
def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    """The product of x1 and x2 along `dim` over that of their lengths, each at least `eps`."""
    return _cosine(floating("cosine_similarity", x1), floating("cosine_similarity", x2), dim, eps)


def _cosine(a, b, axis, eps):
    if a.shape != b.shape:
        a, b = np.broadcast_arrays(a, b)
    lengths = []
    for x in (a, b):
        s = np.sum(x * x, axis=axis)
        large = s > eps * eps
        lengths.append(np.where(large, np.sqrt(np.where(large, s, s.dtype.type(1))), eps))
    return np.sum(a * b, axis=axis) / (lengths[0] * lengths[1])


@pure_function
def cosine_embedding_loss(
    input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"
):
    """1 - cosine where target is 1, max(0, cosine - margin) where it is -1; the last axis is that
    of the vectors.
    """
    op = "cosine_embedding_loss"
    reduction = reduction_of(op, size_average, reduce, reduction)
    a, b = floating(op, input1, "input1"), floating(op, input2, "input2")
    y = array(op, target, "target")
    tiny = 1e-12  # added to squares
    c = np.sum(a * b, axis=-1) / np.sqrt(
        (np.sum(a * a, axis=-1) + tiny) * (np.sum(b * b, axis=-1) + tiny)
    )
    zero = c.dtype.type(0)
    loss = np.where(y == 1, 1 - c, zero) + np.where(y == -1, _above(c - margin), zero)
    return reduced(loss, reduction)


def _length(d, p):
    return norm.on_arrays(d, p, -1)


@pure_function
def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    """The p-norm of x1 - x2 + eps along the last axis."""
    a, b = floating("pairwise_distance", x1), floating("pairwise_distance", x2)
    d = _length(a - b + eps, p)
    return np.expand_dims(d, -1) if keepdim else d


@pure_function
def triplet_margin_loss(
    anchor,
    positive,
    negative,
    margin=1.0,
    p=2,
    eps=1e-6,
    swap=False,
    size_average=None,
    reduce=None,
    reduction="mean",
):
    """max(0, d(anchor, positive) - d(anchor, negative) + margin) of pairwise distances; `swap`: the
    distance of positive and negative where it is shorter than the second one.
    """
    op = "triplet_margin_loss"
    reduction = reduction_of(op, size_average, reduce, reduction)
    a, b = floating(op, anchor, "anchor"), floating(op, positive, "positive")
    c = floating(op, negative, "negative")
    far = _length(a - c + eps, p)
    if swap:
        far = np.minimum(far, _length(b - c + eps, p))
    return reduced(_above(_length(a - b + eps, p) - far + margin), reduction)
