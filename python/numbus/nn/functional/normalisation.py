"""Normalisation: mean 0 and variance 1 over a batch, a layer or groups of channels; unit length."""

import math

from ...core.errors import message
from ...functions import names as np
from ...tensors import pure_function
from ...tensors._arrays import in_single
from ._shared import array, channel_shape, constant, floating, size_of

__all__ = [
    "batch_norm", "group_norm", "instance_norm", "layer_norm", "local_response_norm", "normalize",
    "rms_norm",
]  # fmt: skip


def _standard(x, axes, eps):
    """(x - mean) / sqrt(variance + eps) over `axes`, with the mean and the variance."""
    mean = np.mean(x, axis=axes, keepdims=True)
    d = x - mean
    variance = np.mean(d * d, axis=axes, keepdims=True)
    return d / np.sqrt(variance + eps), mean, variance


def _scaled(op, y, weight, bias, shape, expected):
    for name, value in (("weight", weight), ("bias", bias)):
        if value is None:
            continue
        v = array(op, value, name)
        if v.shape != expected:
            raise ValueError(message(op, f"{name} does not fit the input", v.shape, expected))
        v = v.reshape(shape)
        y = y * v if name == "weight" else y + v
    return y


def _moved(running, found, momentum):
    """Moves a running statistic towards what a batch has."""
    r = array("batch_norm", running, "running statistics")
    r[...] = r * (1 - momentum) + constant(found).reshape(r.shape) * momentum


@pure_function
@in_single(False)
def batch_norm(
    input,
    running_mean,
    running_var,
    weight=None,
    bias=None,
    training=False,
    momentum=0.1,
    eps=1e-5,
):
    """(x - mean) / sqrt(var + eps) * weight + bias for each channel (axis 1) of (N, C, ...).

    training: mean and variance are those of the batch, and move the running ones, unless these are
    None, in place, by `momentum` (the variance with n - 1); else the running ones are taken.
    Raises ValueError for one value a channel while training, and for extents that do not fit
    (Ioffe and Szegedy, 2015).
    """
    op = "batch_norm"
    x = floating(op, input)
    if x.ndim < 2:
        raise ValueError(message(op, "input has no axis of channels", x.shape, "(N, C, ...)"))
    channels = x.shape[1]
    lined = channel_shape(x.ndim)
    for name, running in (("running_mean", running_mean), ("running_var", running_var)):
        if running is not None and array(op, running, name).shape != (channels,):
            got = array(op, running, name).shape
            raise ValueError(
                message(op, f"{name} does not fit input of shape {x.shape}", got, f"({channels},)")
            )
    if training:
        n = size_of(x.shape) // max(channels, 1)
        if n == 1:
            raise ValueError(
                message(op, "one value a channel while training", f"input of shape {x.shape}",
                        "more than 1 value per channel")
            )  # fmt: skip
        if n == 0:  # of no elements, which move nothing
            return _scaled(op, x, weight, bias, lined, (channels,))
        y, mean, variance = _standard(x, (0, *range(2, x.ndim)), eps)
        if running_mean is not None:
            _moved(running_mean, mean, momentum)
        if running_var is not None:
            _moved(running_var, variance * (n / (n - 1)), momentum)
    else:
        if running_mean is None or running_var is None:
            raise ValueError(
                message(op, "running statistics are missing", "None", "both, or training=True")
            )
        mean = array(op, running_mean).reshape(lined)
        scale = 1 / np.sqrt(array(op, running_var).reshape(lined) + eps)
        y = (x - mean) * scale
    return _scaled(op, y, weight, bias, lined, (channels,))


@pure_function
@in_single(False)
def instance_norm(
    input,
    running_mean=None,
    running_var=None,
    weight=None,
    bias=None,
    use_input_stats=True,
    momentum=0.1,
    eps=1e-5,
):
    """batch_norm() of each example for itself, over its spatial axes."""
    op = "instance_norm"
    x = floating(op, input)
    channels, lined = x.shape[1], channel_shape(x.ndim)
    if use_input_stats:
        n = size_of(x.shape[2:])
        if n == 1:
            raise ValueError(
                message(op, "one element a channel", f"input of shape {x.shape}",
                        "more than 1 spatial element")
            )  # fmt: skip
        if size_of(x.shape) == 0:
            return _scaled(op, x, weight, bias, lined, (channels,))
        y, mean, variance = _standard(x, tuple(range(2, x.ndim)), eps)
        if running_mean is not None:
            _moved(running_mean, np.mean(mean, axis=0), momentum)
        if running_var is not None:
            _moved(running_var, np.mean(variance, axis=0) * (n / (n - 1)), momentum)
    else:
        if running_mean is None or running_var is None:
            raise ValueError(
                message(op, "running statistics are missing", "None", "both, or input's own")
            )
        scale = 1 / np.sqrt(array(op, running_var).reshape(lined) + eps)
        y = (x - array(op, running_mean).reshape(lined)) * scale
    return _scaled(op, y, weight, bias, lined, (channels,))


def _last_axes(op, x, normalized_shape):
    given = normalized_shape
    shape = (int(given),) if not isinstance(given, (tuple, list)) else tuple(map(int, given))
    if not shape or x.shape[x.ndim - len(shape) :] != shape or x.ndim < len(shape):
        raise ValueError(
            message(op, "input does not end with the normalised extents",
                    f"input of shape {x.shape}", f"(..., {', '.join(map(str, shape))})")
        )  # fmt: skip
    return shape, tuple(range(x.ndim - len(shape), x.ndim))


@pure_function
@in_single(False)
def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """(x - mean) / sqrt(var + eps) * weight + bias over the last axes, whose extents are
    `normalized_shape`. ValueError where the input has others (Ba, Kiros and Hinton, 2016).
    """
    x = floating("layer_norm", input)
    shape, axes = _last_axes("layer_norm", x, normalized_shape)
    y, _, _ = _standard(x, axes, eps)
    return _scaled("layer_norm", y, weight, bias, shape, shape)


@pure_function
@in_single(False)
def rms_norm(input, normalized_shape, weight=None, eps=None):
    """x / sqrt(mean(x²) + eps) * weight over the last axes (Zhang and Sennrich, 2019)."""
    x = floating("rms_norm", input)
    shape, axes = _last_axes("rms_norm", x, normalized_shape)
    eps = np.finfo(x.dtype).eps if eps is None else eps
    y = x / np.sqrt(np.mean(x * x, axis=axes, keepdims=True) + float(eps))
    return _scaled("rms_norm", y, weight, None, shape, shape)


@pure_function
@in_single(False)
def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    """Normalisation of each example over groups of channels (axis 1 of (N, C, ...)).

    ValueError where the groups do not divide the channels (Wu and He, 2018).
    """
    op = "group_norm"
    x = floating(op, input)
    if x.ndim < 2 or num_groups < 1 or x.shape[1] % num_groups:
        raise ValueError(
            message(op, f"channels of input of shape {x.shape} are not divided", num_groups,
                    "a divisor of their number")
        )  # fmt: skip
    grouped = x.reshape((x.shape[0], num_groups, size_of(x.shape[1:]) // num_groups))
    y = _standard(grouped, (2,), eps)[0].reshape(x.shape)
    return _scaled(op, y, weight, bias, channel_shape(x.ndim), (x.shape[1],))


@pure_function
@in_single(False)
def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """x / (k + alpha mean(x² of `size` channels around))**beta (Krizhevsky et al., 2012)."""
    x = floating("local_response_norm", input)
    before = size // 2
    squares = x * x
    total = None
    for shift in range(-before, size - before):
        low, high = max(0, shift), min(x.shape[1], x.shape[1] + shift)
        part = np.zeros_like(x)
        part[:, low - shift : high - shift] = squares[:, low:high]
        total = part if total is None else total + part
    return x / (k + total * (alpha / size)) ** beta


def norm_along(x, p, axis):
    """The p-norm along an axis, kept, with derivative 0 where it is 0."""
    if p == 2:
        s = np.sum(x * x, axis=axis, keepdims=True)
        return np.where(s > 0, np.sqrt(np.where(s > 0, s, s.dtype.type(1))), s)
    far = np.abs(x)
    if p == math.inf:
        return np.max(far, axis=axis, keepdims=True)
    if p == 1:
        return np.sum(far, axis=axis, keepdims=True)
    s = np.sum(far**p, axis=axis, keepdims=True)
    return np.where(s > 0, np.where(s > 0, s, s.dtype.type(1)) ** (1 / p), s)


@pure_function
@in_single(False)
def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """x over its p-norm along `dim`, which counts as `eps` where it is smaller."""
    x = floating("normalize", input)
    length = norm_along(x, p, dim)
    y = x / np.where(length < eps, eps, length).astype(x.dtype)
    if out is None:
        return y
    array("normalize", out, "out")[...] = y
    return out
