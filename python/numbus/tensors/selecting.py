"""The order of elements, and where those of a rank are without putting all of them in order: on a
CPU, where elements may be looked at.
"""

import numbus as nb

from .. import _core
from ..core.dtypes import is_half, kind_of
from ..core.host import on_host

# Elements of a line that take less to divide than to sort: for some of them, and for one.
_LONG, _VERY_LONG = 2048, 1 << 16
_MOST_LINES = 64  # as each takes some calls
_FEW = 8  # the share of a line that is wanted, one of so many


def _reversed(order, k):
    return nb.flip(order, axis=k)


def order_of(a, k, descending):
    """Indices that sort along an axis; equal elements stay in their order."""
    a = nb.stop_gradient(a)
    if not descending:
        return nb.argsort(a, axis=k, stable=True)
    # From the last to the first, and what is found backwards: equal elements keep their order.
    n = a.shape[k]
    return n - 1 - _reversed(nb.argsort(_reversed(a, k), axis=k, stable=True), k)


def _lines(a, d, least):
    """The lines along an axis, one after the other; None where they are sorted sooner."""
    if a.ndim == 0 or a.shape[d] < least or a.size > _MOST_LINES * a.shape[d] or not a.size:
        return None
    if _core.watching() or _core.capturing() or not on_host(a):
        return None
    if kind_of(a.dtype) not in "fiu" or is_half(a.dtype):
        return None
    return nb.reshape(nb.moveaxis(nb.stop_gradient(a), d, -1), (-1, a.shape[d]))


def _back(found, a, d):
    """Indices of lines, as many of each, along the axis of the array."""
    shape = [*a.shape[:d], *a.shape[d + 1 :], -1]
    return nb.moveaxis(nb.reshape(nb.stack(found), shape), -1, d)


def _outer(line, k, largest):
    """The indices of the k largest or smallest elements in order; None where NaN is the last of
    them. NaN counts as the largest, and the first of equal elements come first.
    """
    rank = line.size - k if largest else k - 1
    last = nb.partition(line, rank)[rank]
    if last != last:
        return None
    beyond = nb.flatnonzero(~(line <= last) if largest else line < last)
    equal = nb.flatnonzero(line == last)[: k - beyond.size]
    found = nb.concatenate([beyond, equal])
    return found[order_of(line[found], 0, largest)]


def _of_rank(line, k):
    """The index of the element of rank k, as a line of one; None where that is NaN."""
    value = nb.partition(line, k)[k]
    if value != value:
        return None
    before = int(nb.count_nonzero(line < value))
    return nb.flatnonzero(line == value)[k - before : k - before + 1]


def _each(a, d, least, find):
    lines = _lines(a, d, least)
    if lines is None:
        return None
    found = []
    for line in lines:
        found.append(find(line))
        if found[-1] is None:
            return None
    return _back(found, a, d)


def outer_order(a, d, k, largest):
    """The first k of the indices that sort along an axis, descending where `largest`; None where
    all are sorted sooner.
    """
    if not 0 < k <= a.shape[d] // _FEW:
        return None
    return _each(a, d, _LONG, lambda line: _outer(line, k, largest))


def rank_order(a, d, k):
    """The k-th of the indices that sort along an axis, which has an extent of one then; else None.

    Equal elements count in their order.
    """
    return _each(a, d, _VERY_LONG, lambda line: _of_rank(line, k))
