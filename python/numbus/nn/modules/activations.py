"""Activations as modules: what `numbus.nn.functional` has, with its keywords kept."""

from ...tensors import Parameter, full
from .. import functional as F
from .module import Module


class _Activation(Module):
    """A function of one tensor and of what the module keeps, in the order of `_fields`."""

    _fields = ()

    def _kept(self):
        return [getattr(self, name) for name in self._fields]

    def extra_repr(self):
        shown = zip(self._fields, self._kept())
        return ", ".join(
            [f"{name}={value!r}" for name, value in shown if name != "inplace" or value]
        )


class _InPlace(_Activation):
    _fields = ("inplace",)

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def _kept(self):
        return (self.inplace,)


class _Plain(_Activation):
    def __init__(self):
        super().__init__()


def _calls(function):
    """Gives a class the method that calls a function of one tensor and the kept values."""

    def mark(kind):
        def forward(self, input):
            return function(input, *self._kept())

        kind.forward = forward
        return kind

    return mark


@_calls(F.relu)
class ReLU(_InPlace):
    """max(x, 0) of elements."""


@_calls(F.relu6)
class ReLU6(_InPlace):
    """x limited to [0, 6]."""

    def extra_repr(self):
        return "inplace=True" if self.inplace else ""


@_calls(F.selu)
class SELU(_InPlace):
    """elu with constants that keep mean and variance."""


@_calls(F.silu)
class SiLU(_InPlace):
    """x times sigmoid(x)."""


@_calls(F.mish)
class Mish(_InPlace):
    """x tanh(log(1 + exp(x)))."""


@_calls(F.hardswish)
class Hardswish(_InPlace):
    """x times hardsigmoid(x)."""

    def extra_repr(self):
        return ""


@_calls(F.hardsigmoid)
class Hardsigmoid(_InPlace):
    """(x + 3) / 6, limited to [0, 1]."""

    def extra_repr(self):
        return ""


@_calls(F.sigmoid)
class Sigmoid(_Plain):
    """1 / (1 + exp(-x))."""


@_calls(F.logsigmoid)
class LogSigmoid(_Plain):
    """log(sigmoid(x))."""


@_calls(F.tanh)
class Tanh(_Plain):
    """The hyperbolic tangent."""


@_calls(F.softsign)
class Softsign(_Plain):
    """x / (1 + abs(x))."""


@_calls(F.tanhshrink)
class Tanhshrink(_Plain):
    """x - tanh(x)."""


@_calls(F.leaky_relu)
class LeakyReLU(_Activation):
    """x where it is positive, else `negative_slope` times x."""

    _fields = ("negative_slope", "inplace")

    def __init__(self, negative_slope=1e-2, inplace=False):
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace


@_calls(F.elu)
class ELU(_Activation):
    """x where it is positive, else alpha (exp(x) - 1)."""

    _fields = ("alpha", "inplace")

    def __init__(self, alpha=1.0, inplace=False):
        super().__init__()
        self.alpha, self.inplace = alpha, inplace


@_calls(F.celu)
class CELU(ELU):
    """x where it is positive, else alpha (exp(x / alpha) - 1)."""


@_calls(F.hardtanh)
class Hardtanh(_Activation):
    """x limited to [min_val, max_val]."""

    _fields = ("min_val", "max_val", "inplace")

    def __init__(self, min_val=-1.0, max_val=1.0, inplace=False):
        super().__init__()
        self.min_val, self.max_val, self.inplace = min_val, max_val, inplace


@_calls(F.threshold)
class Threshold(_Activation):
    """x where it is above `threshold`, else `value`."""

    _fields = ("threshold", "value", "inplace")

    def __init__(self, threshold, value, inplace=False):
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace


@_calls(F.gelu)
class GELU(_Activation):
    """x times the normal distribution's probability of values up to x."""

    _fields = ("approximate",)

    def __init__(self, approximate="none"):
        super().__init__()
        self.approximate = approximate


@_calls(F.softplus)
class Softplus(_Activation):
    """log(1 + exp(beta x)) / beta, and x where beta x is above `threshold`."""

    _fields = ("beta", "threshold")

    def __init__(self, beta=1.0, threshold=20.0):
        super().__init__()
        self.beta, self.threshold = beta, threshold


class _Shrink(_Activation):
    _fields = ("lambd",)

    def __init__(self, lambd=0.5):
        super().__init__()
        self.lambd = lambd

    def extra_repr(self):
        return str(self.lambd)


@_calls(F.softshrink)
class Softshrink(_Shrink):
    """x moved towards 0 by `lambd`, and 0 within."""


@_calls(F.hardshrink)
class Hardshrink(_Shrink):
    """x, and 0 where its absolute value is not above `lambd`."""


class _Along(_Activation):
    _fields = ("dim",)

    def __init__(self, dim=None):
        super().__init__()
        self.dim = dim


@_calls(F.softmax)
class Softmax(_Along):
    """exp(x) over its sum along `dim`."""


@_calls(F.log_softmax)
class LogSoftmax(_Along):
    """The logarithm of softmax along `dim`."""


@_calls(F.softmin)
class Softmin(_Along):
    """softmax of -x along `dim`."""


class Softmax2d(_Plain):
    """softmax over the channels of (N, C, height, width) or (C, height, width)."""

    def forward(self, input):
        return F.softmax(input, -3)


@_calls(F.glu)
class GLU(_Activation):
    """The first half along `dim` times sigmoid of the second."""

    _fields = ("dim",)

    def __init__(self, dim=-1):
        super().__init__()
        self.dim = dim


class PReLU(Module):
    """x where it is positive, else a parameter times x: one, or one for each channel."""

    def __init__(self, num_parameters=1, init=0.25, device=None, dtype=None):
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(full((num_parameters,), init, device=device, dtype=dtype))

    def forward(self, input):
        return F.prelu(input, self.weight)

    def extra_repr(self):
        return f"num_parameters={self.num_parameters}"
