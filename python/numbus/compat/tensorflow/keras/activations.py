"""keras.activations: functions of tensors, by name."""

from ....core.errors import message
from ..._missing import missing as _missing
from .. import _ops

__name__ = "keras.activations"
relu, sigmoid, tanh = _ops.UNARY["relu"], _ops.UNARY["sigmoid"], _ops.UNARY["tanh"]
softplus, elu, selu = _ops.UNARY["softplus"], _ops.UNARY["elu"], _ops.UNARY["selu"]
softsign, silu, exponential = _ops.UNARY["softsign"], _ops.UNARY["silu"], _ops.UNARY["exp"]
relu6, swish = _ops.UNARY["relu6"], silu
softmax, log_softmax, gelu = _ops.softmax, _ops.log_softmax, _ops.gelu
leaky_relu = _ops.leaky_relu


def linear(x):
    """The tensor itself."""
    return x


_NAMES = (
    "elu exponential gelu leaky_relu linear log_softmax relu relu6 selu sigmoid silu softmax "
    "softplus softsign swish tanh"
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
