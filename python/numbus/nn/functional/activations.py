"""Activations: functions of elements, and the softmax family along an axis.

Kinks have the derivatives that PyTorch gives them, such as 0 for relu at 0, and nothing overflows
on the side of a choice that is not taken, as that would make the derivative NaN.
"""

from ..._core import quiet
from ..._core import relu as _relu
from ...core.derivatives import sloped
from ...core.dtypes import is_half
from ...core.errors import message
from ...functions import names as np
from ...functions.special import erf
from ...tensors import pure_function
from ...tensors._arrays import in_single
from ...tensors._dtypes import to_numpy
from ._shared import (
    array,
    axis_of,
    floating,
    pure_function_in_place,
    stored,
    usual_axis,
)

__all__ = [
    "celu", "celu_", "elu", "elu_", "gelu", "glu", "hardshrink", "hardsigmoid", "hardswish",
    "hardtanh", "hardtanh_", "leaky_relu", "leaky_relu_", "log_softmax", "logsigmoid", "mish",
    "prelu", "relu", "relu6", "relu_", "selu", "selu_", "sigmoid", "silu", "softmax", "softmin",
    "softplus", "softshrink", "softsign", "tanh", "tanhshrink", "threshold", "threshold_",
]  # fmt: skip

_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805


@pure_function_in_place
def relu(input, inplace=False):
    """max(x, 0) of elements; NaN stays. `inplace`: the input itself is changed."""
    x = array("relu", input)
    return stored(input, x, _relu(x), inplace)


@pure_function_in_place
def leaky_relu(input, negative_slope=0.01, inplace=False):
    """x where it is positive, else `negative_slope` times x."""
    x = floating("leaky_relu", input)
    return stored(input, x, np.where(x > 0, x, x * negative_slope), inplace)


@pure_function
def prelu(input, weight):
    """x where it is positive, else `weight` times x; `weight` has one element or one a channel
    (axis 1, or 0 of a line). ValueError for other numbers of weights.
    """
    x, w = floating("prelu", input), floating("prelu", weight, "weight")
    channels = x.shape[1] if x.ndim > 1 else 1
    if w.size not in (1, channels):
        raise ValueError(message("prelu", "weights do not fit", w.shape, f"(1,) or ({channels},)"))
    if w.size > 1:
        w = w.reshape((1, -1) + (1,) * (x.ndim - 2))
    elif x.ndim < w.ndim:
        w = w.reshape((1,) * x.ndim)
    return np.where(x > 0, x, x * w)


@pure_function_in_place
def threshold(input, threshold, value, inplace=False):
    """x where it is above `threshold`, else `value`."""
    x = array("threshold", input)
    return stored(input, x, np.where(x <= threshold, x.dtype.type(value), x), inplace)


def _between(x, low, high):
    t = x.dtype.type
    return np.where(x <= low, t(low), np.where(x >= high, t(high), x))


@pure_function_in_place
def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """x limited to [min_val, max_val]. ValueError where these are in the wrong order."""
    if min_val > max_val:
        raise ValueError(
            message("hardtanh", "min_val is above max_val", (min_val, max_val), "the other order")
        )
    x = array("hardtanh", input)
    return stored(input, x, _between(x, min_val, max_val), inplace)


@pure_function_in_place
def relu6(input, inplace=False):
    """x limited to [0, 6]."""
    x = array("relu6", input)
    return stored(input, x, _between(x, 0, 6), inplace)


@pure_function_in_place
@in_single(False)
def hardsigmoid(input, inplace=False):
    """(x + 3) / 6, limited to [0, 1]."""
    x = floating("hardsigmoid", input)
    return stored(input, x, _between(x + 3, 0, 6) / 6, inplace)


@pure_function_in_place
@in_single(False)
def hardswish(input, inplace=False):
    """x times hardsigmoid(x) (Howard et al., Searching for MobileNetV3, 2019)."""
    x = floating("hardswish", input)
    return stored(input, x, x * _between(x + 3, 0, 6) / 6, inplace)


def _negative(x):
    """x where it is not positive, else 0, with the derivative of x at 0."""
    return np.where(x > 0, x.dtype.type(0), x)


@pure_function_in_place
@in_single(False)
def elu(input, alpha=1.0, inplace=False):
    """x where it is positive, else alpha (exp(x) - 1)."""
    x = floating("elu", input)
    return stored(input, x, np.where(x > 0, x, np.expm1(_negative(x)) * alpha), inplace)


@pure_function_in_place
@in_single(False)
def celu(input, alpha=1.0, inplace=False):
    """x where it is positive, else alpha (exp(x / alpha) - 1). ValueError for alpha 0."""
    if alpha == 0:
        raise ValueError(message("celu", "alpha is 0", alpha, "another number"))
    x = floating("celu", input)
    value = np.where(x > 0, x, np.expm1(_negative(x) / alpha) * alpha)
    return stored(input, x, value, inplace)


@pure_function_in_place
@in_single(False)
def selu(input, inplace=False):
    """elu with the constants that keep mean and variance (Klambauer et al., 2017)."""
    x = floating("selu", input)
    value = np.where(x > 0, x, np.expm1(_negative(x)) * _SELU_ALPHA) * _SELU_SCALE
    return stored(input, x, value, inplace)


def logistic(x):
    """1 / (1 + exp(-x)) without overflow, with a derivative that has none either."""
    e = np.exp(np.where(x < 0, x, -x))
    return np.where(x < 0, e, x.dtype.type(1)) / (1 + e)


def log_logistic(x):
    """log(1 / (1 + exp(-x))) without overflow."""
    return np.where(x < 0, x, x.dtype.type(0)) - np.log1p(np.exp(np.where(x < 0, x, -x)))


@pure_function
def sigmoid(input):
    """1 / (1 + exp(-x))."""
    return logistic(floating("sigmoid", input))


@pure_function
@in_single(False)
def logsigmoid(input):
    """log(1 / (1 + exp(-x)))."""
    return log_logistic(floating("logsigmoid", input))


@pure_function
def tanh(input):
    """The hyperbolic tangent of elements."""
    return np.tanh(floating("tanh", input))


@pure_function_in_place
@in_single(False)
def silu(input, inplace=False):
    """x times sigmoid(x)."""
    x = floating("silu", input)
    return stored(input, x, x * logistic(x), inplace)


@pure_function_in_place
@in_single(False)
def mish(input, inplace=False):
    """x tanh(log(1 + exp(x))) (Misra, 2019)."""
    x = floating("mish", input)
    return stored(input, x, x * np.tanh(-log_logistic(-x)), inplace)


# The normal distribution's probability of values up to x.
_normal_cdf = sloped(
    "normal_cdf",
    lambda x: (0.5 * (1 + erf(x * 0.7071067811865476))).astype(x.dtype),
    lambda x: np.exp(x * x * -0.5) * 0.3989422804014327,
)


@pure_function
@in_single(False)
def gelu(input, approximate="none"):
    """x times the normal distribution's probability of values up to x (Hendrycks and Gimpel, 2016).

    approximate: 'none', or 'tanh' for their formula by tanh. ValueError for others.
    """
    x = floating("gelu", input)
    if approximate == "none":
        return x * _normal_cdf(x)
    if approximate != "tanh":
        raise ValueError(
            message("gelu", "approximate not known", repr(approximate), "'none' or 'tanh'")
        )
    inner = (x + x * x * x * 0.044715) * 0.7978845608028654
    return x * 0.5 * (1 + np.tanh(inner))


@pure_function
@in_single(False)
def softplus(input, beta=1.0, threshold=20.0):
    """log(1 + exp(beta x)) / beta, and x itself where beta x is above `threshold`."""
    x = floating("softplus", input)
    z = x * beta
    small = np.where(z > threshold, x.dtype.type(0), z)
    return np.where(z > threshold, x, np.log1p(np.exp(small)) / beta)


@pure_function
def softsign(input):
    """x / (1 + abs(x))."""
    x = floating("softsign", input)
    return x / (1 + np.abs(x))


@pure_function
def tanhshrink(input):
    """x - tanh(x)."""
    x = floating("tanhshrink", input)
    return x - np.tanh(x)


@pure_function
def softshrink(input, lambd=0.5):
    """x moved towards 0 by `lambd`, and 0 within. ValueError for a negative one."""
    if lambd < 0:
        raise ValueError(message("softshrink", "lambd is negative", lambd, "lambd >= 0"))
    x = floating("softshrink", input)
    zero = x.dtype.type(0)
    return np.where(x > lambd, x - lambd, np.where(x < -lambd, x + lambd, x * zero))


@pure_function
def hardshrink(input, lambd=0.5):
    """x, and 0 where its absolute value is not above `lambd`."""
    x = floating("hardshrink", input)
    return np.where((x >= -lambd) & (x <= lambd), x.dtype.type(0), x)


@pure_function
def glu(input, dim=-1):
    """The first half along `dim` times sigmoid of the second (Dauphin et al., 2016). ValueError for
    odd extents.
    """
    x = floating("glu", input)
    axis = axis_of("glu", dim, x.ndim)
    n = x.shape[axis] if x.ndim else 1
    if n % 2:
        raise ValueError(message("glu", f"extent of axis {axis} is odd", n, "an even one"))
    before = (slice(None),) * axis
    return x[before + (slice(0, n // 2),)] * logistic(x[before + (slice(n // 2, n),)])


def _converted(op, input, dtype):
    x = array(op, input)
    if dtype is not None:
        x = x.astype(to_numpy(dtype))
    return floating(op, x)


def softmax_along(x, axis):
    if is_half(x.dtype):
        return softmax_along(x.astype("f4"), axis).astype(x.dtype)
    _, e, total = shifted_exponents(x, axis)
    return e / total


def shifted_exponents(x, axis):
    """(z, exp(z), sum(exp(z))) of z = x - max(x) along an axis, which the sum keeps: nothing
    overflows.
    """
    with quiet():
        most = np.max(x, axis=axis, keepdims=True)
    z = x - most
    e = np.exp(z)
    return z, e, np.sum(e, axis=axis, keepdims=True)


def log_softmax_along(x, axis):
    if is_half(x.dtype):
        return log_softmax_along(x.astype("f4"), axis).astype(x.dtype)
    z, _, total = shifted_exponents(x, axis)
    return z - np.log(total)


def _softened(op, function, x, dim):
    axis = usual_axis(op, dim, x.ndim)
    if x.size == 0:
        return x.copy()
    if x.ndim == 0:
        return function(x.reshape(1), 0).reshape(())
    return function(x, axis)


@pure_function
def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """exp(x) over its sum along `dim`, of the maximum's distance, so that nothing overflows.

    dtype: what the input is converted to before. IndexError for axes that it has not.
    """
    return _softened("softmax", softmax_along, _converted("softmax", input, dtype), dim)


@pure_function
def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """softmax of -x."""
    return _softened("softmin", softmax_along, -_converted("softmin", input, dtype), dim)


@pure_function
def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """The logarithm of softmax, without the exponentials' underflow."""
    x = _converted("log_softmax", input, dtype)
    return _softened("log_softmax", log_softmax_along, x, dim)


def _in_place(function):
    """The name of PyTorch's for `inplace=True`."""

    def changed(input, *args, **keywords):
        return function(input, *args, **keywords, inplace=True)

    changed.__name__ = changed.__qualname__ = function.__name__ + "_"
    changed.__doc__ = f"{function.__name__}() that changes its input, and returns it."
    return changed


celu_, elu_, hardtanh_ = _in_place(celu), _in_place(elu), _in_place(hardtanh)
leaky_relu_, relu_, selu_ = _in_place(leaky_relu), _in_place(relu), _in_place(selu)
threshold_ = _in_place(threshold)
