"""Special functions of SciPy: the error function, the gamma function and their kin, of elements.

They are computed in float64. As SciPy's, they give float32 for float32 and float64 for all other
real numbers.
"""

import math

from ..core.dtypes import kind_of
from . import names as np
from .floats import _cast
from .registry import Operand, element, function

__all__ = []


def _result(op, x, y=None):
    """The dtype of the results. TypeError for complex numbers."""
    y = x if y is None else y
    if np.result_type(x, y).kind == "c":
        raise TypeError(f"[{op}] complex numbers; got complex; expected real numbers")
    short = np.result_type(x) == np.float32 and np.result_type(y) == np.float32
    return np.float32 if short else np.float64


def _wide(x):
    return np.multiply(x, np.float64(1))


def _erf(x):
    return math.erf(x)


_erf = element(_erf, lambda x: 2 / math.sqrt(math.pi) * np.exp(-x * x))


@function("special.erf", "cupyx.scipy.special.erf")
def erf(x: Operand, /):
    """The error function."""
    t = _result("erf", x)
    return _cast(_erf(_wide(x)), t)


def _erfc(x):
    return math.erfc(x)


_erfc = element(_erfc, lambda x: -2 / math.sqrt(math.pi) * np.exp(-x * x))


@element
def _digamma(x):
    """Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 6.3.5, 6.3.7 and 6.3.18."""
    total = 0.0
    if x <= 0:
        if x == np.floor(x):
            return math.nan
        total = -math.pi / math.tan(math.pi * x)
        x = 1 - x
    while x < 10:
        total -= 1 / x
        x += 1
    z = 1 / (x * x)
    series = z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z * (1 / 132)))))
    return total + math.log(x) - 0.5 / x - series


@function("special.erfc", "cupyx.scipy.special.erfc")
def erfc(x: Operand, /):
    """1 - erf(x)."""
    t = _result("erfc", x)
    return _cast(_erfc(_wide(x)), t)


def _gamma(x):
    if x == 0:
        return 1 / x
    if x < 0 and x == np.floor(x):
        return math.nan
    return math.gamma(x)


_gamma = element(_gamma, lambda x: _gamma(x) * _digamma(x))


@function("special.gamma", "cupyx.scipy.special.gamma")
def gamma(x: Operand, /):
    """The gamma function; NaN at negative integers, infinity of x's sign at zero."""
    t = _result("gamma", x)
    return _cast(_gamma(_wide(x)), t)


def _gammaln(x):
    if x == -math.inf:
        return x
    if x <= 0 and x == np.floor(x):
        return math.inf
    return math.lgamma(x)


_gammaln = element(_gammaln, lambda x: _digamma(x))


@function("special.gammaln", "cupyx.scipy.special.gammaln")
def gammaln(x: Operand, /):
    """The logarithm of the gamma function's magnitude; infinity at 0 and at negative integers."""
    t = _result("gammaln", x)
    return _cast(_gammaln(_wide(x)), t)


@function("special.expit", "cupyx.scipy.special.expit")
def expit(x: Operand, /):
    """1 / (1 + exp(-x))."""
    t = _result("expit", x)
    return _cast(1 / (1 + np.exp(-_wide(x))), t)


@function("special.logit", "cupyx.scipy.special.logit")
def logit(x: Operand, /):
    """log(x / (1 - x))."""
    w = _wide(x)
    t = _result("logit", x)
    return _cast(np.log(w / (1 - w)), t)


@function("special.ndtr", "cupyx.scipy.special.ndtr")
def ndtr(x: Operand, /):
    """The normal distribution's probability of values up to x."""
    t = _result("ndtr", x)
    return _cast(0.5 * _erfc(_wide(x) * -0.7071067811865476), t)


@element
def _xlogy(x, y):
    if x == 0 and y == y:
        return x * 0
    return x * np.log(y)


@function("special.xlogy", "cupyx.scipy.special.xlogy")
def xlogy(x: Operand, y: Operand, /):
    """x * log(y); 0 where x is 0 and y no NaN."""
    t = _result("xlogy", x, y)
    return _cast(_xlogy(_wide(x), _wide(y)), t)


@element
def _xlog1py(x, y):
    if x == 0 and y == y:
        return x * 0
    return x * np.log1p(y)


@function("special.xlog1py", "cupyx.scipy.special.xlog1py")
def xlog1py(x: Operand, y: Operand, /):
    """x * log1p(y); 0 where x is 0 and y no NaN."""
    t = _result("xlog1py", x, y)
    return _cast(_xlog1py(_wide(x), _wide(y)), t)


@element
def _entr(x):
    if x > 0:
        return -x * np.log(x)
    if x == 0:
        return x * 0
    if x < 0:
        return -np.inf
    return x


@function("special.entr", "cupyx.scipy.special.entr")
def entr(x: Operand, /):
    """-x log(x); 0 for 0, minus infinity below; float32 for all that float32 holds."""
    short = _result("entr", x) == np.float32 or np.can_cast(np.result_type(x), np.float32)
    return _entr(_wide(x)).astype(np.float32 if short else np.float64)


# The power series of I0 up to 8, and its Chebyshev series in 16 / x - 1 from there on.
_I0_NEAR = tuple([1 / math.factorial(k) ** 2 for k in range(20, -1, -1)])
_I0_FAR = (
    0.4022452055070544, 0.0033691164782556943, 6.889758346916825e-05, 2.8913705208347567e-06,
    2.0489185894690638e-07, 2.266668990498178e-08, 3.3962320257083865e-09, 4.94060238822497e-10,
    1.1889147107846439e-11, -3.149916527963242e-11, -1.321581184044771e-11, -1.794178531506806e-12,
    7.180124451383666e-13, 3.8527783827421426e-13, 1.54008621752141e-14, -4.150569347287222e-14,
    -9.554846698828307e-15, 3.8116806693526224e-15, 1.7725601330565263e-15, -3.425485619677219e-16,
    -2.8276239805165836e-16, 3.461222867697461e-17, 4.46562142029676e-17,
)  # fmt: skip
_I0_FAR_DOWN = _I0_FAR[:0:-1]


@element
def _i0(x):
    x = abs(x)
    p = before = x * 0.0
    if x <= 8.0:
        for c in _I0_NEAR:
            p = p * (x * x / 4.0) + c
        return p
    y = 32.0 / x - 2.0
    for c in _I0_FAR_DOWN:
        p, before = y * p - before + c, p
    return np.exp(x) * (y / 2.0 * p - before + _I0_FAR[0]) / np.sqrt(x)


@function("np.i0")
def i0(x: Operand):
    """The modified Bessel function of the first kind of order 0, within 5 ULP; float64 of integers,
    infinite from where exp(x) is. Raises TypeError for complex numbers.
    """
    t = np.result_type(x)
    if t.kind == "c":
        raise TypeError("[i0] complex numbers; got complex; expected real numbers")
    return _i0(_wide(x)).astype(t if kind_of(t) == "f" else np.float64)
