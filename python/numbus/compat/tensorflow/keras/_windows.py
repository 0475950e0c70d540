"""Layers of windows: convolutions, pooling, and what makes more or fewer elements of axes."""

import math

import numbus as nb

from ....core.errors import message
from ....nn import functional as _f
from .. import _ops
from .._images import (
    convolved,
    convolved_back,
    convolved_by_channel,
    length_after,
    length_before,
    pooled,
)
from .._tensor import convert
from . import activations
from ._layers import Layer, _refuse, given_only


def _tuple(layer, name, x, n):
    """Numbers for each of `n` axes, of one for all or of as many."""
    made = (x,) * n if isinstance(x, int) else tuple(x)
    if len(made) != n or not all([isinstance(k, int) and k > 0 for k in made]):
        raise ValueError(
            message(type(layer).__name__, f"{name} is no tuple of {n} positive ints", x,
                    f"an int, or {n} of them")
        )  # fmt: skip
    return made


def _last(data_format):
    return None if data_format == "channels_last" else data_format


class _Windows(Layer):
    """What convolutions share: windows of `kernel_size` in steps, a kernel, a bias."""

    axes = 2
    has_rule = True
    paddings = ("valid", "same")
    regularized = (("kernel", "kernel"), ("bias", "bias"))

    def __init__(self, filters, kernel_size, strides=1, padding="valid", data_format=None,
                 dilation_rate=1, groups=1, activation=None, use_bias=True,
                 kernel_initializer="glorot_uniform", bias_initializer="zeros",
                 kernel_regularizer=None, bias_regularizer=None, kernel_constraint=None,
                 bias_constraint=None, **options):  # fmt: skip
        super().__init__(**given_only(
            kernel_regularizer=kernel_regularizer, bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint, bias_constraint=bias_constraint,
        ), **options)  # fmt: skip
        _refuse(self, data_format=_last(data_format))
        self.filters, self.groups = filters, groups
        self.kernel_size = _tuple(self, "kernel_size", kernel_size, self.axes)
        self.strides = _tuple(self, "strides", strides, self.axes)
        self.dilation_rate = _tuple(self, "dilation_rate", dilation_rate, self.axes)
        self.padding, self.use_bias = str(padding).lower(), use_bias
        if self.padding not in self.paddings:
            raise ValueError(
                message(type(self).__name__, "unknown padding", padding, " or ".join(self.paddings))
            )
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise ValueError(
                "`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: "
                f"strides={self.strides} and dilation_rate={self.dilation_rate}"
            )
        self.activation = activations.get(activation)
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer

    def build(self, input_shape):
        if len(input_shape) != self.axes + 2:
            raise ValueError(
                f'Input 0 of layer "{self.name}" is incompatible with the layer: expected ndim='
                f"{self.axes + 2}, found ndim={len(input_shape)}. Full shape received: "
                f"{input_shape}"
            )
        self._make_kernels(input_shape[-1])
        self.bias = self.add_weight((self._count(input_shape[-1]),), self.bias_initializer,
                                    name="bias") if self.use_bias else None  # fmt: skip

    def _make_kernels(self, channels):
        if channels % self.groups or self.filters % self.groups:
            raise ValueError(
                message(type(self).__name__, "channels that groups do not divide",
                        (channels, self.filters), f"multiples of {self.groups}")
            )  # fmt: skip
        shape = (*self.kernel_size, channels // self.groups, self.filters)
        self.kernel = self.add_weight(shape, self.kernel_initializer, name="kernel")

    def _count(self, channels):
        """The number of channels of the result, of so many."""
        return self.filters or channels * self.depth_multiplier

    def _applied(self, x):
        return convolved(x, self.kernel._value(), self.strides, self.padding, self.dilation_rate)

    def call(self, inputs):
        found = self._applied(inputs._value())
        if self.bias is not None:
            found = found + self.bias._value()
        return self.activation(_ops.tensor(found))

    def _length(self, n, k, s, d):
        padding = "same" if self.padding == "causal" else self.padding
        return length_after(n, k, s, d, padding)

    def compute_output_shape(self, input_shape):
        sides = zip(input_shape[1:-1], self.kernel_size, self.strides, self.dilation_rate,
                    strict=True)  # fmt: skip
        return (input_shape[0], *[self._length(*s) for s in sides], self._count(input_shape[-1]))


class Conv1D(_Windows):
    """activation(convolution with the kernel + bias) of (batch, steps, channels)."""

    axes = 1
    paddings = ("valid", "same", "causal")


class Conv2D(_Windows):
    """activation(convolution with the kernel + bias) of (batch, height, width, channels)."""


class Conv3D(_Windows):
    """activation(convolution with the kernel + bias) of three axes and channels."""

    axes = 3


class _Transposed(_Windows):
    def __init__(self, filters, kernel_size, strides=1, padding="valid", output_padding=None,
                 data_format=None, dilation_rate=1, activation=None, **options):  # fmt: skip
        if "groups" in options:
            raise TypeError(message(type(self).__name__, "an unknown option", "groups", "none"))
        super().__init__(filters, kernel_size, strides, padding, data_format, dilation_rate, 1,
                         activation, **options)  # fmt: skip
        self.output_padding = output_padding
        if output_padding is not None:
            more = (output_padding,) * self.axes if isinstance(output_padding, int) else (
                tuple(output_padding)
            )  # fmt: skip
            if len(more) != self.axes or any([m >= s for m, s in zip(more, self.strides,
                                                                     strict=True)]):  # fmt: skip
                raise ValueError(
                    message(type(self).__name__, "output_padding is not below the strides", more,
                            f"less than {self.strides}")
                )  # fmt: skip
            self.output_padding = more

    def _make_kernels(self, channels):
        shape = (*self.kernel_size, self.filters, channels)
        self.kernel = self.add_weight(shape, self.kernel_initializer, name="kernel")

    def _lengths(self, shape):
        more = self.output_padding or (None,) * self.axes
        sides = zip(shape, self.kernel_size, self.strides, self.dilation_rate, strict=True)
        return tuple([length_before(*s, self.padding, m) for s, m in zip(sides, more, strict=True)])

    def _applied(self, x):
        return convolved_back(x, self.kernel._value(), self.strides, self.padding,
                              self.dilation_rate, self._lengths(x.shape[1:-1]))  # fmt: skip

    def compute_output_shape(self, input_shape):
        return (input_shape[0], *self._lengths(input_shape[1:-1]), self.filters)


class Conv1DTranspose(_Transposed):
    """What a convolution's derivative by its input is, of (batch, steps, channels)."""

    axes = 1


class Conv2DTranspose(_Transposed):
    """What a convolution's derivative by its input is, of (batch, height, width, channels)."""


class Conv3DTranspose(_Transposed):
    """What a convolution's derivative by its input is, of three axes and channels."""

    axes = 3


class _ByChannel(_Windows):
    regularized = (("depthwise", "kernel"), ("bias", "bias"))

    def __init__(self, kernel_size, strides=1, padding="valid", depth_multiplier=1,
                 data_format=None, dilation_rate=1, activation=None, use_bias=True,
                 depthwise_initializer="glorot_uniform", bias_initializer="zeros",
                 depthwise_regularizer=None, depthwise_constraint=None, **options):  # fmt: skip
        # No number of filters: each channel has as many.
        super().__init__(0, kernel_size, strides, padding, data_format, dilation_rate, 1,
                         activation, use_bias, depthwise_initializer, bias_initializer,
                         **given_only(depthwise_regularizer=depthwise_regularizer,
                                      depthwise_constraint=depthwise_constraint),
                         **options)  # fmt: skip
        self.depth_multiplier = depth_multiplier

    def _make_kernels(self, channels):
        shape = (*self.kernel_size, channels, self.depth_multiplier)
        self.kernel = self.add_weight(shape, self.kernel_initializer, name="kernel")

    def _applied(self, x):
        return convolved_by_channel(x, self.kernel._value(), self.strides, self.padding,
                                    self.dilation_rate)  # fmt: skip


class DepthwiseConv1D(_ByChannel):
    """Convolutions of each channel by itself, of (batch, steps, channels)."""

    axes = 1
    paddings = ("valid", "same", "causal")


class DepthwiseConv2D(_ByChannel):
    """Convolutions of each channel by itself, of (batch, height, width, channels)."""


class _Separable(_Windows):
    regularized = (
        ("depthwise", "depthwise_kernel"), ("pointwise", "pointwise_kernel"), ("bias", "bias"),
    )  # fmt: skip

    def __init__(self, filters, kernel_size, strides=1, padding="valid", data_format=None,
                 dilation_rate=1, depth_multiplier=1, activation=None, use_bias=True,
                 depthwise_initializer="glorot_uniform", pointwise_initializer="glorot_uniform",
                 bias_initializer="zeros", depthwise_regularizer=None, pointwise_regularizer=None,
                 **options):  # fmt: skip
        super().__init__(filters, kernel_size, strides, padding, data_format, dilation_rate, 1,
                         activation, use_bias, depthwise_initializer, bias_initializer,
                         **given_only(depthwise_regularizer=depthwise_regularizer,
                                      pointwise_regularizer=pointwise_regularizer),
                         **options)  # fmt: skip
        self.depth_multiplier, self.pointwise_initializer = depth_multiplier, pointwise_initializer

    def _make_kernels(self, channels):
        deep = self.depth_multiplier
        self.depthwise_kernel = self.add_weight(
            (*self.kernel_size, channels, deep), self.kernel_initializer, name="depthwise_kernel"
        )
        self.pointwise_kernel = self.add_weight(
            ((1,) * self.axes + (channels * deep, self.filters)), self.pointwise_initializer,
            name="pointwise_kernel",
        )  # fmt: skip

    def _applied(self, x):
        found = convolved_by_channel(x, self.depthwise_kernel._value(), self.strides,
                                     self.padding, self.dilation_rate)  # fmt: skip
        w = self.pointwise_kernel._value()
        return found @ w.reshape(w.shape[-2:])


class SeparableConv1D(_Separable):
    """Convolutions of each channel, then sums of channels, of (batch, steps, channels)."""

    axes = 1
    paddings = ("valid", "same", "causal")


class SeparableConv2D(_Separable):
    """Convolutions of each channel, then sums of channels, of pictures."""


class _Pooling(Layer):
    axes, kind = 2, "max"
    ready = has_rule = True

    def __init__(self, pool_size=2, strides=None, padding="valid", data_format=None,
                 **options):  # fmt: skip
        super().__init__(**options)
        _refuse(self, data_format=_last(data_format))
        self.pool_size = _tuple(self, "pool_size", pool_size, self.axes)
        given = self.pool_size if strides is None else strides
        self.strides = _tuple(self, "strides", given, self.axes)
        self.padding = str(padding).lower()

    def call(self, inputs):
        return _ops.tensor(
            pooled(self.kind, inputs._value(), self.pool_size, self.strides, self.padding)
        )

    def compute_output_shape(self, input_shape):
        sides = zip(input_shape[1:-1], self.pool_size, self.strides, (1,) * self.axes, strict=True)
        return (input_shape[0], *[length_after(*s, self.padding) for s in sides], input_shape[-1])


def _pooling(name, axes, kind, doc):
    return type(name, (_Pooling,), {"axes": axes, "kind": kind, "__doc__": doc})


MaxPooling1D = _pooling("MaxPooling1D", 1, "max", "The largest element of each window.")
MaxPooling2D = _pooling("MaxPooling2D", 2, "max", "The largest element of each window.")
MaxPooling3D = _pooling("MaxPooling3D", 3, "max", "The largest element of each window.")
AveragePooling1D = _pooling("AveragePooling1D", 1, "mean", "The mean of each window.")
AveragePooling2D = _pooling("AveragePooling2D", 2, "mean", "The mean of each window.")
AveragePooling3D = _pooling("AveragePooling3D", 3, "mean", "The mean of each window.")
MaxPool1D, MaxPool2D, MaxPool3D = MaxPooling1D, MaxPooling2D, MaxPooling3D
AvgPool1D, AvgPool2D, AvgPool3D = AveragePooling1D, AveragePooling2D, AveragePooling3D


class _Global(Layer):
    """One number of each channel."""

    has_rule = True
    axes, of = 2, staticmethod(nb.mean)

    def __init__(self, data_format=None, keepdims=False, **options):
        super().__init__(**options)
        _refuse(self, data_format=_last(data_format))
        self.keepdims = bool(keepdims)

    def call(self, inputs):
        axes = tuple(range(1, self.axes + 1))
        return _ops.tensor(type(self).of(inputs._value(), axis=axes, keepdims=self.keepdims))

    def compute_output_shape(self, input_shape):
        ones = (1,) * self.axes if self.keepdims else ()
        return (input_shape[0], *ones, input_shape[-1])


class GlobalAveragePooling1D(_Global):
    """The mean of each channel over the steps, of those that a mask leaves."""

    axes = 1
    supports_masking = True

    def call(self, inputs, mask=None):
        if mask is None:
            return super().call(inputs)
        a = inputs._value()
        on = convert(mask)._value().astype(bool)[:, :, None]
        keep = self.keepdims
        total = nb.sum(nb.where(on, a, a.dtype.type(0)), axis=1, keepdims=keep)
        with nb.errstate(invalid="ignore"):  # NaN where nothing is left
            return _ops.tensor(total / nb.sum(on.astype(a.dtype), axis=1, keepdims=keep))

    def compute_mask(self, inputs, previous_mask=None):
        """Steps are no more."""
        return None


class GlobalAveragePooling2D(_Global):
    """The mean of each channel."""


class GlobalAveragePooling3D(_Global):
    """The mean of each channel."""

    axes = 3


class GlobalMaxPooling1D(_Global):
    """The largest element of each channel."""

    axes, of = 1, staticmethod(nb.max)


class GlobalMaxPooling2D(_Global):
    """The largest element of each channel."""

    of = staticmethod(nb.max)


class GlobalMaxPooling3D(_Global):
    """The largest element of each channel."""

    axes, of = 3, staticmethod(nb.max)


GlobalMaxPool1D, GlobalMaxPool2D = GlobalMaxPooling1D, GlobalMaxPooling2D
GlobalMaxPool3D, GlobalAvgPool3D = GlobalMaxPooling3D, GlobalAveragePooling3D
GlobalAvgPool1D, GlobalAvgPool2D = GlobalAveragePooling1D, GlobalAveragePooling2D


class _Adaptive(Layer):
    """Windows that give so many elements of each axis."""

    ready = has_rule = True

    def __init__(self, output_size, data_format=None, **options):
        super().__init__(**options)
        _refuse(self, data_format=_last(data_format))
        self.output_size = _tuple(self, "output_size", output_size, self.axes)

    def call(self, inputs):
        found = type(self).of(nb.moveaxis(inputs._value(), -1, 1), self.output_size)
        return _ops.tensor(nb.moveaxis(found, 1, -1))

    def compute_output_shape(self, input_shape):
        return (input_shape[0], *self.output_size, input_shape[-1])


def _adaptive(axes, kind, doc):
    of = getattr(_f, f"adaptive_{'avg' if kind == 'Average' else 'max'}_pool{axes}d")
    name = f"Adaptive{kind}Pooling{axes}D"
    return type(name, (_Adaptive,), {"axes": axes, "of": staticmethod(of), "__doc__": doc})


AdaptiveAveragePooling1D, AdaptiveAveragePooling2D, AdaptiveAveragePooling3D = (
    _adaptive(n, "Average", "Means of so many windows of each axis.") for n in (1, 2, 3)
)
AdaptiveMaxPooling1D, AdaptiveMaxPooling2D, AdaptiveMaxPooling3D = (
    _adaptive(n, "Max", "The largest elements of so many windows of each axis.") for n in (1, 2, 3)
)


class UpSampling1D(Layer):
    """Each step several times."""

    ready = has_rule = True

    def __init__(self, size=2, **options):
        super().__init__(**options)
        self.size = int(size)

    def call(self, inputs):
        return _ops.tensor(nb.repeat(inputs._value(), self.size, axis=1))

    def compute_output_shape(self, input_shape):
        n = input_shape[1]
        return input_shape[0], None if n is None else n * self.size, input_shape[2]


class UpSampling2D(Layer):
    """Pictures that are larger by whole factors: elements several times, or lines between them."""

    ready = has_rule = True

    def __init__(self, size=(2, 2), data_format=None, interpolation="nearest", **options):
        super().__init__(**options)
        _refuse(self, data_format=_last(data_format))
        if interpolation not in ("nearest", "bilinear"):
            _refuse(self, interpolation=interpolation)
        self.size, self.interpolation = _tuple(self, "size", size, 2), interpolation

    def call(self, inputs):
        a = inputs._value()
        if self.interpolation == "nearest":
            return _ops.tensor(nb.repeat(nb.repeat(a, self.size[0], axis=1), self.size[1], axis=2))
        sizes = tuple([n * k for n, k in zip(a.shape[1:3], self.size, strict=True)])
        found = _f.interpolate(nb.moveaxis(a, -1, 1), size=sizes, mode="bilinear")
        return _ops.tensor(nb.moveaxis(found, 1, -1))

    def compute_output_shape(self, input_shape):
        sides = zip(input_shape[1:3], self.size, strict=True)
        return (input_shape[0], *[None if n is None else n * k for n, k in sides], input_shape[3])


class UpSampling3D(Layer):
    """Elements several times along each of three axes."""

    ready = has_rule = True

    def __init__(self, size=(2, 2, 2), data_format=None, **options):
        super().__init__(**options)
        _refuse(self, data_format=_last(data_format))
        self.size = _tuple(self, "size", size, 3)

    def call(self, inputs):
        a = inputs._value()
        for axis, n in enumerate(self.size, 1):
            a = nb.repeat(a, n, axis=axis)
        return _ops.tensor(a)

    def compute_output_shape(self, input_shape):
        sides = zip(input_shape[1:4], self.size, strict=True)
        return (input_shape[0], *[None if n is None else n * k for n, k in sides], input_shape[4])


class _Around(Layer):
    """Widths before and after each axis between examples and channels."""

    axes = 2
    ready = has_rule = True

    def __init__(self, widths, data_format=None, **options):
        super().__init__(**options)
        _refuse(self, data_format=_last(data_format))
        given = (widths,) * self.axes if isinstance(widths, int) else tuple(widths)
        if self.axes == 1 and len(given) == 2:
            given = (given,)
        pairs = [(w, w) if isinstance(w, int) else tuple(w) for w in given]
        if len(pairs) != self.axes or any([len(p) != 2 or min(p) < 0 for p in pairs]):
            raise ValueError(
                message(type(self).__name__, "no widths of the axes", widths,
                        "an int, or a pair for each axis")
            )  # fmt: skip
        self.widths = tuple(pairs)


class ZeroPadding1D(_Around):
    """Zeros before and after the steps."""

    axes = 1

    def __init__(self, padding=1, data_format=None, **options):
        super().__init__(padding, data_format, **options)

    def call(self, inputs):
        return _ops.tensor(nb.pad(inputs._value(), ((0, 0), *self.widths, (0, 0))))

    def compute_output_shape(self, input_shape):
        sides = zip(input_shape[1:-1], self.widths, strict=True)
        return (input_shape[0], *[None if n is None else n + a + b for n, (a, b) in sides],
                input_shape[-1])  # fmt: skip


class ZeroPadding2D(ZeroPadding1D):
    """Zeros around pictures."""

    axes = 2


class ZeroPadding3D(ZeroPadding1D):
    """Zeros around three axes."""

    axes = 3


class Cropping1D(_Around):
    """Without the first and the last steps."""

    axes = 1

    def __init__(self, cropping=1, data_format=None, **options):
        super().__init__(cropping, data_format, **options)

    def call(self, inputs):
        x = inputs._value()
        if any([a + b >= n for n, (a, b) in zip(x.shape[1:-1], self.widths, strict=True)]):
            raise ValueError(
                message(type(self).__name__, "nothing is left", self.widths, tuple(x.shape))
            )
        parts = [slice(a, n - b) for n, (a, b) in zip(x.shape[1:-1], self.widths, strict=True)]
        return _ops.tensor(x[(slice(None), *parts)])

    def compute_output_shape(self, input_shape):
        sides = zip(input_shape[1:-1], self.widths, strict=True)
        return (input_shape[0], *[None if n is None else n - a - b for n, (a, b) in sides],
                input_shape[-1])  # fmt: skip


class Cropping2D(Cropping1D):
    """Pictures without their margins."""

    axes = 2


class Cropping3D(Cropping1D):
    """Three axes without their margins."""

    axes = 3


class Permute(Layer):
    """The axes of each example in another order, which counts from 1."""

    ready = has_rule = True

    def __init__(self, dims, **options):
        super().__init__(**options)
        self.dims = tuple(dims)
        if sorted(self.dims) != list(range(1, len(self.dims) + 1)):
            raise ValueError(
                "Invalid permutation argument `dims` for Permute Layer. The set of indices in "
                f"`dims` must be consecutive and start from 1. Received dims={dims}"
            )

    def call(self, inputs):
        return _ops.tensor(inputs._value().transpose((0, *self.dims)))

    def compute_output_shape(self, input_shape):
        return (input_shape[0], *[input_shape[k] for k in self.dims])


class RepeatVector(Layer):
    """Each example several times, along an axis of steps."""

    ready = has_rule = True

    def __init__(self, n, **options):
        super().__init__(**options)
        if not isinstance(n, int):
            raise TypeError(f"Expected an integer value for `n`, got {type(n)}.")
        self.n = n

    def call(self, inputs):
        return _ops.tensor(nb.repeat(inputs._value()[:, None], self.n, axis=1))

    def compute_output_shape(self, input_shape):
        return input_shape[0], self.n, math.prod(input_shape[1:])
