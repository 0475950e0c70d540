"""Routines that registered functions are composed of (core/routines.py): sorts and searches by the
host's code, as array calls have them, those of a few elements in place.
"""

import numpy as np

from .._library import (
    host_argpartition,
    host_argsort,
    host_partition,
    host_search,
    host_sort,
    known,
)

FEW = 16  # elements, which a call would take longer to sort than loops do


def before(x, y):
    """Whether x stands before y: NaN comes last, of complex numbers by the parts."""
    if np.iscomplexobj(x):
        if x.real < y.real:
            return x.imag == x.imag or y.imag != y.imag
        if x.real > y.real:
            return x.imag == x.imag and y.imag != y.imag
        if x.real == y.real or (x.real != x.real and y.real != y.real):
            return x.imag < y.imag or (x.imag == x.imag and y.imag != y.imag)
        return y.real != y.real
    return x < y or (y != y and x == x)


def expect_done(status):
    """Raises where the host's code has no memory to work in."""
    if status != 0:
        raise MemoryError("no memory to sort in")


@known("routines.keeps_order")
def keeps_order(a):
    """Sorts of the host can be stable."""
    return True


@known("routines.sort")
def sort(a, axis=-1, stable=False, descending=False):
    """Along `axis`; NaN last, or first."""
    out = np.swapaxes(a, axis, -1).copy()
    n = out.shape[-1]
    lines = out.size // max(n, 1)
    if n > FEW or descending:
        expect_done(host_sort(out, out, lines, n, stable, descending))
    else:
        rows = out.reshape(lines, n)
        for i in range(lines):
            insert(rows[i])
    return np.swapaxes(out, axis, -1)


def insert(row):
    """Insertion sort."""
    for i in range(1, row.shape[0]):
        v = row[i]
        j = i - 1
        while j >= 0 and before(v, row[j]):
            row[j + 1] = row[j]
            j -= 1
        row[j + 1] = v


@known("routines.argsort")
def argsort(a, axis=-1, descending=False):
    """The order along `axis`; equal elements keep theirs."""
    keys = np.swapaxes(a, axis, -1).copy()
    n = keys.shape[-1]
    lines = keys.size // max(n, 1)
    out = np.empty(keys.shape, np.int64)
    if n > FEW or descending:
        expect_done(host_argsort(keys, out, lines, n, descending))
    else:
        rows = keys.reshape(lines, n)
        orders = out.reshape(lines, n)
        for i in range(lines):
            insert_indices(rows[i], orders[i])
    return np.swapaxes(out, axis, -1)


def insert_indices(row, order):
    """Insertion sort of indices by the elements there."""
    for i in range(row.shape[0]):
        v = row[i]
        j = i - 1
        while j >= 0 and before(v, row[order[j]]):
            order[j + 1] = order[j]
            j -= 1
        order[j + 1] = i


@known("routines.ranks")
def ranks(op, kth, extent, size):
    """Which elements a partition is about, as numbers from the beginning."""
    given = np.atleast_1d(np.asarray(kth))
    if given.dtype.kind not in "iu":
        raise TypeError("Partition index must be integer")
    if given.ndim > 1:
        raise ValueError("object too deep for desired array")
    found = np.zeros(given.size, np.int64)
    if size > 0:
        for i in range(given.shape[0]):
            k = given[i]
            if k < -extent or k >= extent:
                raise ValueError(f"kth(={k}) out of bounds ({extent})")
            found[i] = k + extent if k < 0 else k
    return found


@known("routines.partition")
def partition(a, among, axis=-1):
    """Along `axis`, by the ranks of ranks()."""
    out = np.swapaxes(a, axis, -1).copy()
    n = out.shape[-1]
    expect_done(host_partition(out, out, out.size // max(n, 1), n, among, among.shape[0]))
    return np.swapaxes(out, axis, -1)


@known("routines.argpartition")
def argpartition(a, among, axis=-1):
    """The indices that partition() would put where."""
    keys = np.swapaxes(a, axis, -1).copy()
    n = keys.shape[-1]
    out = np.empty(keys.shape, np.int64)
    expect_done(host_argpartition(keys, out, keys.size // max(n, 1), n, among, among.shape[0]))
    return np.swapaxes(out, axis, -1)


@known("routines.search")
def search(line, values, right=False):
    """Where numbers belong in a sorted line."""
    if not isinstance(values, np.ndarray):
        return bisect(line, values, right)
    t = np.promote_types(line.dtype, values.dtype)
    ordered = np.ascontiguousarray(line, t)
    wanted = np.ascontiguousarray(values, t)
    out = np.empty(values.shape, np.int64)
    n = ordered.shape[0]
    expect_done(host_search(ordered, n, wanted, wanted.size, right, out))
    return out


def bisect(line, v, right):
    """One number."""
    low = 0
    high = line.shape[0]
    while low < high:
        middle = (low + high) // 2
        if right:
            forward = not before(v, line[middle])
        else:
            forward = before(line[middle], v)
        if forward:
            low = middle + 1
        else:
            high = middle
    return low


@known("routines.bincount")
def bincount(x, bins, weights=None):
    """One after the other."""
    if weights is None:
        out = np.zeros(bins, np.int64)
        for v in x:
            out[int(v)] += 1
        return out
    sums = np.zeros(bins)
    for i in range(x.shape[0]):
        sums[int(x[i])] += weights[i]
    return sums


@known("routines.flatnonzero")
def flatnonzero(flat):
    """Counts, then notes."""
    out = np.empty(np.count_nonzero(flat), np.int64)
    used = 0
    for i in range(flat.shape[0]):
        if flat[i]:
            out[used] = i
            used += 1
    return out


@known("routines.accumulate")
def accumulate(a, axis=0, dtype=None, product=False):
    """One line after the other."""
    lines = np.swapaxes(a, axis, 0)
    out = np.empty(lines.shape, a.ravel()[:0].sum().dtype if dtype is None else dtype)
    for i in range(lines.shape[0]):
        out[i] = lines[i]
        if i:
            if product:
                out[i] *= out[i - 1]
            else:
                out[i] += out[i - 1]
    return np.swapaxes(out, axis, 0)


UNEQUAL = "all the input array dimensions except for the concatenation axis must match exactly"


@known("routines.join")
def join(arrays, axis=0, dtype=None):
    """Copies one after the other."""
    total = 0
    for a in arrays:
        total += a.shape[axis]
    if arrays[0].ndim == 1:
        line = np.empty(total, dtype)
        at = 0
        for a in arrays:
            line[at : at + a.shape[0]] = a
            at += a.shape[0]
        return line
    if arrays[0].ndim == 2:
        at = 0
        if axis == 0:
            rows = np.empty((total, arrays[0].shape[1]), dtype)
            for a in arrays:
                if a.shape[1] != arrays[0].shape[1]:
                    raise ValueError(UNEQUAL)
                rows[at : at + a.shape[0]] = a
                at += a.shape[0]
            return rows
        columns = np.empty((arrays[0].shape[0], total), dtype)
        for a in arrays:
            if a.shape[0] != arrays[0].shape[0]:
                raise ValueError(UNEQUAL)
            columns[:, at : at + a.shape[1]] = a
            at += a.shape[1]
        return columns
    first = np.moveaxis(arrays[0], axis, 0)
    out = np.empty(arrays[0].shape[:axis] + (total,) + arrays[0].shape[axis + 1 :], dtype)
    lines = np.moveaxis(out, axis, 0)
    at = 0
    for a in arrays:
        part = np.moveaxis(a, axis, 0)
        if part.shape[1:] != first.shape[1:]:
            raise ValueError(UNEQUAL)
        lines[at : at + part.shape[0]] = part
        at += part.shape[0]
    return out
