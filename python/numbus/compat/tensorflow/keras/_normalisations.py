"""Layers that bring numbers to a mean and a variance, or to a length."""

import numbus as nb

from ....core.errors import message
from ....nn import functional as _f
from .. import _ops
from .._tensor import as_array, convert
from ._layers import Layer, _refuse


class _Normalization(Layer):
    """What these share: a factor gamma and an addend beta of the elements along axes."""

    has_rule = True
    supports_masking = True
    regularized = (("gamma", "gamma"), ("beta", "beta"))

    def __init__(self, axis=-1, epsilon=0.001, center=True, scale=True, beta_initializer="zeros",
                 gamma_initializer="ones", **options):  # fmt: skip
        super().__init__(**options)
        self.axis, self.epsilon, self.center, self.scale = axis, epsilon, center, scale
        self.beta_initializer, self.gamma_initializer = beta_initializer, gamma_initializer

    def _make(self, shape):
        self.gamma = self.add_weight(shape, self.gamma_initializer, name="gamma") if (
            self.scale
        ) else None  # fmt: skip
        self.beta = self.add_weight(shape, self.beta_initializer, name="beta") if (
            self.center
        ) else None  # fmt: skip

    def _both(self):
        return [None if v is None else v._value() for v in (self.gamma, self.beta)]


def _applied(x, mean, variance, epsilon, gamma, beta):
    found = (x - mean) / nb.sqrt(variance + epsilon)
    found = found if gamma is None else found * gamma
    return found if beta is None else found + beta


class BatchNormalization(_Normalization):
    """(x - mean) / sqrt(variance + epsilon) * gamma + beta along an axis.

    Mean and variance are those of the batch in training, of what a mask leaves; moving ones
    otherwise.
    """

    def __init__(self, axis=-1, momentum=0.99, epsilon=0.001, center=True, scale=True,
                 beta_initializer="zeros", gamma_initializer="ones",
                 moving_mean_initializer="zeros", moving_variance_initializer="ones",
                 renorm=False, synchronized=False, **options):  # fmt: skip
        super().__init__(axis, epsilon, center, scale, beta_initializer, gamma_initializer,
                         **options)  # fmt: skip
        _refuse(self, renorm=renorm or None)
        if not isinstance(synchronized, bool):  # of one device there is nothing to synchronize
            raise TypeError(
                message("BatchNormalization", "synchronized is no bool", synchronized, "a bool")
            )
        self.momentum = momentum
        self._of_moving = moving_mean_initializer, moving_variance_initializer

    def build(self, input_shape):
        n, (mean, variance) = (input_shape[self.axis],), self._of_moving
        self._make(n)
        self.moving_mean = self.add_weight(n, mean, False, "moving_mean")
        self.moving_variance = self.add_weight(n, variance, False, "moving_variance")

    def call(self, inputs, training=False, mask=None):
        x = inputs._value()
        at = self.axis % x.ndim
        planes = x if at == 1 else nb.moveaxis(x, at, 1)
        gamma, beta = self._both()
        if not (training and self.trainable):
            found = _f.batch_norm(planes, self.moving_mean._a, self.moving_variance._a, gamma,
                                  beta, False, 0.0, self.epsilon)  # fmt: skip
            return _ops.tensor(found if at == 1 else nb.moveaxis(found, 1, at))
        axes = tuple([k for k in range(x.ndim) if k != at])
        if mask is not None:
            mean, variance = self._of_masked(x, mask, axes)
        else:
            mean, variance = nb.mean(x, axis=axes), nb.var(x, axis=axes)
        kept = self.momentum
        for moving, now in ((self.moving_mean, mean), (self.moving_variance, variance)):
            now = nb.stop_gradient(now)
            moving._assigned(as_array(moving._a * kept + now * (1 - kept)))
        if mask is None and x.size > x.shape[at]:
            found = _f.batch_norm(planes, None, None, gamma, beta, True, 0.0, self.epsilon)
            return _ops.tensor(found if at == 1 else nb.moveaxis(found, 1, at))
        shape = [1] * x.ndim
        shape[at] = -1
        parts = [None if a is None else a.reshape(shape) for a in (mean, variance, gamma, beta)]
        return _ops.tensor(_applied(x, *parts[:2], self.epsilon, *parts[2:]))

    def _of_masked(self, x, mask, axes):
        """Mean and variance of the examples, or steps, whose mask is True."""
        on = convert(mask)._value().astype(bool)
        if on.ndim != x.ndim - 1:
            raise ValueError(
                "The mask provided should be one dimension less than the inputs. Received: "
                f"mask.shape={tuple(on.shape)}, inputs.shape={tuple(x.shape)}"
            )
        on, zero = nb.broadcast_to(on[..., None], x.shape), x.dtype.type(0)
        count = nb.sum(on.astype(x.dtype), axis=axes, keepdims=True) + 1e-7
        mean = nb.sum(nb.where(on, x, zero), axis=axes, keepdims=True) / count
        squares = nb.square(nb.where(on, x - mean, zero))
        variance = nb.sum(squares, axis=axes, keepdims=True) / count
        return mean.reshape(-1), variance.reshape(-1)


def _axes(axis, ndim):
    return tuple([k % ndim for k in (axis if isinstance(axis, (list, tuple)) else [axis])])


class LayerNormalization(_Normalization):
    """(x - mean) / sqrt(variance + epsilon) * gamma + beta of each example's axes."""

    def build(self, input_shape):
        self._along = sorted(_axes(self.axis, len(input_shape)))
        self._make(tuple([input_shape[k] for k in self._along]))

    def call(self, inputs):
        x = inputs._value()
        axes = sorted(_axes(self.axis, x.ndim))
        gamma, beta = self._both()
        if axes == list(range(x.ndim - len(axes), x.ndim)):
            shape = tuple(x.shape[axes[0] :])
            return _ops.tensor(_f.layer_norm(x, shape, gamma, beta, self.epsilon))
        shape = [n if k in axes else 1 for k, n in enumerate(x.shape)]
        gamma, beta = [None if a is None else a.reshape(shape) for a in (gamma, beta)]
        mean = nb.mean(x, axis=tuple(axes), keepdims=True)
        variance = nb.var(x, axis=tuple(axes), keepdims=True)
        return _ops.tensor(_applied(x, mean, variance, self.epsilon, gamma, beta))


class GroupNormalization(_Normalization):
    """`LayerNormalization` of groups of channels; -1: of each channel."""

    def __init__(self, groups=32, axis=-1, epsilon=0.001, center=True, scale=True, **options):
        if not isinstance(groups, int) or (groups <= 0 and groups != -1):
            raise ValueError(
                "Received an invalid value for argument `groups`, expected a positive integer (or "
                f"`-1` for instance normalization). Received: groups={groups}"
            )
        super().__init__(axis, epsilon, center, scale, **options)
        self.groups = groups

    def build(self, input_shape):
        n = input_shape[self.axis]
        self.groups = n if self.groups == -1 else self.groups
        if n % self.groups:
            raise ValueError(
                message("GroupNormalization", "groups do not divide the channels", self.groups,
                        f"a divisor of {n}")
            )  # fmt: skip
        self._make((n,))

    def call(self, inputs):
        x = inputs._value()
        at = self.axis % x.ndim
        planes = x if at == 1 else nb.moveaxis(x, at, 1)
        parts = planes.reshape((x.shape[0], self.groups, -1))
        mean = nb.mean(parts, axis=2, keepdims=True)
        variance = nb.var(parts, axis=2, keepdims=True)
        found = ((parts - mean) / nb.sqrt(variance + self.epsilon)).reshape(planes.shape)
        shape = (1, -1, *[1] * (x.ndim - 2))
        gamma, beta = [None if a is None else a.reshape(shape) for a in self._both()]
        found = found if gamma is None else found * gamma
        found = found if beta is None else found + beta
        return _ops.tensor(found if at == 1 else nb.moveaxis(found, 1, at))


class RMSNormalization(Layer):
    """x / sqrt(the mean of x² + epsilon) * scale along axes."""

    has_rule = True

    def __init__(self, axis=-1, epsilon=1e-6, **options):
        super().__init__(**options)
        self.axis, self.epsilon = axis, epsilon

    def build(self, input_shape):
        axes = sorted(_axes(self.axis, len(input_shape)))
        self.scale = self.add_weight(tuple([input_shape[k] for k in axes]), "ones", name="scale")

    def call(self, inputs):
        x = inputs._value()
        axes = tuple(sorted(_axes(self.axis, x.ndim)))
        shape = [n if k in axes else 1 for k, n in enumerate(x.shape)]
        size = nb.sqrt(nb.mean(nb.square(x), axis=axes, keepdims=True) + self.epsilon)
        return _ops.tensor(x / size * self.scale._value().reshape(shape))


class UnitNormalization(Layer):
    """x / its length along axes."""

    ready = has_rule = True
    supports_masking = True

    def __init__(self, axis=-1, **options):
        super().__init__(**options)
        self.axis = axis

    def call(self, inputs):
        x = inputs._value()
        squares = nb.sum(nb.square(x), axis=_axes(self.axis, x.ndim), keepdims=True)
        return _ops.tensor(x / nb.sqrt(nb.maximum(squares, 1e-12)))


class Normalization(Layer):
    """(x - mean) / sqrt(variance) with numbers given, or those of the data of `adapt`."""

    has_rule = True

    def __init__(self, axis=-1, mean=None, variance=None, invert=False, **options):
        super().__init__(**options)
        if (mean is None) != (variance is None):
            raise ValueError(
                "When setting values directly, both `mean` and `variance` must be set. Received: "
                f"mean={mean} and variance={variance}"
            )
        self.axis, self.invert, self._given = axis, invert, (mean, variance)
        self.mean = self.variance = None

    def _kept_axes(self, ndim):
        return () if self.axis is None else _axes(self.axis, ndim)

    def build(self, input_shape):
        if self._given[0] is not None:
            kept = self._kept_axes(len(input_shape))
            shape = [n if k in kept else 1 for k, n in enumerate(input_shape)]
            self.mean, self.variance = [
                _ops.tensor(nb.broadcast_to(nb.array(a, dtype="f4"), shape)) for a in self._given
            ]

    def adapt(self, data, batch_size=None, steps=None):
        """Takes mean and variance of an array, or of a data set."""
        _refuse(self, steps=steps)
        if batch_size is not None and not isinstance(batch_size, int):
            raise TypeError(message("adapt", "batch_size is no int", batch_size, "an int"))
        if hasattr(data, "as_numpy_iterator"):
            a = nb.concatenate([convert(x)._value() for x in data])
        else:
            a = convert(data)._value()
        a = a.astype("f4")
        kept = self._kept_axes(a.ndim)
        axes = tuple([k for k in range(a.ndim) if k not in kept])
        self.mean = _ops.tensor(nb.mean(a, axis=axes, keepdims=True))
        self.variance = _ops.tensor(nb.var(a, axis=axes, keepdims=True))
        self.built = True

    def call(self, inputs):
        if self.mean is None:
            raise ValueError(
                message("Normalization", "no mean and variance", self.name,
                        "adapt(data), or mean= and variance=")
            )  # fmt: skip
        x = _ops.cast(inputs, self.dtype)._value()
        mean = self.mean._value()
        deviation = nb.maximum(nb.sqrt(self.variance._value()), 1e-7)
        return _ops.tensor(x * deviation + mean if self.invert else (x - mean) / deviation)
