"""Functions of torch.special that tensors do not have: scaled Bessel functions, tails of the normal
distribution.
"""

import math

import numpy as np

import numbus as nb

from ...core.errors import message
from ...functions import special
from ...functions.registry import element
from ...tensors import tensor_function
from ...tensors._arrays import as_dtype, floating
from ...tensors.autograd import Function
from ...tensors.special_functions import _bessel_1, sloped

__all__ = ["erfcx", "gammainc", "gammaincc", "i0e", "i1", "i1e", "log_ndtr", "ndtri"]


@element
def _i0e(x):
    """exp(-|x|) I0(x): its series, far from zero the asymptotic one."""
    y = abs(x)
    if y != y:
        return y
    if y > 30:
        term = total = 1.0
        for k in range(1, 16):
            term *= (2 * k - 1) * (2 * k - 1) / (8 * k * y)
            total += term
        return total / math.sqrt(2 * math.pi * y)
    term = total = 1.0
    for k in range(1, 70):
        term *= y * y / (4.0 * k * k)
        total += term
    return total * math.exp(-y)


@element
def _i1e(x):
    """exp(-|x|) I1(x), in the same way."""
    y = abs(x)
    if y != y:
        return y
    if y > 30:
        term = total = 1.0
        for k in range(1, 16):
            term *= -(4 - (2 * k - 1) * (2 * k - 1)) / (8 * k * y)
            total += term
        total /= math.sqrt(2 * math.pi * y)
    else:
        term = total = y / 2
        for k in range(1, 70):
            term *= y * y / (4.0 * k * (k + 1))
            total += term
        total *= math.exp(-y)
    return -total if x < 0 else total


@element
def _erfcx(x):
    """exp(x²) erfc(x): beyond 5 by the continued fraction (Abramowitz and Stegun, Handbook of
    Mathematical Functions, 1964, 7.1.14).
    """
    if x > 5:
        below = x
        for k in range(40, 0, -1):
            below = x + k / 2 / below
        return 1 / (math.sqrt(math.pi) * below)
    return math.exp(x * x) * math.erfc(x)


def _slope_of_i0e(x):
    return scaled_i1(x) - nb.sign(x) * scaled_i0(x)


def _slope_of_i1e(x):
    zero = x == 0
    rest = scaled_i0(x) - scaled_i1(x) / nb.where(zero, 1.0, x)
    return nb.where(zero, 0.5, rest) - nb.sign(x) * scaled_i1(x)


scaled_i0 = sloped("i0e", _i0e, _slope_of_i0e)
scaled_i1 = sloped("i1e", _i1e, _slope_of_i1e)
_scaled_erfc = sloped("erfcx", _erfcx, lambda x: 2 * x * _scaled_erfc(x) - 2 / math.sqrt(math.pi))
_ROOT = math.sqrt(0.5)


def _log_ndtr_value(x):
    low, high = nb.minimum(x, -1.0), nb.maximum(x, -1.0)
    tail = nb.log(_scaled_erfc(low * -_ROOT) / 2) - low * low / 2
    return nb.where(x < -1, tail, nb.log1p(special._erfc(high * _ROOT) / -2))


def _slope_of_log_ndtr(x):
    """The normal density, by the probability of values up to x."""
    low, high = nb.minimum(x, 0.0), nb.maximum(x, 0.0)
    tail = math.sqrt(2 / math.pi) / _scaled_erfc(low * -_ROOT)
    density = nb.exp(high * high / -2) / math.sqrt(2 * math.pi)
    there = density / (1 - special._erfc(high * _ROOT) / 2)
    return nb.where(x < 0, tail, there)


_log_ndtr = sloped("log_ndtr", _log_ndtr_value, _slope_of_log_ndtr)


def _ndtri_value(p):
    """Newton's method for the logarithm of the nearer tail, from a rational approximation
    (Abramowitz and Stegun, 26.2.22).
    """
    inside = (p > 0) & (p < 1)
    q = nb.where(inside, nb.minimum(p, 1 - p), 0.25)
    t = nb.sqrt(-2 * nb.log(q))
    x = (2.30753 + 0.27061 * t) / (1 + 0.99229 * t + 0.04481 * t * t) - t
    for _ in range(4):
        x = x - (_log_ndtr_value(x) - nb.log(q)) / _slope_of_log_ndtr(x)
    edge = nb.where(p == 0, -np.inf, nb.where(p == 1, np.inf, np.nan))
    return nb.where(inside, nb.where(p > 0.5, -x, x), edge)


_ndtri = sloped(
    "ndtri", _ndtri_value, lambda p: math.sqrt(2 * math.pi) * nb.exp(nb.square(_ndtri(p)) / 2)
)


def _made(name, function, doc):
    def body(input):
        a = floating(input)
        return as_dtype(function(as_dtype(a, np.dtype("f8"))), a.dtype)

    body.__name__ = body.__qualname__ = name
    body.__doc__ = doc
    return tensor_function(body)


erfcx = _made("erfcx", _scaled_erfc, "exp(x²) erfc(x), which does not underflow.")
i0e = _made("i0e", scaled_i0, "exp(-|x|) times the modified Bessel function of order 0.")
i1 = _made("i1", _bessel_1, "The modified Bessel function of order 1.")
i1e = _made("i1e", scaled_i1, "exp(-|x|) times the modified Bessel function of order 1.")
log_ndtr = _made("log_ndtr", _log_ndtr, "The logarithm of the normal probability of up to x.")
ndtri = _made("ndtri", _ndtri, "The value up to which normal numbers have a probability.")


@element
def _lower_gamma(a, x):
    """P(a, x): its series up to x = a + 1, else by the continued fraction of the rest (Abramowitz
    and Stegun, 6.5.29 and 6.5.31, by Lentz's method).
    """
    if not (a >= 0 and x >= 0):
        return math.nan
    if a == 0 or x == math.inf:
        return math.nan if a == math.inf or (a == 0 and x == 0) else 1.0
    if x == 0 or a == math.inf:
        return 0.0
    size = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        k = 0
        while term > total * 1e-17 and k < 100000:
            k += 1
            term *= x / (a + k)
            total += term
        return total * size
    b = x + 1 - a
    c, d = 1e300, 1 / b
    h = d
    for k in range(1, 100000):
        part = -k * (k - a)
        b += 2
        d = part * d + b
        d = 1 / (d if abs(d) > 1e-300 else 1e-300)
        c = b + part / c
        c = c if abs(c) > 1e-300 else 1e-300
        h *= d * c
        if abs(d * c - 1) < 1e-16:
            break
    return 1 - size * h


@element
def _upper_gamma(a, x):
    """Q(a, x) = 1 - P(a, x), without that difference where it is small."""
    if not (a > 0 and x > 0) or x < a + 1 or x == math.inf or a == math.inf:
        return math.nan
    size = math.exp(a * math.log(x) - x - math.lgamma(a))
    b = x + 1 - a
    c, d = 1e300, 1 / b
    h = d
    for k in range(1, 100000):
        part = -k * (k - a)
        b += 2
        d = part * d + b
        d = 1 / (d if abs(d) > 1e-300 else 1e-300)
        c = b + part / c
        c = c if abs(c) > 1e-300 else 1e-300
        h *= d * c
        if abs(d * c - 1) < 1e-16:
            break
    return size * h


def _lower(a, x):
    return _lower_gamma(a, x)


def _upper(a, x):
    far = _upper_gamma(a, x)
    return nb.where(nb.isnan(far), 1 - _lower_gamma(a, x), far)


def _incomplete(name, function, sign, doc):
    @tensor_function
    def values(a, x):
        t = np.result_type(a.dtype, x.dtype)
        a, x = (as_dtype(nb.stop_gradient(v), np.dtype("f8")) for v in (a, x))
        return as_dtype(nb.asarray(function(a, x)), t)

    class Incomplete(Function):
        @staticmethod
        def forward(ctx, a, x):
            ctx.save_for_backward(a, x)
            return values(a, x)

        @staticmethod
        def backward(ctx, g):
            a, x = ctx.saved_tensors
            if ctx.needs_input_grad[0]:
                raise NotImplementedError(
                    message(name, "the derivative by the first argument is not there",
                            "an argument that requires a gradient", "input.detach()")
                )  # fmt: skip
            density = ((a - 1) * x.log() - x - a.lgamma()).exp()
            return None, _to_size(sign * g * density, x.shape)

    def incomplete(input, other):
        return Incomplete.apply(input, other)

    incomplete.__name__ = incomplete.__qualname__ = name
    incomplete.__doc__ = doc
    return incomplete


def _to_size(g, shape):
    """A gradient summed over the dimensions along which an operand was broadcast."""
    return g.sum_to_size(shape) if g.shape != shape else g


gammainc = _incomplete(
    "gammainc", _lower, 1, "The regularised lower incomplete gamma function P(input, other)."
)
gammaincc = _incomplete(
    "gammaincc", _upper, -1, "The regularised upper incomplete gamma function Q(input, other)."
)
