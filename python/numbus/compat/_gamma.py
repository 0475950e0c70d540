"""Derivatives of gamma numbers by the parameter of their distribution."""

import numpy as np

from ..functions.registry import element


@element
def gamma_slope(a, log_x, psi):
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
