"""tf.nn: activations, losses, convolutions and pooling in the layout NHWC."""

from ...core.errors import message
from ...nn import functional as _f
from .._missing import missing as _missing
from . import _ops
from ._images import convolved, convolved_back, convolved_by_channel, pooled
from ._ops import (  # noqa: F401
    dropout,
    gelu,
    l2_loss,
    leaky_relu,
    log_softmax,
    sigmoid_cross_entropy_with_logits,
    softmax,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)

__name__ = "tensorflow.nn"
_NAMES = ("relu", "relu6", "sigmoid", "tanh", "softplus", "selu", "elu", "silu", "softsign")
swish = _ops.UNARY["silu"]


def conv2d(input, filters, strides, padding, data_format="NHWC", dilations=None, name=None):
    """Convolution of (batch, height, width, channels) with (height, width, in, out)."""
    _ops.named(name)
    _only("conv2d", data_format)
    return _convolution("conv2d", _pair, input, filters, strides, padding, dilations)


def _only(op, layout, known="NHWC"):
    if layout != known:
        raise NotImplementedError(message(op, "a layout not yet available", layout, repr(known)))


def _convolution(op, along, input, filters, steps, padding, dilations):
    """along(op, n): the numbers for the axes of a window."""
    return _ops.tensor(
        convolved(_ops.value(input), _ops.value(filters), along(op, steps), str(padding).lower(),
                  along(op, dilations or 1))
    )  # fmt: skip


def _pair(op, n):
    if isinstance(n, int):
        return n, n
    n = tuple(n)
    if len(n) == 4:
        if n[0] != 1 or n[3] != 1:
            raise NotImplementedError(
                message(op, "windows over examples or channels are not yet available", n, "1")
            )
        return n[1:3]
    return n * 2 if len(n) == 1 else n


def max_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None):
    """The largest element of each window."""
    _ops.named(name)
    _only("max_pool2d", data_format)
    return _ops.tensor(pooled("max", _ops.value(input), _pair("max_pool2d", ksize),
                              _pair("max_pool2d", strides), str(padding).lower()))  # fmt: skip


def conv1d(input, filters, stride, padding, data_format="NWC", dilations=None, name=None):
    """Convolution of (batch, steps, channels) with (steps, in, out)."""
    _ops.named(name)
    _only("conv1d", data_format, "NWC")
    return _convolution("conv1d", _line, input, filters, stride, padding, dilations)


def _line(op, n):
    n = (n,) if isinstance(n, int) else tuple(n)
    if len(n) == 3 and n[0] == n[2] == 1:
        return n[1:2]
    if len(n) != 1:
        raise ValueError(message(op, "not the steps of one axis", n, "an int"))
    return n


def conv2d_transpose(input, filters, output_shape, strides, padding="SAME", data_format="NHWC",
                     dilations=None, name=None):  # fmt: skip
    """The derivative of a convolution by its input, with (height, width, out, in)."""
    _ops.named(name)
    _only("conv2d_transpose", data_format)
    lengths = _ops.sizes(output_shape)
    found = convolved_back(
        _ops.value(input), _ops.value(filters), _pair("conv2d_transpose", strides),
        str(padding).lower(), _pair("conv2d_transpose", dilations or 1), tuple(lengths[1:3]),
    )  # fmt: skip
    if tuple(found.shape) != tuple(lengths):
        raise ValueError(
            message("conv2d_transpose", "another output shape", tuple(lengths), tuple(found.shape))
        )
    return _ops.tensor(found)


def depthwise_conv2d(input, filter, strides, padding, data_format="NHWC", dilations=None,
                     name=None):  # fmt: skip
    """Convolutions of each channel with (height, width, in, results of each)."""
    _ops.named(name)
    _only("depthwise_conv2d", data_format or "NHWC")
    return _ops.tensor(
        convolved_by_channel(
            _ops.value(input), _ops.value(filter), _pair("depthwise_conv2d", strides),
            str(padding).lower(), _pair("depthwise_conv2d", dilations or 1),
        )
    )  # fmt: skip


def separable_conv2d(input, depthwise_filter, pointwise_filter, strides, padding,
                     data_format="NHWC", dilations=None, name=None):  # fmt: skip
    """Convolutions of each channel, then sums of channels with (1, 1, in, out)."""
    found = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations,
                             name)  # fmt: skip
    return conv2d(found, pointwise_filter, 1, "VALID")


max_pool = max_pool2d


def avg_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None):
    """The mean of each window."""
    _ops.named(name)
    _only("avg_pool2d", data_format)
    return _ops.tensor(pooled("mean", _ops.value(input), _pair("avg_pool2d", ksize),
                              _pair("avg_pool2d", strides), str(padding).lower()))  # fmt: skip


avg_pool = avg_pool2d


def bias_add(value, bias, name=None):
    """The sum with a line of the last axis."""
    _ops.named(name)
    return _ops.BINARY["add"](value, bias)


def embedding_lookup(params, ids, name=None):
    """The rows of a matrix at indices."""
    _ops.named(name)
    return _ops.tensor(_f.embedding(_ops.value(ids), _ops.value(params)))


def moments(x, axes, keepdims=False, name=None):
    """The mean and the variance over axes."""
    _ops.named(name)
    return (_ops.REDUCTIONS["reduce_mean"](x, axes, keepdims),
            _ops.REDUCTIONS["reduce_variance"](x, axes, keepdims))  # fmt: skip


def __getattr__(name):
    return _ops.UNARY[name] if name in _NAMES else _missing("tf.nn", name)
