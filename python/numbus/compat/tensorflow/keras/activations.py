"""keras.activations: functions of tensors, by name."""

import numbus as nb

from ....core.errors import message
from ....nn import functional as _f
from ..._missing import missing as _missing
from .. import _ops
from .._tensor import convert
from ._functional import KerasTensor

__name__ = "keras.activations"


def _named(name, doc, function):
    def activation(x, *args, **options):
        if isinstance(x, KerasTensor):
            return x.through(lambda t: activation(t, *args, **options))
        return _ops.tensor(function(convert(x)._value(), *args, **options))

    activation.__name__ = activation.__qualname__ = name
    activation.__doc__ = doc
    return activation


def _of(name, doc, known=None):
    """A function of `numbus.nn.functional` with the same arguments."""
    return _named(name, doc, getattr(_f, known or name))


def _relu(x, negative_slope=0.0, max_value=None, threshold=0.0):
    if negative_slope and max_value is None and not threshold:
        return _f.leaky_relu(x, negative_slope)
    found = nb.where(x > threshold, x, x.dtype.type(0)) if threshold else _f.relu(x)
    if max_value is not None:
        found = nb.clip(found, 0, max_value)
    if negative_slope:
        found = found - negative_slope * _f.relu(threshold - x)
    return found


def _gelu(x, approximate=False):
    return _f.gelu(x, "tanh" if approximate else "none")


def _squareplus(x, b=4):
    return (x + nb.sqrt(x * x + b)) / 2


def _between(x, inner):
    """0 up to -1, x from 1 on, a function between."""
    zero = x.dtype.type(0)
    return nb.where(x <= -1, zero, nb.where(x >= 1, x, inner))


def _sparsemax(x, axis=-1):
    """The nearest point of a row whose elements are not negative and have the sum 1."""
    moved = nb.moveaxis(x, axis, -1)
    ordered = nb.flip(nb.sort(nb.stop_gradient(moved), axis=-1), axis=-1)
    counts = nb.arange(1, moved.shape[-1] + 1).astype(x.dtype)
    on = 1 + counts * ordered > nb.cumsum(ordered, axis=-1)
    size = nb.sum(on, axis=-1, keepdims=True)
    least = nb.take_along_axis(ordered, size - 1, axis=-1)
    inside = moved >= least
    total = nb.sum(nb.where(inside, moved, x.dtype.type(0)), axis=-1, keepdims=True)
    found = nb.maximum(moved - (total - 1) / size.astype(x.dtype), 0)
    return nb.moveaxis(found, -1, axis)


relu = _named("relu", "x above a threshold, up to a number, a line below.", _relu)
sigmoid = _of("sigmoid", "1 / (1 + exp(-x)).")
tanh = _named("tanh", "The hyperbolic tangent.", nb.tanh)
softplus = _named("softplus", "log(1 + exp(x)).", _f.softplus)
elu, selu = _of("elu", "x, or alpha (exp(x) - 1) below zero."), _of("selu", "`elu` times a scale.")
celu = _of("celu", "x, or alpha (exp(x / alpha) - 1) below zero.")
softsign = _named("softsign", "x / (1 + |x|).", _f.softsign)
silu = swish = _named("silu", "x times its sigmoid.", _f.silu)
exponential = _named("exponential", "exp(x).", nb.exp)
relu6 = _of("relu6", "x between 0 and 6.")
glu = _named("glu", "The first half of an axis times the sigmoid of the other.",
             lambda x, axis=-1: _f.glu(x, axis))  # fmt: skip
mish = _of("mish", "x tanh(softplus(x)).")
hard_sigmoid = _of("hard_sigmoid", "x / 6 + 1 / 2 between 0 and 1.", "hardsigmoid")
hard_silu = hard_swish = _of("hard_silu", "x times its hard sigmoid.", "hardswish")
hard_tanh = _named("hard_tanh", "x between -1 and 1.", lambda x: nb.clip(x, -1, 1))
log_sigmoid = _of("log_sigmoid", "The logarithm of the sigmoid.", "logsigmoid")
tanh_shrink = _named("tanh_shrink", "x - tanh(x).", lambda x: x - nb.tanh(x))
soft_shrink = _named("soft_shrink", "x nearer to zero by a threshold.",
                     lambda x, threshold=0.5: _f.softshrink(x, threshold))  # fmt: skip
hard_shrink = _named("hard_shrink", "x, 0 where it is within a threshold.",
                     lambda x, threshold=0.5: _f.hardshrink(x, threshold))  # fmt: skip
threshold = _named(
    "threshold", "x above a threshold, another value elsewhere.",
    lambda x, threshold, default_value: nb.where(
        x > threshold, x, x.dtype.type(default_value)
    ),
)  # fmt: skip
squareplus = _named("squareplus", "(x + sqrt(x² + b)) / 2.", _squareplus)
sparse_plus = _named("sparse_plus", "0 up to -1, (x + 1)² / 4 up to 1, then x.",
                     lambda x: _between(x, nb.square(x + 1) / 4))  # fmt: skip
sparse_sigmoid = _named("sparse_sigmoid", "(x + 1) / 2 between 0 and 1.",
                        lambda x: nb.clip((x + 1) / 2, 0, 1))  # fmt: skip
sparsemax = _named("sparsemax", "The nearest parts of 1 along an axis.", _sparsemax)
softmax = _named("softmax", "exp(x) as parts of its sum along an axis.",
                 lambda x, axis=-1: _f.softmax(x, _axes(axis)))  # fmt: skip
log_softmax = _named("log_softmax", "The logarithm of `softmax`.",
                     lambda x, axis=-1: _f.log_softmax(x, axis))  # fmt: skip
gelu = _named("gelu", "x times the normal distribution function.", _gelu)
leaky_relu = _named("leaky_relu", "x, or a part of it below zero.",
                    lambda x, negative_slope=0.2: _f.leaky_relu(x, negative_slope))  # fmt: skip


def _axes(axis):
    if isinstance(axis, (list, tuple)):
        if len(axis) != 1:
            raise NotImplementedError(
                message("softmax", "several axes are not yet available", axis, "one axis")
            )
        return axis[0]
    return axis


def linear(x):
    """The tensor itself."""
    return x


_NAMES = (
    "celu elu exponential gelu glu hard_shrink hard_sigmoid hard_silu hard_swish hard_tanh "
    "leaky_relu linear log_sigmoid log_softmax mish relu relu6 selu sigmoid silu soft_shrink "
    "softmax softplus softsign sparse_plus sparse_sigmoid sparsemax squareplus swish tanh "
    "tanh_shrink threshold"
).split()


def get(identifier):
    """A function from its name; functions stay as they are, None is `linear`."""
    if identifier is None:
        return linear
    if callable(identifier):
        return identifier
    if identifier in _NAMES:
        return globals()[identifier]
    raise ValueError(message("activation", "unknown", identifier, ", ".join(_NAMES)))


def __getattr__(name):
    return _missing("keras.activations", name)
