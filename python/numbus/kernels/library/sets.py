"""Sets of sorted elements, and sorting by keys."""

import numpy as np

from .._library import known
from .sorting import argsort, check_kth, isin, sort, unique


@known("np.union1d")
def union1d(a, b):
    """What is in any of both, sorted."""
    return unique(np.concatenate((a.ravel(), b.ravel())))


@known("np.intersect1d")
def intersect1d(a, b):
    """What is in both, sorted."""
    x = unique(a).astype(np.promote_types(a.dtype, b.dtype))
    return x[isin(x, b)]


@known("np.setdiff1d")
def setdiff1d(a, b):
    """What is in the first only, sorted."""
    x = unique(a)
    return x[~isin(x, b)]


@known("np.setxor1d")
def setxor1d(a, b):
    """What is in one of both only, sorted."""
    return sort(np.concatenate((setdiff1d(a, b), setdiff1d(b, a))))


@known("np.in1d")
def in1d(a, b):
    """Which elements are in another array."""
    return isin(a.ravel(), b)


@known("np.argpartition")
def argpartition(a, kth):
    """The order in which the kth is where sorting brings it: that of sorting."""
    check_kth(a, kth)
    return argsort(a)


@known("sorted backwards")
def sorted_backwards(items, reverse):
    """sorted(items, reverse=…)"""
    s = sort(items)
    n = s.shape[0]
    if reverse:
        for i in range(n // 2):
            s[i], s[n - 1 - i] = s[n - 1 - i], s[i]
    return s


@known("sorted by")
def sorted_by(items, key, reverse=False):
    """sorted(items, key=…): equal keys keep their order."""
    x = np.array(items)
    n = x.shape[0]
    keys = np.array([key(x[i]) for i in range(n)])
    out = np.empty(n, x.dtype)
    if reverse:
        order = argsort(keys[::-1])
        for i in range(n):
            out[n - 1 - i] = x[n - 1 - order[i]]
        return out
    order = argsort(keys)
    for i in range(n):
        out[i] = x[order[i]]
    return out


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
    """min(items) of floats: where one is NaN, the order decides, as comparisons do."""
    if len(items) == 0:
        raise ValueError("min() arg is an empty sequence")
    best = items[0]
    for i in range(1, len(items)):
        if items[i] < best:
            best = items[i]
    return best


@known("max of")
def max_of(items):
    """max(items) of floats, likewise."""
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
