"""Dropout: elements or channels set to 0 at random while training, the others scaled; slopes that
are drawn.
"""

import numpy

from ...core.errors import message
from ...functions import names as np
from ...tensors._arrays import beside, moved_to
from ...tensors.random import uniform
from ._shared import floating, stored, tensor_function_in_place

_FLOAT32 = numpy.dtype("float32")

__all__ = [
    "alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout",
    "rrelu", "rrelu_",
]  # fmt: skip


def probability(op, p):
    if not 0 <= p <= 1:
        raise ValueError(message(op, "p is no probability", p, "0 to 1"))


def kept(shape, p, like):
    """1 with the probability 1 - p, else 0, by the generator that manual_seed() sets; of the dtype
    and on the device of `like`.
    """
    drawn = moved_to(uniform(shape, _FLOAT32, where=beside(like)), like)
    return (drawn >= p).astype(like.dtype)


def scale_of(p):
    """What dropout multiplies elements by that stay."""
    return 1 / (1 - p) if p < 1 else 0.0


def _dropped(op, input, p, training, inplace, shape_of):
    probability(op, p)
    x = floating(op, input)
    if not training or p == 0:
        return stored(input, x, x, inplace)
    if p == 1:
        return stored(input, x, x * 0, inplace)
    mask = kept(shape_of(x), p, x) * scale_of(p)
    return stored(input, x, x * mask, inplace)


@tensor_function_in_place
def dropout(input, p=0.5, training=True, inplace=False):
    """Elements are 0 with the probability `p`, else x / (1 - p), while `training`.

    The random numbers are Philox's, by the generator that manual_seed() sets (Hinton et al., 2012).
    ValueError for a p outside of [0, 1].
    """
    return _dropped("dropout", input, p, training, inplace, lambda x: x.shape)


def _channels(op, input, p, training, inplace, count):
    def shape_of(x):
        if x.ndim not in (count + 1, count + 2):
            raise ValueError(
                message(op, "another number of axes", x.shape, f"{count + 1} or {count + 2}")
            )
        return x.shape[: x.ndim - count] + (1,) * count

    return _dropped(op, input, p, training, inplace, shape_of)


@tensor_function_in_place
def dropout1d(input, p=0.5, training=True, inplace=False):
    """dropout() of whole channels of (N, C, length) or (C, length)."""
    return _channels("dropout1d", input, p, training, inplace, 1)


@tensor_function_in_place
def dropout2d(input, p=0.5, training=True, inplace=False):
    """dropout() of whole channels of (N, C, height, width) or that without batch."""
    return _channels("dropout2d", input, p, training, inplace, 2)


@tensor_function_in_place
def dropout3d(input, p=0.5, training=True, inplace=False):
    """dropout() of whole channels of three spatial axes."""
    return _channels("dropout3d", input, p, training, inplace, 3)


@tensor_function_in_place
def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """dropout() that keeps the mean and variance of selu()'s values (Klambauer et al., 2017)."""
    return _alpha_dropped("alpha_dropout", input, p, training, inplace, lambda x: x.shape)


@tensor_function_in_place
def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """alpha_dropout() of whole channels of (N, C, ...)."""
    op = "feature_alpha_dropout"

    def shape_of(x):
        if x.ndim < 2:
            raise ValueError(message(op, "another number of axes", x.shape, "(N, C, ...)"))
        return x.shape[:2] + (1,) * (x.ndim - 2)

    return _alpha_dropped(op, input, p, training, inplace, shape_of)


def _alpha_dropped(op, input, p, training, inplace, shape_of):
    probability(op, p)
    x = floating(op, input)
    if not training or p == 0:
        return stored(input, x, x, inplace)
    if p == 1:
        return stored(input, x, x * 0, inplace)
    low = -1.7580993408473766  # selu at minus infinity
    a = ((1 - p) * (1 + p * low * low)) ** -0.5
    mask = kept(shape_of(x), p, x)
    return stored(input, x, (x * mask + low * (1 - mask)) * a - a * p * low, inplace)


@tensor_function_in_place
def rrelu(input, lower=0.125, upper=1 / 3, training=False, inplace=False):
    """x where it is positive, else x times a number that is drawn from lower to upper for each
    element while `training`, else their mean (Xu et al., 2015). ValueError for lower > upper.
    """
    if lower > upper:
        raise ValueError(message("rrelu", "lower is above upper", (lower, upper), "lower <= upper"))
    x = floating("rrelu", input)
    slope = (lower + upper) / 2
    if training:
        drawn = moved_to(uniform(x.shape, x.dtype, where=beside(x)), x)
        slope = drawn * (upper - lower) + lower
    return stored(input, x, np.where(x > 0, x, x * slope), inplace)


def rrelu_(input, lower=0.125, upper=1 / 3, training=False):
    """rrelu() in place."""
    return rrelu(input, lower, upper, training, True)
