"""Floats taken apart and put together: frexp, ldexp, modf, spacing."""

import math

import numpy

from ..core.dtypes import BFLOAT16
from . import names as np
from .names import compiled as _compiled
from .registry import Operand, element, function

__all__ = []

_BOUND = 1 << 31


def _kind_of(op, x):
    """The dtype of floats that NumPy computes elements of these in; TypeError for complex ones."""
    given = np.result_type(x)
    t = given if given == BFLOAT16 else np.result_type(given, np.float16)
    if t.kind == "c":
        raise TypeError(f"[{op}] complex numbers; got complex; expected real numbers")
    return t


def _all_keywords(name):
    """NumPy's ufunc as a function that takes any keyword, for those that a body has not."""
    ufunc = getattr(numpy, name)
    return lambda *args, **kwargs: ufunc(*args, **kwargs)


def _as(x, t):
    """Elements, or a number, in that dtype."""
    return np.multiply(x, t.type(1))


def _cast(x, t):
    if isinstance(x, (int, float)):  # by an operation, as it may be watched
        return np.multiply(x, 1, dtype=t, casting="unsafe")
    return x.astype(t)


@element
def _fraction(x):
    return math.frexp(x)[0]


@element
def _exponent(x):
    return math.frexp(x)[1]


@function("np.frexp", original=_all_keywords("frexp"), few=True)
def frexp(x: Operand, /):
    """Fractions of [0.5, 1) with the sign, and powers of two (int32), whose product is `x`."""
    t = _kind_of("frexp", x)
    wide = np.multiply(x, np.float64(1))
    return _cast(_fraction(wide), t.type), _cast(_exponent(wide), np.int32)


@element
def _scaled(x, n):
    return math.ldexp(x, n)


@function("np.ldexp", original=_all_keywords("ldexp"), few=True)
def ldexp(x1: Operand, x2: Operand, /):
    """x1 * 2**x2 for integers x2, rounded once. TypeError for other x2 and for uint64."""
    if not _compiled and isinstance(x2, int) and not -_BOUND <= x2 < _BOUND:
        raise OverflowError(f"[ldexp] exponent; got {x2}; expected one that int32 holds")
    powers = np.result_type(x2)
    # NumPy takes the shortest float for a Python int beside integers of its own types.
    plain = isinstance(x1, int) and not isinstance(x1, bool) and powers.kind in "iu"
    plain = plain and not isinstance(x2, int)
    t = np.result_type(np.float16) if plain else _kind_of("ldexp", x1)
    if powers.kind not in "iub" or powers == np.uint64:
        raise TypeError("[ldexp] exponents; got another type; expected integers that int64 holds")
    n = np.multiply(x2, np.int64(1))
    return _cast(_scaled(np.multiply(x1, np.float64(1)), n), t.type)


@function("np.modf", original=_all_keywords("modf"), few=True)
def modf(x: Operand, /):
    """The fraction and the whole part, both with the sign; the fraction of an infinity is 0."""
    t = _kind_of("modf", x)
    v = _as(x, t)
    whole = np.trunc(v)
    rest = np.where(np.isinf(v), t.type(0), v - whole)
    return np.copysign(rest, v), whole


@function("np.spacing", original=_all_keywords("spacing"), few=True)
def spacing(x: Operand, /):
    """The distance to the next number of larger magnitude, with the sign (of half floats to the
    next larger number); NaN of infinities.
    """
    t = _kind_of("spacing", x)
    v = _as(x, t)
    # Of half floats NumPy gives the distance to the next larger number.
    down = v == -np.inf if t == np.float16 else v < 0
    limit = np.where(down, t.type(-np.inf), t.type(np.inf))
    return np.nextafter(v, limit) - v
