"""Special functions for jax.scipy.special and jax.lax: computed in float64, given in the common
floating-point type of the operands, with their derivatives.
"""

import math

import numpy

import numbus as nb

from ... import _core
from ...core.derivatives import sloped
from ...core.errors import message
from ...functions import special
from ...functions.registry import element
from ...tensors import special_functions as _known
from .._special import i0e, i1e, lentz, log_ndtr, lower_gamma, ndtri, upper_gamma
from ._array import Array, as_array, cast
from ._functions import expect_arrays, silent, together


def operands(name, *values):
    """The operands as arrays of their common floating-point type, that type, and whether it is
    weak.
    """
    expect_arrays(name, *values)
    found, weak = together(name, values, True)
    t = next((v.dtype for v in found if hasattr(v, "dtype")), None)
    return [cast(as_array(v), t) for v in found], t, weak


def special_function(name, body, doc=None):
    """A function of arrays of float64 as one of JAX's arrays."""

    def function(*values):
        given, t, weak = operands(name, *values)
        if t.kind == "c":
            raise TypeError(f"{name} does not accept dtype {t}. Accepted dtypes are subtypes of "
                            "floating.")  # fmt: skip
        found = body(*[cast(a, F8) for a in given])
        return Array(cast(as_array(found), t), weak)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc or body.__doc__
    return silent(function)


F8 = numpy.dtype("f8")


inverse_of_erf = _known._erfinv


@element
def _exp1_value(x):
    if x != x or x < 0:
        return math.nan
    if x == 0:
        return math.inf
    if x <= 1:
        total = -0.5772156649015329 - math.log(x)
        term = -1.0
        for k in range(1, 30):
            term *= -x / k
            total += term / k
        return total
    if x > 700:
        return 0.0
    b = x + 1
    c = 1e300
    d = 1 / b
    h = d
    for k in range(1, 500):
        b += 2
        c, d, h = lentz(-1.0 * k * k, b, c, d, h)
        if abs(c * d - 1) < 1e-15:
            break
    return h * math.exp(-x)


_exp1 = sloped("exp1", _exp1_value, lambda x: -nb.exp(-x) / x)


@element
def _expi_positive(x):
    if x > 50:
        term = total = 1.0
        for k in range(1, 40):
            term *= k / x
            total += term
        return total * math.exp(x) / x
    total = 0.5772156649015329 + math.log(x)
    term = 1.0
    for k in range(1, 200):
        term *= x / k
        total += term / k
    return total


def _expi_value(x):
    up = x > 0
    far = _expi_positive(nb.where(up, x, 1.0))
    found = nb.where(up, far, -_exp1_value(nb.where(up, 1.0, -x)))
    return nb.where(x == 0, -math.inf, found)


_expi = sloped("expi", _expi_value, lambda x: nb.exp(x) / x)


@element
def _beta_part(a, b, x):
    """I_x(a, b) by its continued fraction (Lentz), of the side that converges."""
    if a != a or b != b or x != x or a < 0 or b < 0 or x < 0 or x > 1:
        return math.nan
    if x == 0 or b == 0:
        return 0.0
    if x == 1 or a == 0:
        return 1.0
    turned = x > (a + 1) / (a + b + 2)
    p, q, y = (b, a, 1 - x) if turned else (a, b, x)
    scale = math.exp(
        math.lgamma(p + q) - math.lgamma(p) - math.lgamma(q) + p * math.log(y) + q * math.log1p(-y)
    )
    d = 1 - (p + q) * y / (p + 1)
    d = 1 / (d if abs(d) > 1e-300 else 1e-300)
    c, h = 1.0, d
    for m in range(1, 10000):
        step = m * (q - m) * y / ((p + 2 * m - 1) * (p + 2 * m))
        c, d, h = lentz(step, 1.0, c, d, h)
        step = -(p + m) * (p + q + m) * y / ((p + 2 * m) * (p + 2 * m + 1))
        c, d, h = lentz(step, 1.0, c, d, h)
        if abs(d * c - 1) < 1e-15:
            break
    found = scale * h / p
    return 1 - found if turned else found


def _by_last(name, value, slope):
    """A function of several operands whose derivative by the last one is known."""

    def function(*given):
        *first, x = given
        if any(_core.depends(v) for v in first):
            raise NotImplementedError(
                message(f"jax.scipy.special.{name}", "derivatives by its parameters are not there",
                        "a parameter that is differentiated by", "a derivative by x")
            )  # fmt: skip
        if not _core.depends(x):
            return value(*given)
        shape = nb.broadcast_shapes(*[v.shape for v in given])
        first = [nb.broadcast_to(v, shape) for v in first]
        along = sloped(name, lambda y: value(*first, y), lambda y: slope(*first, y))
        return along(as_array(nb.broadcast_to(x, shape)))

    return function


def _gamma_density(a, x):
    return nb.exp((a - 1) * nb.log(x) - x - special.gammaln(a))


def _beta_density(a, b, x):
    return nb.exp((a - 1) * nb.log(x) + (b - 1) * nb.log1p(-x) - betaln(a, b))


def betaln(a, b):
    return special.gammaln(a) + special.gammaln(b) - special.gammaln(a + b)


def _gammasgn(x):
    even = nb.floor(x) % 2 == 0
    below = nb.where(even, 1.0, -1.0)
    found = nb.where(x > 0, 1.0, nb.where(nb.floor(x) == x, math.nan, below))
    return nb.where(x == 0, nb.copysign(1.0, x), nb.where(nb.isnan(x), x, found))


def _times_log(x, y, log):
    """x * log(y), 0 where x is 0 and y no NaN; where the logarithm is a number the derivative by x
    is the logarithm, also at 0.
    """
    found = log(y)
    numbers = nb.isfinite(nb.stop_gradient(found))
    zero = nb.logical_and(x == 0, nb.logical_not(nb.logical_or(numbers, nb.isnan(y))))
    return nb.where(zero, 0.0, x * log(nb.where(zero, 0.5, y)))


def xlogy(x, y):
    return _times_log(x, y, nb.log)


def xlog1py(x, y):
    return _times_log(x, y, nb.log1p)


def _rel_entr(p, q):
    both = nb.logical_and(p > 0, q > 0)
    found = nb.where(both, p, 1.0) * (
        nb.log(nb.where(both, p, 1.0)) - nb.log(nb.where(both, q, 1.0))
    )
    none = nb.logical_and(p == 0, q >= 0)
    return nb.where(both, found, nb.where(none, 0.0, math.inf))


def _factorial(n):
    return nb.where(n < 0, 0.0, special.gamma(nb.where(n < 0, 0.0, n) + 1))


def _poch(z, m):
    return nb.where(m == 0, 1.0, nb.exp(special.gammaln(z + m) - special.gammaln(z)))


def _zeta(x, q):
    """Riemann's zeta function of two arguments: the sum of 1 / (q + k)^x."""
    return nb.where(x == 1, math.inf, nb.where(x < 1, math.nan, _known._zeta(x, q)))


def polygamma(n, x):
    """The n-th derivative of `digamma`."""
    order = n if isinstance(n, int) else n.item() if getattr(n, "ndim", 1) == 0 else None
    if order is None or order < 0 or order != int(order):
        raise NotImplementedError(
            message("jax.scipy.special.polygamma", "orders that are not yet available", n,
                    "one integer of 0 or more")
        )  # fmt: skip
    body = _known._psi if order == 0 else _known._poly(int(order))
    return special_function("polygamma", lambda a: body(a))(x)


def multigammaln(a, d):
    """The logarithm of the gamma function of `d` dimensions."""
    d = int(d)
    start = d * (d - 1) / 4 * math.log(math.pi)
    return special_function(
        "multigammaln",
        lambda v: start + sum([special.gammaln(v - k / 2) for k in range(d)]),
    )(a)


BODIES = {
    "digamma": _known._psi, "ndtri": ndtri, "log_ndtr": log_ndtr, "i0": _known._bessel,
    "i1": _known._bessel_1, "i0e": i0e, "i1e": i1e, "exp1": _exp1, "expi": _expi,
    "gammainc": _by_last("gammainc", lower_gamma, _gamma_density),
    "gammaincc": _by_last("gammaincc", upper_gamma, lambda a, x: -_gamma_density(a, x)),
    "betainc": _by_last("betainc", _beta_part, _beta_density), "betaln": betaln,
    "beta": lambda a, b: special.gamma(a) * special.gamma(b) / special.gamma(a + b),
    "gammasgn": _gammasgn, "xlogy": xlogy, "xlog1py": xlog1py, "rel_entr": _rel_entr,
    "kl_div": lambda p, q: _rel_entr(p, q) - p + q, "factorial": _factorial, "poch": _poch,
    "zeta": _zeta, "loggamma": special.gammaln,
    "entr": lambda x: nb.where(x < 0, -math.inf, -xlogy(x, x)),
}  # fmt: skip


def made_of(name):
    """One of these functions under its name."""
    return special_function(name, BODIES[name], f"`{name}` of SciPy's special functions.")
