"""Covariances and correlations."""

from .. import _core
from ..core.dtypes import kind_of
from ..core.float_errors import warn_here
from . import names as np
from .names import compiled as _compiled
from .registry import Any, Array, DTypeArg, Flag, function

__all__ = []


@function("np.cov")
def cov(
    m: Array,
    y: Array = None,
    rowvar: Flag = True,
    bias: Flag = False,
    ddof: Any = None,
    fweights: Array = None,
    aweights: Array = None,
    *,
    dtype: DTypeArg = None,
):
    """Covariances of the rows of `m` and `y` (of their columns without `rowvar`), by the number of
    observations less `ddof` (1; 0 with `bias`). fweights: how often each observation counts;
    aweights: how much. Compiled functions refuse one row of a matrix, which has no axes in NumPy.
    """
    if ddof is not None and ddof != int(ddof):
        raise ValueError("[cov] ddof; got a fraction; expected an integer")
    if m.ndim > 2 or (y is not None and y.ndim > 2):
        raise ValueError("[cov] more than 2 axes; got another array; expected at most 2")
    x = _observations(m, rowvar, _kind(m, y, dtype))
    if kind_of(x.dtype) not in "fc":
        raise TypeError("[cov] dtype; got one of integers; expected one of floats or complex")
    if _compiled:
        if x.shape[0] == 0 and (y is not None or x.dtype != np.float64):
            raise NotImplementedError("[cov] no variables; got 0 rows; expected at least 1")
        if m.ndim == 2 and y is None and x.dtype == np.float64:
            if x.shape[0] == 0:  # before anything is asked of the weights
                return np.zeros((0, 0))
    elif x.shape[0] == 0:
        return np.zeros((0, 0))
    if y is not None:
        # A single row stays one, however its observations are given.
        other = _observations(y, True, x.dtype)
        x = np.concatenate((x, other if rowvar or other.shape[0] == 1 else other.T))
    less = ddof if ddof is not None else (0 if bias else 1)
    if fweights is None and aweights is None:
        c = _unweighted(x, less)
    else:
        c = _weighted(x, fweights, aweights, less)
    return _squeezed(c, m.ndim < 2 and y is None)


def _kind(m, y, dtype):
    if dtype is not None:
        return dtype
    return np.result_type(m, np.float64) if y is None else np.result_type(m, y, np.float64)


def _observations(a, rowvar, kind):
    """A matrix with a row for each variable."""
    x = a if a.dtype == kind else a.astype(kind)
    if a.ndim < 2:
        return x.reshape((1, a.size))
    return x if rowvar else x.T


def _squeezed(c, one):
    if one:
        return c.reshape(())
    if _compiled:
        if c.shape[0] == 1:
            raise NotImplementedError("[cov] one row of a matrix; got 1; expected a 1-d array")
        return c
    return np.squeeze(c)


def _unweighted(x, less):
    count = x.shape[1] - less
    d = x - np.mean(x, 1, keepdims=True)
    result = np.dot(d, _conjugate(d).T) * (1.0 / count if count > 0 else np.inf)
    if not _compiled and count <= 0 and _core.counts_few(result, result, (), 1):
        warn_here("Degrees of freedom <= 0 for slice")  # of what is at rest NumPy says so itself
    return result


def _conjugate(x):
    return np.conj(x) if x.dtype.kind == "c" else x  # of real numbers conj() is a copy


def _checked(name, weights, x):
    """Weights of the observations, as float64."""
    if weights.ndim != 1:
        raise RuntimeError(f"[cov] {name} of other than 1 axis; got another; expected 1")
    if weights.shape[0] != x.shape[1]:
        raise RuntimeError(f"[cov] number of {name}; got another; expected one per observation")
    w = weights.astype(np.float64)
    if bool(np.any(w < 0)):
        raise ValueError(f"[cov] {name}; got negative ones; expected none below 0")
    return w


def _weighted(x, fweights, aweights, less):
    """Covariances of weighted observations; where no degree of freedom is left they are infinite
    or NaN, without NumPy's warning, which would need the weights at the call.
    """
    if fweights is not None:
        w = counts = _checked("fweights", fweights, x)
        if not bool(np.all(counts == np.rint(counts))):
            raise TypeError("[cov] fweights; got fractions; expected integers")
        if aweights is not None:
            w = counts * _checked("aweights", aweights, x)
    else:
        w = _checked("aweights", aweights, x)
    total = np.sum(w)
    if bool(total == 0):
        raise ZeroDivisionError("[cov] weights; got a sum of 0; expected another")
    count = total - less
    if aweights is not None:
        count = total - less * np.sum(w * aweights.astype(np.float64)) / total
    mean = np.sum(x * w, 1, keepdims=True) / total
    d = (x - mean).astype(x.dtype)
    return np.dot(d, _conjugate(d * w).T) * (1.0 / np.maximum(count, 0.0))


@function("np.corrcoef")
def corrcoef(x: Array, y: Array = None, rowvar: Flag = True, *, dtype: DTypeArg = None):
    """Covariances over the deviations, within [-1, 1]."""
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    deviation = np.sqrt(np.diagonal(c).real)
    c = c / deviation[:, None] / deviation[None, :]
    if c.dtype.kind != "c":
        return np.clip(c, -1, 1)
    bounded = np.empty(c.shape, c.dtype)
    bounded.real[...] = np.clip(c.real, -1, 1)
    bounded.imag[...] = np.clip(c.imag, -1, 1)
    return bounded
