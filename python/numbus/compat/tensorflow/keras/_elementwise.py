"""Layers of elements: activations with options, and what training makes random."""

import numbus as nb

from ....core.errors import message
from ....nn import functional as _f
from .. import _ops
from . import activations, regularizers
from ._layers import Layer, _refuse


class Identity(Layer):
    """The tensor itself."""

    ready = has_rule = True
    supports_masking = True

    def call(self, inputs):
        return inputs


class ActivityRegularization(Identity):
    """The tensor itself; the loss gets l1 * sum(|x|) + l2 * sum(x²) of it."""

    def __init__(self, l1=0.0, l2=0.0, **options):
        super().__init__(activity_regularizer=regularizers.L1L2(l1, l2), **options)
        self.l1, self.l2 = l1, l2


class _Elementwise(Layer):
    ready = has_rule = True
    supports_masking = True

    def call(self, inputs):
        return self._function(inputs)


class ReLU(_Elementwise):
    """x above a threshold, up to a number, a line below."""

    def __init__(self, max_value=None, negative_slope=0.0, threshold=0.0, **options):
        super().__init__(**options)
        for name, value, none in (("max_value", max_value, True), ("threshold", threshold, False),
                                  ("negative_slope", negative_slope, False)):  # fmt: skip
            if (value is None and not none) or (value is not None and value < 0):
                raise ValueError(
                    f"{name} of a ReLU layer cannot be a negative value. Received: {name}={value}"
                )
        self.max_value, self.negative_slope = max_value, negative_slope
        self.threshold = threshold

    def _function(self, x):
        return activations.relu(x, self.negative_slope, self.max_value, self.threshold)


class LeakyReLU(_Elementwise):
    """x, or `negative_slope * x` below zero."""

    def __init__(self, negative_slope=0.3, **options):
        if "alpha" in options:  # as older programs have it
            negative_slope = options.pop("alpha")
        super().__init__(**options)
        self.negative_slope = negative_slope

    def _function(self, x):
        return activations.leaky_relu(x, self.negative_slope)


class ELU(_Elementwise):
    """x, or alpha (exp(x) - 1) below zero."""

    def __init__(self, alpha=1.0, **options):
        super().__init__(**options)
        self.alpha = alpha

    def _function(self, x):
        return activations.elu(x, alpha=self.alpha)


class PReLU(Layer):
    """x, or a part of it below zero that is learned."""

    has_rule = True
    supports_masking = True
    regularized = (("alpha", "alpha"),)

    def __init__(self, alpha_initializer="zeros", alpha_regularizer=None, alpha_constraint=None,
                 shared_axes=None, **options):  # fmt: skip
        super().__init__(alpha_regularizer=alpha_regularizer, alpha_constraint=alpha_constraint,
                         **options)  # fmt: skip
        self.alpha_initializer = alpha_initializer
        self.shared_axes = [shared_axes] if isinstance(shared_axes, int) else shared_axes or []

    def build(self, input_shape):
        shape = [1 if k in self.shared_axes else n for k, n in enumerate(input_shape)][1:]
        self.alpha = self.add_weight(tuple(shape), self.alpha_initializer, name="alpha")

    def call(self, inputs):
        x = inputs._value()
        return _ops.tensor(_f.relu(x) - self.alpha._value() * _f.relu(-x))


class _Noise(Layer):
    """What is done in training alone, with random numbers of the layer's seed, if it has one."""

    ready = has_rule = True
    supports_masking = True

    def __init__(self, rate, noise_shape=None, seed=None, **options):
        super().__init__(**options)
        if not 0 <= rate <= 1:
            raise ValueError(f"Invalid value received for argument `rate`. Received: rate={rate}")
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed
        self._rng = None if seed is None else nb.random.default_rng(int(seed))

    def call(self, inputs, training=False):
        if not training or not self.rate:
            return inputs
        return _ops.tensor(self._changed(inputs._value()))

    def _shape(self, x):
        given = self.noise_shape
        if given is None:
            return tuple(x.shape)
        if len(given) != x.ndim:
            raise ValueError(
                message(self.name, "noise_shape has another number of axes", given, tuple(x.shape))
            )
        return tuple([n if k is None else k for k, n in zip(given, x.shape, strict=True)])

    def _drawn(self, kind, x):
        shape = self._shape(x)
        if self._rng is None:
            return _ops.drawn(kind, shape, None).astype(x.dtype)
        return getattr(self._rng, kind)(size=shape).astype(x.dtype)


class Dropout(_Noise):
    """In training, elements as 0 with the probability `rate`, others divided by 1 - rate."""

    def _changed(self, x):
        shape = self._shape(x)
        if self._rng is None:
            if shape == tuple(x.shape):
                return _f.dropout(x, self.rate, True)
            return x * _f.dropout(nb.ones(shape, x.dtype), self.rate, True)
        if self.rate == 1:
            return x * x.dtype.type(0)
        kept = (self._drawn("random", x) >= self.rate).astype(x.dtype)
        return x * (kept / (1 - self.rate))


class _SpatialDropout(Dropout):
    def __init__(self, rate, seed=None, data_format=None, **options):
        super().__init__(rate, seed=seed, **options)
        _refuse(self, data_format=None if data_format == "channels_last" else data_format)

    def _shape(self, x):
        if x.ndim != self.axes + 2:
            raise ValueError(
                f'Input 0 of layer "{self.name}" is incompatible with the layer: expected ndim='
                f"{self.axes + 2}, found ndim={x.ndim}. Full shape received: {tuple(x.shape)}"
            )
        return (x.shape[0], *[1] * self.axes, x.shape[-1])


def _spatial(axes):
    doc = "In training, whole channels as 0 with the probability `rate`."
    return type(f"SpatialDropout{axes}D", (_SpatialDropout,), {"axes": axes, "__doc__": doc})


SpatialDropout1D, SpatialDropout2D, SpatialDropout3D = (_spatial(n) for n in (1, 2, 3))


class GaussianDropout(_Noise):
    """In training, elements times normal numbers of mean 1 and variance rate / (1 - rate)."""

    def __init__(self, rate, seed=None, **options):
        super().__init__(rate, None, seed, **options)

    def _changed(self, x):
        deviation = (self.rate / (1 - self.rate)) ** 0.5
        return x * (1 + deviation * self._drawn("standard_normal", x))


class GaussianNoise(_Noise):
    """In training, elements plus normal numbers."""

    def __init__(self, stddev, seed=None, **options):
        super().__init__(stddev, None, seed, **options)
        self.stddev = stddev

    def _changed(self, x):
        return x + self.stddev * self._drawn("standard_normal", x)


class AlphaDropout(_Noise):
    """In training, elements as what `selu` gives for very small ones, so that mean and variance
    stay (Klambauer et al., 2017).
    """

    def _changed(self, x):
        low = -1.6732632423543772 * 1.0507009873554805
        kept = (self._drawn("random", x) >= self.rate).astype(x.dtype)
        scale = ((1 - self.rate) * (1 + self.rate * low**2)) ** -0.5
        return scale * (x * kept + low * (1 - kept)) - scale * low * self.rate


class EinsumDense(Layer):
    """activation(einsum(equation, inputs, kernel) + bias)."""

    regularized = (("kernel", "kernel"), ("bias", "bias"))

    def __init__(self, equation, output_shape, activation=None, bias_axes=None,
                 kernel_initializer="glorot_uniform", bias_initializer="zeros",
                 **options):  # fmt: skip
        super().__init__(**options)
        self.equation, self.bias_axes = equation.replace(" ", ""), bias_axes
        self.partial_output_shape = (output_shape,) if isinstance(output_shape, int) else tuple(
            output_shape
        )  # fmt: skip
        self.activation = activations.get(activation)
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer

    def build(self, input_shape):
        operands, _, result = self.equation.partition("->")
        first, _, second = operands.partition(",")
        letters, outs = first.strip("."), result.strip(".")
        before = first.startswith("...") or not first.endswith("...")
        sizes = dict(zip(letters[::-1], input_shape[::-1], strict=False) if before else
                     zip(letters, input_shape, strict=False))  # fmt: skip
        given = self.partial_output_shape
        if len(given) != len(outs) - (not result.startswith("...")):
            raise ValueError(
                message("EinsumDense", "output_shape has not a size for each axis of the result",
                        given, f"those of {result!r} after that of examples")
            )  # fmt: skip
        ends = zip(outs[::-1], given[::-1], strict=False) if before else (
            zip(outs[1:], given, strict=False)
        )  # fmt: skip
        made = dict(ends)
        for letter, n in made.items():
            if n is not None and sizes.get(letter) not in (None, n):
                raise ValueError(
                    message("EinsumDense", "the output shape does not fit the input", given,
                            f"{sizes[letter]} for {letter}")
                )  # fmt: skip
        sizes = {k: n for k, n in made.items() if n is not None} | {
            k: n for k, n in sizes.items() if n is not None
        }
        unknown = [k for k in second if k not in sizes]
        if unknown:
            raise ValueError(
                message("EinsumDense", "sizes that neither input nor output_shape tell", unknown,
                        self.equation)
            )  # fmt: skip
        self.kernel = self.add_weight(tuple([sizes[k] for k in second]), self.kernel_initializer,
                                      name="kernel")  # fmt: skip
        self.bias = None
        if self.bias_axes is not None:
            wrong = [k for k in self.bias_axes if k not in outs]
            if wrong:
                raise ValueError(
                    message("EinsumDense", "bias_axes that the result has not", wrong, outs)
                )
            start = min([outs.index(k) for k in self.bias_axes])
            shape = [sizes[k] if k in self.bias_axes else 1 for k in outs[start:]]
            if not before:  # axes that come last
                shape += [1] * (len(input_shape) - len(letters))
            self.bias = self.add_weight(tuple(shape), self.bias_initializer, name="bias")

    def call(self, inputs):
        found = nb.einsum(self.equation, inputs._value(), self.kernel._value())
        if self.bias is not None:
            found = found + self.bias._value()
        return self.activation(_ops.tensor(found))
