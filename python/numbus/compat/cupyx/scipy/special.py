"""cupyx.scipy.special: functions that kernels have, element by element on both devices."""

import numpy as np

import numbus
from numbus.functions.special import (  # noqa: F401
    entr,
    erf,
    erfc,
    expit,
    gamma,
    gammaln,
    logit,
    ndtr,
    xlog1py,
    xlogy,
)

from ....core.dtypes import kind_of
from ..._missing import getter as _getter

__name__ = "cupyx.scipy.special"
__path__ = []  # so that Python asks us what `from … import` does not find


def _floating(x):
    a = numbus.asarray(x)
    return a if kind_of(a.dtype) == "f" else a.astype(np.float64)


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
__getattr__ = _getter(__name__)
