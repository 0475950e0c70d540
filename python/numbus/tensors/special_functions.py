"""Special functions, and further functions of each element, under PyTorch's names."""

import math

import numpy

import numbus as nb

from ..core.derivatives import sloped
from ..core.dtypes import kind_of
from ..core.errors import message
from ..functions import names as np
from ..functions import special
from ..functions.special import element
from . import _dtypes
from ._arrays import (
    array,
    as_dtype,
    floating,
    in_single,
    is_number,
    one_of,
    together,
    without_slope,
)
from ._functions import in_place, method, tensor_function
from ._tensor import Tensor
from .pointwise import _fits, _sign, clamp

__all__ = ["clamp_max", "clamp_min", "fix", "mvlgamma", "polygamma", "psi", "rsub"]
_made = []


@element
def _zeta(s, x):
    """Hurwitz's zeta function, by Euler and Maclaurin's formula: the sum of 1 / (x + k)^s."""
    if x <= 0 and x == np.floor(x):
        return math.inf
    total = 0.0
    while x < 12:
        total += x**-s
        x += 1
    total += x ** (1 - s) / (s - 1) + 0.5 * x**-s
    z = 1 / (x * x)
    term = s * x ** (-s - 1) / 12
    total += term
    term *= -(s + 1) * (s + 2) * z / 60
    total += term
    term *= -(s + 3) * (s + 4) * z / 42
    total += term
    term *= -(s + 5) * (s + 6) * z / 40
    total += term
    term *= -(s + 7) * (s + 8) * z / 39.6
    return total + term


def _polygamma(n, x):
    """The n-th derivative of digamma, for n of 1 and more."""
    return (-1) ** (n + 1) * math.factorial(n) * _zeta(n + 1.0, x)


def _poly(n):
    return sloped("polygamma", lambda x: _polygamma(n, x), lambda x: _poly(n + 1)(x))


_psi = sloped("digamma", special._digamma, _poly(1))


@element
def _erfinv_value(y):
    """Giles, Approximating the erfinv function (2011), then three steps of Newton's method."""
    if y != y or y < -1 or y > 1:
        return math.nan
    if y == 1:
        return math.inf
    if y == -1:
        return -math.inf
    w = -math.log((1 - y) * (1 + y))
    if w < 5:
        w -= 2.5
        p = 2.81022636e-08
        p = 3.43273939e-07 + p * w
        p = -3.5233877e-06 + p * w
        p = -4.39150654e-06 + p * w
        p = 0.00021858087 + p * w
        p = -0.00125372503 + p * w
        p = -0.00417768164 + p * w
        p = 0.246640727 + p * w
        p = 1.50140941 + p * w
    else:
        w = math.sqrt(w) - 3
        p = -0.000200214257
        p = 0.000100950558 + p * w
        p = 0.00134934322 + p * w
        p = -0.00367342844 + p * w
        p = 0.00573950773 + p * w
        p = -0.0076224613 + p * w
        p = 0.00943887047 + p * w
        p = 1.00167406 + p * w
        p = 2.83297682 + p * w
    x = p * y
    for _ in range(3):
        if y > 0.5:
            x += (math.erfc(x) - (1 - y)) * 0.8862269254527580 * math.exp(x * x)
        elif y < -0.5:
            x -= (math.erfc(-x) - (1 + y)) * 0.8862269254527580 * math.exp(x * x)
        else:
            x -= (math.erf(x) - y) * 0.8862269254527580 * math.exp(x * x)
    return x


_erfinv = sloped(
    "erfinv", _erfinv_value, lambda y: nb.exp(nb.square(_erfinv(y))) * (math.sqrt(math.pi) / 2)
)


def sum_for_i1(y):
    """The modified Bessel function of order 1 by its series; beyond 30 by the asymptotic one, times
    exp(-y).
    """
    if y > 30:
        term = total = 1.0
        for k in range(1, 16):
            term *= -(4 - (2 * k - 1) * (2 * k - 1)) / (8 * k * y)
            total += term
        return total / math.sqrt(2 * math.pi * y)
    term = total = y / 2
    for k in range(1, 70):
        term *= y * y / (4.0 * k * (k + 1))
        total += term
    return total


@element
def _i1(x):
    """The modified Bessel function of order 1."""
    y = abs(x)
    total = sum_for_i1(y)
    if y > 30:
        total *= math.exp(y)
    return -total if x < 0 else total


def _slope_of_i1(x):
    zero = x == 0
    return nb.where(zero, 0.5, _bessel(x) - _bessel_1(x) / nb.where(zero, 1.0, x))


_bessel_1 = sloped("i1", _i1, _slope_of_i1)
_bessel = sloped("i0", special.i0, _bessel_1)


def _wide(function):
    """Has a function compute in float64; the result has the dtype of the argument."""

    def body(a):
        a = floating(a)
        return as_dtype(function(as_dtype(a, numpy.dtype("f8"))), a.dtype)

    return body


def _publish(name, plain, body, doc, changing, second=None):
    """`plain` under that name, as a function and a method; `changing`: also in place, by `body`."""
    plain.__name__ = plain.__qualname__ = name
    plain.__doc__ = doc
    function = globals()[name] = tensor_function(plain)
    _made.append(name)
    setattr(Tensor, name, function)

    def change(a, *others, **named):
        if named:
            others = (*others, one_of(name + "_", named.pop(second, None)))
        if named:
            raise TypeError(message(name + "_", "unknown keywords", sorted(named), second))
        made = body(a, *others)
        _fits(name + "_", made, a)
        a[...] = made

    if changing:
        change.__name__ = change.__qualname__ = name + "_"
        change.__doc__ = doc + " In place."
        setattr(Tensor, name + "_", in_place(change))


def _unary(name, body, doc, changing=True):
    def plain(input):
        return body(input if hasattr(input, "dtype") else array(input))

    _publish(name, plain, body, doc, changing)


@in_single(False)
def _sinc(a):
    a = floating(a)
    x = a * math.pi
    zero = x == 0
    # The series at zero, so that derivatives there are numbers, too.
    square = x * x
    series = 1 - square / 6 * (1 - square / 20 * (1 - square / 42))
    return nb.where(zero, series, nb.sin(x) / nb.where(zero, nb.ones_like(x), x))


def _sgn(a):
    if kind_of(a.dtype) != "c":
        return without_slope(_sign)(a)
    size = nb.absolute(a)
    zero = size == 0
    return nb.where(zero, nb.zeros_like(a), a / nb.where(zero, nb.ones_like(size), size))


def _infinite(sign):
    return lambda a: (a == sign * math.inf) if kind_of(a.dtype) == "f" else nb.zeros(a.shape, bool)


def _psi_at_zero(x):
    """`_psi`, at zero infinite with the sign against that of zero."""
    return nb.where(x == 0, nb.copysign(math.inf, -nb.stop_gradient(x)), _psi(x))


_unary("digamma", _wide(_psi_at_zero), "The derivative of the logarithm of the gamma function.")
_unary("erfinv", _wide(_erfinv), "The inverse of the error function; NaN beyond -1 and 1.")
_unary("i0", _wide(_bessel), "The modified Bessel function of order 0.")
_unary("sinc", _sinc, "sin(pi x) / (pi x), 1 at zero.")
_unary("sgn", _sgn, "x / |x|, 0 at zero.")
_unary("isposinf", _infinite(1), "Whether each element is positive infinity.", False)
_unary("isneginf", _infinite(-1), "Whether each element is negative infinity.", False)
_unary("isreal", nb.isreal, "Whether each element has no imaginary part.", False)
del Tensor.i0_
psi = Tensor.psi = globals()["digamma"]


@tensor_function
def polygamma(n, input):
    """The n-th derivative of `digamma`."""
    return _polygamma_of(n, input)


def _polygamma_of(n, input):
    if n < 0:
        raise RuntimeError(message("polygamma", "a negative order", n, "0 and more"))
    return _wide(_psi if n == 0 else _poly(n))(input)


Tensor.polygamma = lambda self, n: polygamma(n, self)


@method()
@tensor_function
def mvlgamma(input, p):
    """The logarithm of the gamma function of several dimensions."""
    a = floating(input)
    if p < 1:
        raise RuntimeError(message("mvlgamma", "no dimension", p, "1 and more"))
    total = p * (p - 1) / 4 * math.log(math.pi)
    for k in range(p):
        total = total + as_dtype(special.gammaln(a - k / 2), a.dtype)
    return total


def _binary(name, body, doc, changing=True, second="other"):
    """`second` is PyTorch's name of the second operand."""

    def plain(input, other=None, **named):
        if named:
            other = one_of(name, other, named.pop(second, None))
        if named or other is None:
            raise TypeError(
                message(name, "unknown keywords, or no second operand", sorted(named), second)
            )
        return body(input, other)

    _publish(name, plain, body, doc, changing, second)


def _floats(x, y):
    x, y = together(x, y)
    return tuple([float(v) if is_number(v) else floating(v) for v in (x, y)])


def _xlogy(x, y):
    x, y = _floats(x, y)
    # Where x is 0, the logarithm is not asked for, unless y is no number.
    zero = nb.logical_and(nb.equal(x, 0), nb.logical_not(nb.isnan(y)))
    t = x.dtype if not is_number(x) else y.dtype
    one = nb.ones((), dtype=t)
    return nb.where(zero, x * nb.zeros((), dtype=t), x * nb.log(nb.where(zero, one, y)))


def _heaviside(x, y):
    if _dtypes.common([x]) != _dtypes.common([y]):
        raise RuntimeError(
            message("heaviside", "operands of different dtypes", f"{x.dtype} and {y.dtype}",
                    "one dtype")
        )  # fmt: skip
    return without_slope(nb.heaviside)(x, y) if kind_of(x.dtype) == "f" else (
        nb.where(x == 0, y, as_dtype(x > 0, x.dtype))
    )  # fmt: skip


def _integers(op, function):
    def body(x, y):
        x, y = together(x, y)
        for v in (x, y):
            if not is_number(v) and v.dtype.kind not in "iu":
                raise RuntimeError(message(op, "not integers", v.dtype, "a dtype of integers"))
        return function(x, y)

    return body


def _float_power(x, y):
    kinds = [kind_of(v.dtype) if hasattr(v, "dtype") else "c" if isinstance(v, complex) else "f"
             for v in (x, y)]  # fmt: skip
    t = numpy.dtype("c16" if "c" in kinds else "f8")
    x, y = (v if is_number(v) else as_dtype(v, t) for v in (x, y))
    return nb.power(array(x, t) if is_number(x) else x, y)


def _logaddexp2(x, y):
    x, y = _floats(x, y)
    return nb.logaddexp(x * math.log(2), y * math.log(2)) / math.log(2)


def _rsub(x, y, alpha=1):
    x, y = together(x, y)
    return y - (x if alpha == 1 else alpha * x)


_binary("xlogy", _xlogy, "x * log(y), 0 where x is 0 and y a number.")
_binary("heaviside", _heaviside, "0 below zero, 1 above, the other operand at zero.",
        second="values")  # fmt: skip
_binary("gcd", _integers("gcd", nb.gcd), "The greatest common divisor.")
_binary("lcm", _integers("lcm", nb.lcm), "The least common multiple.")


def _ldexp(x, y):
    """Integers y take the type of x."""
    if is_number(y):
        return floating(x) * 2.0**y
    y = as_dtype(y, floating(x).dtype) if y.dtype.kind in "biu" else y
    return nb.multiply(*together(x, nb.asarray(nb.power(2.0, y))))


_binary("ldexp", _ldexp, "x * 2^y.")
_binary("nextafter", lambda x, y: nb.nextafter(*together(x, y)),
        "The next floating-point number towards the other operand.")  # fmt: skip
_binary("float_power", _float_power, "x to the power of y in float64.", second="exponent")
_binary("logaddexp2", _logaddexp2, "log2(2^x + 2^y).", False)


@tensor_function
def rsub(input, other, *, alpha=1):
    """other - alpha * input."""
    return _rsub(input, other, alpha)


def clamp_min(input, min):
    """The elements, at least `min`."""
    return clamp(input, min=min)


def clamp_max(input, max):
    """The elements, at most `max`."""
    return clamp(input, max=max)


def _clamp_min_in_place(self, min):
    """The elements, at least `min`. In place."""
    return self.clamp_(min=min)


def _clamp_max_in_place(self, max):
    """The elements, at most `max`. In place."""
    return self.clamp_(max=max)


Tensor.clamp_min, Tensor.clamp_max = clamp_min, clamp_max
Tensor.clamp_min_, Tensor.clamp_max_ = _clamp_min_in_place, _clamp_max_in_place
fix = Tensor.fix = Tensor.trunc
Tensor.fix_ = Tensor.trunc_


def _round_in_place(a, *, decimals=0):
    """The nearest whole numbers. In place."""
    if kind_of(a.dtype) in "fc":
        a[...] = without_slope(nb.round)(a, decimals)


def _nan_to_num_in_place(a, nan=0.0, posinf=None, neginf=None):
    """The elements with numbers in place of NaN and infinities. In place."""
    a[...] = nb.nan_to_num(a, nan=nan, posinf=posinf, neginf=neginf)


Tensor.round_ = in_place(_round_in_place)
Tensor.nan_to_num_ = in_place(_nan_to_num_in_place)


def _compared(name, function):
    def change(a, other):
        a[...] = as_dtype(function(*together(a, other)), a.dtype)

    change.__name__ = change.__qualname__ = name
    change.__doc__ = f"1 where `{name[:-1]}` holds, else 0. In place."
    return in_place(change)


for _name, _others, _function in (
    ("eq", (), nb.equal), ("ne", ("not_equal",), nb.not_equal), ("lt", ("less",), nb.less),
    ("le", ("less_equal",), nb.less_equal), ("gt", ("greater",), nb.greater),
    ("ge", ("greater_equal",), nb.greater_equal),
):  # fmt: skip
    for _each in (_name, *_others):
        setattr(Tensor, _each + "_", _compared(_each + "_", _function))

__all__ += sorted(_made)
