"""`numbus.nn.init`: what parameters begin as. All functions change a tensor in place, without a
gradient, and return it; random numbers are those of `manual_seed`, or of `generator`.
"""

import functools
import math
import warnings

from ..core.errors import message
from ..functions import names as np
from ..functions.special import erf
from ..linalg import qr
from ..tensors import empty, no_grad, randperm

__all__ = [
    "calculate_gain", "constant_", "dirac_", "eye_", "kaiming_normal_", "kaiming_uniform_",
    "normal_", "ones_", "orthogonal_", "sparse_", "trunc_normal_", "uniform_", "xavier_normal_",
    "xavier_uniform_", "zeros_",
]  # fmt: skip

_GAINS = {
    "linear": 1.0, "conv1d": 1.0, "conv2d": 1.0, "conv3d": 1.0, "conv_transpose1d": 1.0,
    "conv_transpose2d": 1.0, "conv_transpose3d": 1.0, "sigmoid": 1.0, "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0), "selu": 3.0 / 4,
}  # fmt: skip


def calculate_gain(nonlinearity, param=None):
    """The factor of standard deviations for an activation of that name.

    param: the slope of leaky_relu, 0.01 unless given. ValueError for names that are not known.
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(message("calculate_gain", "negative_slope", param, "a number"))
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in _GAINS:
        known = ", ".join([*_GAINS, "leaky_relu"])
        raise ValueError(
            message("calculate_gain", "nonlinearity not known", repr(nonlinearity), known)
        )
    return _GAINS[nonlinearity]


def _fans(tensor):
    """(fan in, fan out): how many inputs an output depends on, and the other way."""
    if tensor.ndim < 2:
        raise ValueError(
            message("init", "fan in and fan out of fewer than 2 dimensions", tuple(tensor.shape),
                    "2 and more")
        )  # fmt: skip
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Numbers from the uniform distribution of [a, b)."""
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Numbers from the normal distribution."""
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Numbers from the normal distribution, given that they lie in [a, b]: the inverse of its
    distribution function of uniform numbers.
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            message("trunc_normal_", "mean is more than 2 standard deviations from [a, b]",
                    mean, "a mean nearer to it"),
            stacklevel=2,
        )  # fmt: skip

    def below(x):
        return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0

    low, high = below((a - mean) / std), below((b - mean) / std)
    with no_grad():
        tensor.uniform_(2 * low - 1, 2 * high - 1, generator=generator)
        x = tensor._array
        x[...] = np.clip(erfinv(x) * (std * math.sqrt(2.0)) + mean, a, b)
    return tensor


def erfinv(x):
    """The inverse of the error function to 7 digits (Giles, Approximating the erfinv function, GPU
    Computing Gems, 2011); of float64 improved by Newton's method.
    """
    tiny = float(np.finfo(x.dtype).epsneg)
    x = np.clip(x, tiny - 1, 1 - tiny)
    w = -np.log((1 - x) * (1 + x))
    near, far = w - 2.5, np.sqrt(np.maximum(w, 5)) - 3
    found = np.where(w < 5, _polynomial(_NEAR, near), _polynomial(_FAR, far)) * x
    if x.dtype.itemsize == 8:
        for _ in range(2):
            slope = (2 / math.sqrt(math.pi)) * np.exp(-found * found)
            found = found - (erf(found) - x) / slope
    return found


def _polynomial(factors, w):
    value = factors[0]
    for factor in factors[1:]:
        value = value * w + factor
    return value


_NEAR = (
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
    -0.00125372503, -0.00417768164, 0.246640727, 1.50140941,
)  # fmt: skip
_FAR = (
    -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
    -0.0076224613, 0.00943887047, 1.00167406, 2.83297682,
)  # fmt: skip


def constant_(tensor, val):
    """`val` everywhere."""
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor):
    """1 everywhere."""
    return constant_(tensor, 1.0)


def zeros_(tensor):
    """0 everywhere."""
    return constant_(tensor, 0.0)


def eye_(tensor):
    """The identity. ValueError for what is no matrix."""
    if tensor.ndim != 2:
        raise ValueError(message("eye_", "no matrix", tuple(tensor.shape), "2 dimensions"))
    zeros_(tensor)
    with no_grad():
        for k in range(min(tensor.shape)):
            tensor[k, k] = 1
    return tensor


def dirac_(tensor, groups=1):
    """Weights of a convolution that leaves as many channels as it can as they are.

    ValueError for other than 3 to 5 dimensions, and for groups that do not divide the channels.
    """
    if tensor.ndim not in (3, 4, 5):
        raise ValueError(message("dirac_", "dimensions", tensor.ndim, "3, 4 or 5"))
    if tensor.shape[0] % groups:
        raise ValueError(message("dirac_", "groups do not divide", groups, tensor.shape[0]))
    each = tensor.shape[0] // groups
    middle = tuple(n // 2 for n in tensor.shape[2:])
    zeros_(tensor)
    with no_grad():
        for g in range(groups):
            for k in range(min(each, tensor.shape[1])):
                tensor[(g * each + k, k, *middle)] = 1
    return tensor


def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Uniform numbers up to gain sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio, 2010)."""
    bound = gain * math.sqrt(6.0 / sum(_fans(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    """Normal numbers of the deviation gain sqrt(2 / (fan_in + fan_out))."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(_fans(tensor))), generator)


def _deviation(tensor, a, mode, nonlinearity):
    words = {"fan_in": 0, "fan_out": 1}
    if mode not in words:
        raise ValueError(message("kaiming", "mode", repr(mode), "'fan_in' or 'fan_out'"))
    return calculate_gain(nonlinearity, a) / math.sqrt(_fans(tensor)[words[mode]])


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Uniform numbers of the deviation gain / sqrt(fan) (He et al., 2015); a: the slope of
    leaky_relu.
    """
    if 0 in tensor.shape:
        return tensor
    bound = math.sqrt(3.0) * _deviation(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Normal numbers of the deviation gain / sqrt(fan)."""
    if 0 in tensor.shape:
        return tensor
    return normal_(tensor, 0.0, _deviation(tensor, a, mode, nonlinearity), generator)


def orthogonal_(tensor, gain=1, generator=None):
    """Rows, or columns, that are orthogonal, of all axes but the first taken together (Saxe et al.,
    2014), by a QR decomposition of normal numbers.
    """
    if tensor.ndim < 2:
        raise ValueError(message("orthogonal_", "fewer than 2 dimensions", tensor.ndim, "2"))
    if tensor.numel() == 0:
        return tensor
    rows, columns = tensor.shape[0], tensor.numel() // tensor.shape[0]
    with no_grad():
        flat = normal_(empty((rows, columns), dtype=tensor.dtype, device=tensor.device),
                       generator=generator)._array  # fmt: skip
        q, r = qr(flat.T if rows < columns else flat)
        diagonal = r.diagonal()
        q = q * (2 * (diagonal >= 0) - 1).astype(q.dtype)
        q = q.T if rows < columns else q
        tensor._array[...] = (q * gain).reshape(tensor._array.shape)
    return tensor


def sparse_(tensor, sparsity, std=0.01, generator=None):
    """Normal numbers, of which that part of each column is 0 (Martens, 2010)."""
    if tensor.ndim != 2:
        raise ValueError(message("sparse_", "no matrix", tuple(tensor.shape), "2 dimensions"))
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    normal_(tensor, 0.0, std, generator)
    with no_grad():
        for k in range(columns):
            tensor[randperm(rows, generator=generator)[:zeros], k] = 0
    return tensor


def _older(function):
    """The deprecated name without an underscore."""

    @functools.wraps(function)
    def deprecated(*args, **keywords):
        name = function.__name__
        warnings.warn(
            message(name[:-1], "a deprecated name", name[:-1], name), FutureWarning, stacklevel=2
        )
        return function(*args, **keywords)

    return deprecated


constant, dirac, eye = _older(constant_), _older(dirac_), _older(eye_)
kaiming_normal, kaiming_uniform = _older(kaiming_normal_), _older(kaiming_uniform_)
normal, orthogonal, sparse = _older(normal_), _older(orthogonal_), _older(sparse_)
uniform, xavier_normal = _older(uniform_), _older(xavier_normal_)
xavier_uniform = _older(xavier_uniform_)


def _calculate_fan_in_and_fan_out(tensor):
    """(inputs, outputs) of an element of the result, as programs ask for them."""
    return _fans(tensor)


def _calculate_correct_fan(tensor, mode):
    """Inputs or outputs, by 'fan_in' or 'fan_out'."""
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(message("init", "mode", mode, "'fan_in' or 'fan_out'"))
    return _fans(tensor)[mode.lower() == "fan_out"]
