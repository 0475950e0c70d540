"""cupyx.scipy.special: functions that kernels have, element by element on both devices."""

import math

import numpy as np

import numbus
from numbus import vectorize

from ..._missing import getter

__name__ = "cupyx.scipy.special"
__path__ = []  # so that Python asks us what `from … import` does not find


def _elementwise(function):
    """A function of numbers as one of arrays: computed in float64, given in the arguments' type."""
    made = vectorize(function)

    def apply(*arrays):
        arrays = [_floating(a) for a in arrays]
        wide = [a.astype(np.float64) for a in arrays]
        return made(*wide).astype(np.result_type(*[a.dtype for a in arrays]))

    apply.__name__ = apply.__qualname__ = function.__name__
    apply.__doc__ = function.__doc__
    return apply


def _floating(x):
    a = numbus.asarray(x)
    return a if a.dtype.kind == "f" else a.astype(np.float64)


@_elementwise
def erf(x):
    """The error function."""
    return math.erf(x)


@_elementwise
def erfc(x):
    """1 - erf(x)."""
    return math.erfc(x)


@_elementwise
def gamma(x):
    """The gamma function."""
    return math.gamma(x)


@_elementwise
def gammaln(x):
    """The logarithm of the gamma function's magnitude."""
    return math.lgamma(x)


@_elementwise
def expit(x):
    """1 / (1 + exp(-x))."""
    return 1 / (1 + np.exp(-x))


@_elementwise
def logit(x):
    """log(x / (1 - x))."""
    return np.log(x / (1 - x))


@_elementwise
def ndtr(x):
    """The normal distribution's probability of values up to x."""
    return 0.5 * math.erfc(-x * 0.7071067811865476)


@_elementwise
def xlogy(x, y):
    """x * log(y); 0 where x is 0 and y no NaN."""
    if x == 0 and y == y:
        return x * 0
    return x * np.log(y)


@_elementwise
def xlog1py(x, y):
    """x * log1p(y); 0 where x is 0 and y no NaN."""
    if x == 0 and y == y:
        return x * 0
    return x * np.log1p(y)


@_elementwise
def entr(x):
    """-x log(x); 0 for 0, minus infinity below."""
    if x > 0:
        return -x * np.log(x)
    if x == 0:
        return x * 0
    if x < 0:
        return x * np.inf
    return x


def logsumexp(a, axis=None, b=None, keepdims=False):
    """log(sum(b * exp(a))) along axes, without overflow."""
    a = _floating(a)
    top = numbus.max(a, axis=axis, keepdims=True)
    top = numbus.where(numbus.isfinite(top), top, 0)
    terms = numbus.exp(a - top) if b is None else b * numbus.exp(a - top)
    total = numbus.log(numbus.sum(terms, axis=axis, keepdims=keepdims))
    return total + (top if keepdims else numbus.squeeze(top, axis=axis))


def log_softmax(x, axis=None):
    """x - logsumexp(x), along axes."""
    x = _floating(x)
    return x - logsumexp(x, axis=axis, keepdims=True)


def softmax(x, axis=None):
    """exp(x) / sum(exp(x)), along axes."""
    return numbus.exp(log_softmax(x, axis))


expm1, log1p, cbrt, exp2 = numbus.expm1, numbus.log1p, numbus.cbrt, numbus.exp2
sinc = numbus.sinc
__getattr__ = getter(__name__)
