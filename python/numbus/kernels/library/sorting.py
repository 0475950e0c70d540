"""Sorting, searching, counting."""

import numpy as np

from .._library import known


def before(x, y):
    """Whether x stands before y: NaN comes last."""
    return x < y or (y != y and x == x)


def sort_row(a, other):
    """Sorts a, with memory of the same size: runs of 16 by insertion, then merged (stable)."""
    n = a.shape[0]
    for low in range(0, n, 16):
        high = min(low + 16, n)
        for i in range(low + 1, high):
            v = a[i]
            j = i - 1
            while j >= low and before(v, a[j]):
                a[j + 1] = a[j]
                j -= 1
            a[j + 1] = v
    width = 16
    swapped = False
    while width < n:
        for low in range(0, n, 2 * width):
            middle = min(low + width, n)
            high = min(low + 2 * width, n)
            i = low
            j = middle
            for k in range(low, high):
                if swapped:
                    if i < middle and (j >= high or not before(other[j], other[i])):
                        a[k] = other[i]
                        i += 1
                    else:
                        a[k] = other[j]
                        j += 1
                else:
                    if i < middle and (j >= high or not before(a[j], a[i])):
                        other[k] = a[i]
                        i += 1
                    else:
                        other[k] = a[j]
                        j += 1
        swapped = not swapped
        width *= 2
    if swapped:
        for k in range(n):
            a[k] = other[k]


def check_sort(ndim, axis, kind):
    """Raises where there is no such axis or kind of sorting."""
    if kind is not None and kind not in ("quicksort", "mergesort", "heapsort", "stable"):
        raise ValueError("sort kind must be one of 'quick', 'heap', or 'stable'")
    if axis < -ndim or axis >= ndim:
        raise np.exceptions.AxisError(f"axis {axis} is out of bounds for array of dimension {ndim}")


@known("np.sort")
def sort(a, axis=-1, kind=None):
    """Merge sort, which serves every kind."""
    if axis is None:
        return sort(a.ravel(), -1, kind)
    check_sort(a.ndim, axis, kind)
    if a.ndim == 1:
        out = a.copy()
        sort_row(out, np.empty_like(out))
        return out
    moved = np.swapaxes(a, axis, -1).copy()
    n = moved.shape[-1]
    rows = moved.reshape(moved.size // max(n, 1), n)
    other = np.empty(n, a.dtype)
    for i in range(rows.shape[0]):
        sort_row(rows[i], other)
    return np.swapaxes(moved, axis, -1)


def argsort_row(a, positions, other):
    """Sorts positions by the elements there, as sort_row."""
    n = a.shape[0]
    for low in range(0, n, 16):
        high = min(low + 16, n)
        for i in range(low + 1, high):
            p = positions[i]
            v = a[p]
            j = i - 1
            while j >= low and before(v, a[positions[j]]):
                positions[j + 1] = positions[j]
                j -= 1
            positions[j + 1] = p
    width = 16
    swapped = False
    while width < n:
        for low in range(0, n, 2 * width):
            middle = min(low + width, n)
            high = min(low + 2 * width, n)
            i = low
            j = middle
            for k in range(low, high):
                if swapped:
                    if i < middle and (j >= high or not before(a[other[j]], a[other[i]])):
                        positions[k] = other[i]
                        i += 1
                    else:
                        positions[k] = other[j]
                        j += 1
                else:
                    if i < middle and (j >= high or not before(a[positions[j]], a[positions[i]])):
                        other[k] = positions[i]
                        i += 1
                    else:
                        other[k] = positions[j]
                        j += 1
        swapped = not swapped
        width *= 2
    if swapped:
        for k in range(n):
            positions[k] = other[k]


@known("np.argsort")
def argsort(a, axis=-1, kind=None):
    """Merge sort of positions (stable), which serves every kind."""
    if axis is None:
        return argsort(a.ravel(), -1, kind)
    check_sort(a.ndim, axis, kind)
    if a.ndim == 1:
        positions = np.arange(a.shape[0])
        argsort_row(a, positions, np.empty_like(positions))
        return positions
    moved = np.swapaxes(a, axis, -1).copy()
    n = moved.shape[-1]
    rows = moved.reshape(moved.size // max(n, 1), n)
    found = np.empty(rows.shape, np.int64)
    for i in range(rows.shape[0]):
        positions = np.arange(n)
        argsort_row(rows[i], positions, np.empty_like(positions))
        found[i] = positions
    return np.swapaxes(found.reshape(moved.shape), axis, -1)


def search(a, v, right):
    """The position of v in a sorted array, by bisection."""
    low = 0
    high = a.shape[0]
    while low < high:
        middle = (low + high) // 2
        if right:
            forward = not before(v, a[middle])
        else:
            forward = before(a[middle], v)
        if forward:
            low = middle + 1
        else:
            high = middle
    return low


@known("np.searchsorted")
def searchsorted(a, v, side="left"):
    """Bisection."""
    if side != "left" and side != "right":
        raise ValueError("search side must be 'left' or 'right'")
    if isinstance(v, np.ndarray):
        out = np.empty(v.shape, np.int64)
        flat = out.ravel()
        values = v.ravel()
        for i in range(values.shape[0]):
            flat[i] = search(a, values[i], side == "right")
        return out
    return search(a, v, side == "right")


@known("np.bincount")
def bincount(x, weights=None, minlength=0):
    """One pass; weights add up as float64."""
    if x.dtype.kind not in "iub":
        raise TypeError("Cannot cast array data of floats to dtype('int64')")
    most = -1
    for v in x:
        if int(v) < 0:  # uint64 beyond int64, too
            raise ValueError("'list' argument must have no negative elements")
        most = max(most, int(v))
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    n = max(most + 1, minlength)
    if weights is None:
        out = np.zeros(n, np.int64)
        for v in x:
            out[int(v)] += 1
        return out
    if weights.shape[0] != x.shape[0]:
        raise ValueError("The weights and list don't have the same length.")
    sums = np.zeros(n)
    for i in range(x.shape[0]):
        sums[int(x[i])] += weights[i]
    return sums


@known("np.flatnonzero")
def flatnonzero(a):
    """Counts, then notes."""
    flat = a.ravel()
    out = np.empty(np.count_nonzero(flat), np.int64)
    used = 0
    for i in range(flat.shape[0]):
        if flat[i]:
            out[used] = i
            used += 1
    return out


@known("np.argwhere")
def argwhere(a):
    """Counts, then notes."""
    positions = flatnonzero(a)
    out = np.empty((positions.shape[0], a.ndim), np.int64)
    for k in range(positions.shape[0]):
        rest = positions[k]
        for d in range(a.ndim - 1, -1, -1):
            out[k, d] = rest % a.shape[d]
            rest //= a.shape[d]
    return out


@known("np.nonzero", "np.where")
def nonzero(a):
    """The columns of argwhere."""
    positions = argwhere(a)
    if a.ndim == 1:
        return (positions[:, 0].copy(),)
    if a.ndim == 2:
        return positions[:, 0].copy(), positions[:, 1].copy()
    return positions[:, 0].copy(), positions[:, 1].copy(), positions[:, 2].copy()


@known("np.partition")
def partition(a, kth):
    """A sorted array is partitioned everywhere."""
    check_kth(a, kth)
    return sort(a)


def check_kth(a, kth):
    """Raises where kth is none of the last axis, unless there is nothing to partition."""
    if a.size == 0:
        return
    n = a.shape[a.ndim - 1]
    if isinstance(kth, (tuple, list, np.ndarray)):
        for k in kth:
            if isinstance(k, float):
                raise TypeError("Partition index must be integer")
            if k < -n or k >= n:
                raise ValueError(f"kth(={k}) out of bounds ({n})")
    elif kth < -n or kth >= n:
        raise ValueError(f"kth(={kth}) out of bounds ({n})")
