"""Running sums, order statistics, reductions that skip NaN, comparisons of arrays."""

import numpy as np

from .._library import known


@known("np.cumsum")
def cumsum(a, axis=None):
    """One after the other."""
    if axis is None or a.ndim == 0:
        return running_sums(a.ravel())
    return np.swapaxes(running_sums(np.swapaxes(a, axis, 0)), axis, 0)


def running_sums(lines):
    out = np.empty(lines.shape, lines[:0].sum().dtype)
    for i in range(lines.shape[0]):
        out[i] = lines[i]
        if i:
            out[i] += out[i - 1]
    return out


@known("np.cumprod")
def cumprod(a, axis=None):
    """One after the other."""
    if axis is None or a.ndim == 0:
        return running_products(a.ravel())
    return np.swapaxes(running_products(np.swapaxes(a, axis, 0)), axis, 0)


def running_products(lines):
    out = np.empty(lines.shape, lines[:0].sum().dtype)
    for i in range(lines.shape[0]):
        out[i] = lines[i]
        if i:
            out[i] *= out[i - 1]
    return out


UNEVEN = "Shape of weights must be consistent with shape of a along specified axis."


@known("np.average")
def average(a, axis=None, weights=None):
    """The mean, weighted."""
    if weights is None:
        means = np.mean(a, axis)
        if np.size(means) == 0:
            raise ZeroDivisionError("division by zero")
        return means
    t = np.result_type(a, weights)
    if a.dtype.kind in "iub":
        t = np.result_type(t, np.float64)
    w = weights.astype(t)
    if axis is None:
        if weights.shape != a.shape:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        whole = w.sum()
        if whole == 0:
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        return (a.astype(t) * w).sum() / whole
    if weights.ndim == a.ndim:
        if weights.shape != a.shape:
            raise ValueError(UNEVEN)
        wholes = w.sum(axis)
        if np.any(wholes == 0):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        return (a.astype(t) * w).sum(axis) / wholes
    if weights.ndim != 1:
        raise ValueError(UNEVEN)
    if weights.size != a.shape[axis]:
        raise ValueError(UNEVEN)
    whole = w.sum()
    if whole == 0:
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    return (np.swapaxes(a, axis, -1).astype(t) * w).sum(-1) / whole


@known("np.nansum")
def nansum(a):
    """NaN counts as zero."""
    return np.where(np.isnan(a), a.dtype.type(0), a).sum()


@known("np.nanprod")
def nanprod(a):
    """NaN counts as one."""
    return np.where(np.isnan(a), a.dtype.type(1), a).prod()


@known("np.nanmean")
def nanmean(a):
    """The mean of what is not NaN."""
    if a.dtype.kind not in "fc":
        return np.mean(a)
    return nansum(a) / int(np.count_nonzero(~np.isnan(a)))


@known("np.nanvar")
def nanvar(a):
    """The variance of what is not NaN."""
    missing = np.isnan(a)
    d = np.where(missing, 0.0, a - nanmean(a))  # where infinities meet it is NaN, and stays so
    return (d * np.conj(d)).real.sum() / int(np.count_nonzero(~missing))


@known("np.nanstd")
def nanstd(a):
    """The root of nanvar()."""
    return np.sqrt(nanvar(a))


@known("np.nanmin")
def nanmin(a):
    """The smallest that is not NaN."""
    if a.size == 0:
        raise ValueError("zero-size array to reduction operation fmin which has no identity")
    best = a.ravel()[0]
    for v in a.ravel():
        if v < best or best != best:
            best = v
    return best


@known("np.nanmax")
def nanmax(a):
    """The largest that is not NaN."""
    if a.size == 0:
        raise ValueError("zero-size array to reduction operation fmax which has no identity")
    best = a.ravel()[0]
    for v in a.ravel():
        if v > best or best != best:
            best = v
    return best


@known("np.nanargmin")
def nanargmin(a):
    """Where the smallest is."""
    return np.where(np.isnan(a), a.dtype.type(np.inf), a).argmin()


@known("np.nanargmax")
def nanargmax(a):
    """Where the largest is."""
    return np.where(np.isnan(a), a.dtype.type(-np.inf), a).argmax()
