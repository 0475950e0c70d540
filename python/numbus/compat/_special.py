"""Special functions of float64 that the names of several libraries have in common, with their
derivatives.
"""

import math

import numbus as nb

from ..core.derivatives import sloped
from ..functions import special
from ..functions.registry import element
from ..tensors.special_functions import sum_for_i1

_ROOT = math.sqrt(0.5)


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
    """exp(-|x|) I1(x)."""
    y = abs(x)
    if y != y:
        return y
    total = sum_for_i1(y)
    if y <= 30:
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
    return i1e(x) - nb.sign(x) * i0e(x)


def _slope_of_i1e(x):
    zero = x == 0
    rest = i0e(x) - i1e(x) / nb.where(zero, 1.0, x)
    return nb.where(zero, 0.5, rest) - nb.sign(x) * i1e(x)


i0e = sloped("i0e", _i0e, _slope_of_i0e)
i1e = sloped("i1e", _i1e, _slope_of_i1e)
erfcx = sloped("erfcx", _erfcx, lambda x: 2 * x * erfcx(x) - 2 / math.sqrt(math.pi))


def _log_ndtr_value(x):
    low, high = nb.minimum(x, -1.0), nb.maximum(x, -1.0)
    tail = nb.log(erfcx(low * -_ROOT) / 2) - low * low / 2
    return nb.where(x < -1, tail, nb.log1p(special._erfc(high * _ROOT) / -2))


def _slope_of_log_ndtr(x):
    """The normal density, by the probability of values up to x."""
    low, high = nb.minimum(x, 0.0), nb.maximum(x, 0.0)
    tail = math.sqrt(2 / math.pi) / erfcx(low * -_ROOT)
    density = nb.exp(high * high / -2) / math.sqrt(2 * math.pi)
    there = density / (1 - special._erfc(high * _ROOT) / 2)
    return nb.where(x < 0, tail, there)


log_ndtr = sloped("log_ndtr", _log_ndtr_value, _slope_of_log_ndtr)


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
    edge = nb.where(p == 0, -math.inf, nb.where(p == 1, math.inf, math.nan))
    return nb.where(inside, nb.where(p > 0.5, -x, x), edge)


ndtri = sloped(
    "ndtri", _ndtri_value, lambda p: math.sqrt(2 * math.pi) * nb.exp(nb.square(ndtri(p)) / 2)
)


def _gamma_series(a, x):
    """P(a, x), where x is below a + 1 (Abramowitz and Stegun, 6.5.29)."""
    term = total = 1 / a
    for k in range(1, 100000):
        term *= x / (a + k)
        total += term
        if term < total * 1e-17:
            break
    return total * math.exp(a * math.log(x) - x - math.lgamma(a))


def lentz(part, below, c, d, h):
    """One step of Lentz's method for continued fractions: the next part / (below + ...), the two
    ratios that the method keeps, and the fraction so far.
    """
    d = part * d + below
    d = 1 / (d if abs(d) > 1e-300 else 1e-300)
    c = below + part / c
    c = c if abs(c) > 1e-300 else 1e-300
    return c, d, h * (d * c)


def _gamma_fraction(a, x):
    """Q(a, x), where x is beyond that, by the continued fraction (Abramowitz and Stegun, 6.5.31)
    and Lentz's method.
    """
    b = x + 1 - a
    c, d = 1e300, 1 / b
    h = d
    for k in range(1, 100000):
        b += 2
        c, d, h = lentz(-k * (k - a), b, c, d, h)
        if abs(d * c - 1) < 1e-16:
            break
    return h * math.exp(a * math.log(x) - x - math.lgamma(a))


@element
def lower_gamma(a, x):
    """The regularised lower incomplete gamma function P(a, x)."""
    if not (a >= 0 and x >= 0) or (a == 0 and x == 0) or (a == math.inf and x == math.inf):
        return math.nan
    if a == 0 or x == math.inf:
        return 1.0
    if x == 0 or a == math.inf:
        return 0.0
    if x < a + 1:
        return _gamma_series(a, x)
    return 1 - _gamma_fraction(a, x)


@element
def upper_gamma(a, x):
    """The regularised upper incomplete gamma function Q(a, x)."""
    if not (a >= 0 and x >= 0) or (a == 0 and x == 0) or (a == math.inf and x == math.inf):
        return math.nan
    if a == 0 or x == math.inf:
        return 0.0
    if x == 0 or a == math.inf:
        return 1.0
    if x < a + 1:
        return 1 - _gamma_series(a, x)
    return _gamma_fraction(a, x)
