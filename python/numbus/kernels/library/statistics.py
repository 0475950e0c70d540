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
