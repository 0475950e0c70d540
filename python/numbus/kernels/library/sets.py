"""Sorting by keys, and the least and largest by keys."""

import numpy as np

from .._library import known


@known("sorted backwards")
def sorted_backwards(items, reverse):
    """sorted(items, reverse=…)"""
    s = np.sort(items)
    n = s.shape[0]
    if reverse:
        for i in range(n // 2):
            s[i], s[n - 1 - i] = s[n - 1 - i], s[i]
    return s


@known("min by")
def min_by(items, key):
    """min(items, key=…)"""
    if len(items) == 0:
        raise ValueError("min() arg is an empty sequence")
    best = items[0]
    least = key(best)
    for i in range(1, len(items)):
        k = key(items[i])
        if k < least:
            best = items[i]
            least = k
    return best


@known("max by")
def max_by(items, key):
    """max(items, key=…)"""
    if len(items) == 0:
        raise ValueError("max() arg is an empty sequence")
    best = items[0]
    most = key(best)
    for i in range(1, len(items)):
        k = key(items[i])
        if k > most:
            best = items[i]
            most = k
    return best


@known("min of")
def min_of(items):
    """min(items) of others than integers; where one is NaN, the order decides."""
    if len(items) == 0:
        raise ValueError("min() arg is an empty sequence")
    best = items[0]
    for i in range(1, len(items)):
        if items[i] < best:
            best = items[i]
    return best


@known("max of")
def max_of(items):
    """max(items) of others than integers, likewise."""
    if len(items) == 0:
        raise ValueError("max() arg is an empty sequence")
    best = items[0]
    for i in range(1, len(items)):
        if items[i] > best:
            best = items[i]
    return best


@known("functools.reduce")
def reduce(function, items, start=None):
    """Combines the items from the first on."""
    if start is None:
        total = items[0]
        for i in range(1, len(items)):
            total = function(total, items[i])
        return total
    result = start
    for x in items:
        result = function(result, x)
    return result


@known("index of complex extreme")
def index_of_complex_extreme(a, most):
    """argmax, or argmin, of complex numbers: by the real, then by the imaginary part; NaN first."""
    best = a.dtype.type(0)
    at = 0
    k = 0
    for z in a.flat:
        if z != z:
            return k
        if most:
            better = z.real > best.real or (z.real == best.real and z.imag > best.imag)
        else:
            better = z.real < best.real or (z.real == best.real and z.imag < best.imag)
        if k == 0 or better:
            best = z
            at = k
        k += 1
    return at
