"""Sorting: sort, argsort, partition, argpartition, lexsort and their methods."""

from ..core import dtypes, routines
from ..core.errors import message, one_axis
from ..core.operands import dtype_of, store, to_ndarray
from ..core.quick import quick
from . import names as np
from .names import compiled as _compiled
from .registry import Any, Array, Axis, AxisOrNumber, Choice, Flag, Flat, Operand, function

__all__ = [
    "argpartition",
    "argsort",
    "lexsort",
    "partition",
    "searchsorted",
    "sort",
    "sort_complex",
]

_KIND = Choice("quicksort", "heapsort", "mergesort", "stable")
_SELECT = Choice("introselect")


def _is_stable(op, kind, stable, order):
    """Whether equal elements have to keep their order."""
    if order is not None:
        raise ValueError(f"[{op}] order of an array without fields; got one; expected None")
    if kind is not None:
        if stable is not None:
            raise ValueError(f"[{op}] kind and stable; got both; expected one of them")
        return kind == "stable" or kind == "mergesort"
    if stable is None:
        return False
    return stable


@function("np.sort", kind="primitive")
@quick("sort")
def sort(
    a: Array,
    axis: Axis | Flat = -1,
    kind: _KIND = None,
    order: Any = None,
    *,
    stable: Flag = None,
    descending: Flag = False,
):
    """The elements in order along `axis` (None: of the flattened array), in the dtype of `a`.

    NaN comes last, `descending` first; complex numbers are ordered by the real, then by the
    imaginary part. stable, or kind 'stable' or 'mergesort': equal elements keep their order.
    descending: the largest first. Raises ValueError where `order` names fields, or where both
    `kind` and `stable` are given.
    """
    exact = _is_stable("sort", kind, stable, order)
    if exact and not routines.keeps_order(a):
        result = a.copy("K")  # whose axis order the result has
        result[...] = np.take_along_axis(a, routines.argsort(a, axis, descending), axis)
        return result
    return routines.sort(a, axis, exact, descending)


@function("np.argsort", kind="primitive")
@quick("argsort")
def argsort(
    a: Array,
    axis: AxisOrNumber | Flat = -1,
    kind: _KIND = None,
    order: Any = None,
    *,
    stable: Flag = None,
    descending: Flag = False,
):
    """The indices, int64, that put the elements in order along `axis`; equal ones keep theirs.

    descending: in the order of sort(descending=True).
    """
    _is_stable("argsort", kind, stable, order)
    return routines.argsort(a, axis, descending)


@function("np.partition", kind="primitive")
@quick("partition")
def partition(
    a: Array, kth: Any, axis: Axis | Flat = -1, kind: _SELECT = "introselect", order: Any = None
):
    """The elements along `axis` with each of index `kth` as sorting would have it: none before it
    is larger, none after it smaller.

    kth: an int or several, from the end where negative; ValueError out of bounds.
    """
    _is_stable("partition", kind, None, order)
    ranks = routines.ranks("partition", kth, a.shape[axis], a.size)
    if a.size == 0:
        return a.copy()
    return routines.partition(a, ranks, axis)


@function("np.argpartition", kind="primitive")
@quick("argpartition")
def argpartition(
    a: Array,
    kth: Any,
    axis: AxisOrNumber | Flat = -1,
    kind: _SELECT = "introselect",
    order: Any = None,
):
    """The indices, int64, that partition `a` along `axis` as partition() does."""
    _is_stable("argpartition", kind, None, order)
    ranks = routines.ranks("argpartition", kth, a.shape[axis], a.size)
    if a.size == 0:
        return np.zeros(a.shape, np.int64)
    return routines.argpartition(a, ranks, axis)


@function("np.searchsorted", kind="primitive")
@quick("searchsorted")
def searchsorted(a: Array, v: Operand, side: Choice("left", "right") = "left", sorter: Any = None):
    """The indices, int64, before which the values `v` belong in the sorted 1-d `a`.

    side: 'left' before equal elements, 'right' after them. sorter: the indices that sort `a`.
    Raises ValueError for other shapes of `a` or `sorter`, TypeError where that holds no integers.
    """
    if a.ndim != 1:
        raise ValueError(f"[searchsorted] a has to be 1-d; got {a.ndim}-d; expected 1-d")
    if sorter is not None:
        order = np.asarray(sorter)
        if order.dtype.kind not in "iu":
            raise TypeError("[searchsorted] sorter; got another dtype; expected integers")
        if order.ndim != 1 or order.shape[0] != a.shape[0]:
            raise ValueError("[searchsorted] shape of sorter; got another one; expected that of a")
        a = a[order]
    if _compiled:
        return routines.search(a, v, side == "right")
    dtype = dtypes.promote_types(a.dtype, dtype_of(v))
    values = to_ndarray(v).astype(dtype, copy=False)
    found = routines.search(a.astype(dtype, copy=False), values, side == "right")
    return found[()] if found.ndim == 0 else found


@function("np.sort_complex")
def sort_complex(a: Array):
    """The elements along the last axis in order, as complex numbers (complex64 of small types)."""
    sorted_values = np.sort(a)
    if a.dtype == np.complex64 or a.dtype == np.complex128:
        return sorted_values
    short = (np.int8, np.int16, np.uint8, np.uint16)
    return sorted_values.astype(np.complex64 if a.dtype in short else np.complex128)


@function("np.lexsort", few=True)
def lexsort(keys: Any, axis: Any = -1):
    """The indices, int64, that sort by several keys, of which the last one counts most.

    keys: arrays of one shape, or an array whose rows they are.
    """
    if _compiled:
        if isinstance(keys, (tuple, list)):  # rows of an array are of one shape
            _expect_one_shape(keys)
        return _by_keys(keys, axis)
    keys = [to_ndarray(k) for k in keys]
    if not keys:
        raise TypeError(message("lexsort", "no keys", "an empty sequence", "at least one"))
    shape = keys[0].shape
    for key in keys:
        if key.shape != shape:
            raise ValueError(message("lexsort", "shapes differ", key.shape, shape))
    axis = one_axis("lexsort", axis, len(shape) or 1)  # a number has an axis, too
    if not shape:
        return np.zeros((), np.int64)
    if len(shape) > 1:
        return _by_keys(keys, axis)
    order = np.argsort(keys[0], axis)
    for key in keys[1:]:
        order = order[np.argsort(key[order])]
    return order


def _expect_one_shape(keys):
    if len(keys) > 1:
        if np.shape(keys[1]) != np.shape(keys[0]):
            raise ValueError("[lexsort] shapes of keys differ; got several; expected one shape")
        _expect_one_shape(keys[1:])


def _by_keys(keys, axis):
    """By one key after the other: argsort() leaves equal elements in their order."""
    if np.ndim(keys[0]) == 0:
        if axis != 0 and axis != -1:
            raise ValueError("[lexsort] axis of numbers; got another one; expected 0 or -1")
        return np.int64(0)
    order = np.argsort(keys[0], axis, stable=True)
    if isinstance(keys, (tuple, list)):  # each of a type of its own
        return _ordered_further(keys[1:], order, axis)
    for key in keys[1:]:
        order = _ordered(key, order, axis)
    return order


def _ordered(key, order, axis):
    moved = np.argsort(np.take_along_axis(key, order, axis), axis, stable=True)
    return np.take_along_axis(order, moved, axis)


def _ordered_further(keys, order, axis):
    if len(keys) == 0:
        return order
    return _ordered_further(keys[1:], _ordered(keys[0], order, axis), axis)


@quick("sort_in_place")
def sort_in_place(self, axis=-1, kind=None, order=None, *, stable=None):
    """Puts the elements in order along `axis`; see `sort`."""
    store("sort", sort(self, one_axis("sort", axis, self.ndim), kind, order, stable=stable), self)


@quick("partition_in_place")
def partition_in_place(self, kth, axis=-1, kind="introselect", order=None):
    """Partitions the elements along `axis`; see `partition`."""
    axis = one_axis("partition", axis, self.ndim)
    store("partition", partition(self, kth, axis, kind, order), self)
