"""Derivatives of random numbers by the parameters of their distributions."""

import numpy as np

import numbus as nb

from ... import _core
from ...core.errors import message
from ...functions import special
from ...functions.registry import element
from ._array import as_array


@element
def _gamma_slope(a, log_x, psi):
    """The derivative of log(x) by a, of a number x of the gamma distribution of the parameter a
    that keeps its probability P(a, x): -dP/da / dP/dlog(x), of the series for P (Abramowitz and
    Stegun, Handbook of Mathematical Functions, 1964, 6.5.29), term by term.

    psi: the digamma function of a + 1.
    """
    x = np.exp(log_x)
    term, total, k = 1.0 / a, 0.0, 1.0
    while True:
        part = term * (psi - log_x)
        total += part
        # Terms fall from here on, and those that follow change nothing.
        if a + k > x and abs(part) <= 1e-17 * abs(total) and term <= 1e-17 * abs(total) * k:
            return total
        if not k < 1e6:
            return total
        term *= x / (a + k)
        psi += 1.0 / (a + k)
        k += 1.0


def follow_gamma(found, a, in_logarithms):
    """Numbers of gamma distributions, or their logarithms, as results of the parameters."""
    if not _core.depends(a):
        return found
    a = as_array(nb.broadcast_to(a, found.shape)) + found.dtype.type(0)

    def slope_of(alpha):
        wide = as_array(alpha).astype("f8")
        x = as_array(found).astype("f8")
        with nb.errstate(all="ignore"):
            known = x if in_logarithms else nb.log(x)
            known = nb.where(known > -700, known, -700.0)  # where the number is 0
            slope = as_array(_gamma_slope(wide, known, special._digamma(wide + 1)))
        return as_array(slope if in_logarithms else slope * x).astype(found.dtype)

    def gamma_slope(alpha):
        def refused(_g):
            raise NotImplementedError(
                message("jax.random.gamma", "second derivatives by its parameters are not there",
                        "a derivative that is differentiated", "one that is not")
            )  # fmt: skip

        return slope_of(alpha), refused

    def gamma(alpha):
        slope = nb.custom_gradient(gamma_slope)(as_array(alpha))
        return found, lambda g: g * slope

    return nb.custom_gradient(gamma, repeats=True)(a)
