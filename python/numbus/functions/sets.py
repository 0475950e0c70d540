"""Sets of values: unique ones, and what two arrays have in common or not."""

import math

import numpy

from ..core import routines
from ..core.dtypes import kind_of
from ..core.errors import one_axis
from . import names as np
from .names import compiled as _compiled
from .names import not_yet
from .registry import Any, Array, Choice, Flag, function

__all__ = []

# NumPy's classes of named tuples.
_All, _Counts, _Inverse = (
    type(getattr(numpy, f"unique_{name}")([0])) for name in ("all", "counts", "inverse")
)
_SHORT = 256  # up to here sorting takes less time than counting does to begin
_FEW = 1 << 20  # so many counts of integers fit into caches


@function("np.unique")
def unique(
    ar: Array,
    return_index: Flag = False,
    return_inverse: Flag = False,
    return_counts: Flag = False,
    axis: Any = None,
    *,
    equal_nan: Flag = True,
    sorted: Flag = True,
):
    """The values of `ar` once each, in order; with more results a tuple of them.

    return_index: where each is first, in the flattened array. return_inverse: the index among the
    unique values of each element, in the shape of `ar`. return_counts: how often each occurs. axis:
    slices along it take the place of elements. equal_nan: NaNs are one value. sorted: the values
    are in order anyway. Raises AxisError for an axis out of bounds; compiled functions take none.
    """
    if axis is not None:
        if _compiled:
            not_yet("np.unique() with axis=")
        return _unique_slices(ar, axis, return_index, return_inverse, return_counts, equal_nan)
    found = _unique(ar.ravel(), return_index, return_inverse, return_counts, equal_nan)
    if return_inverse:
        k = 2 if return_index else 1
        found = found[:k] + (found[k].reshape(ar.shape),) + found[k + 1 :]
    return found if len(found) > 1 else found[0]


def _unique(flat, index, inverse, counts, equal_nan):
    """The results asked for, a tuple, of a line."""
    if not _compiled and not index and flat.dtype.kind in "iub" and flat.size > _SHORT:
        found = _counted(flat, inverse, counts)
        if found is not None:
            return found
    if index or inverse:
        order = np.argsort(flat, kind="stable")
        ordered = flat[order]
    else:
        ordered, order = np.sort(flat), None
    first = _firsts(ordered, equal_nan)
    result = (ordered[first],)
    if index:
        result = result + (order[first],)
    if inverse:
        result = result + (_inverse(order, first),)
    if counts:
        result = result + (_lengths(first),)
    return result


def _counted(flat, inverse, counts):
    """The result for integers of a small range, by counting each value of it; None: it is large."""
    low, high = _range(flat)
    if high - low >= min(_FEW, flat.size):
        return None
    above = _above(flat, low)
    often = routines.bincount(above, high - low + 1)
    present = np.flatnonzero(often)
    if flat.dtype.kind == "b":
        values = (present + low).astype(np.bool_)
    else:  # modulo 2 ** bits, as they were subtracted
        values = present.astype(flat.dtype) + flat.dtype.type(low)
    result = (values,)
    if inverse:
        result += ((np.cumsum(often > 0) - 1)[above],)
    return (*result, often[present]) if counts else result


def _range(flat):
    low, high = flat.min(), flat.max()
    return int(low), int(high)


def _above(flat, low):
    """How far integers are above the least of them, in the unsigned dtype of their width."""
    if flat.dtype.kind == "b":
        return flat.astype(np.uint8) - np.uint8(low)
    unsigned = numpy.dtype(f"u{flat.dtype.itemsize}")
    return flat.view(unsigned) - unsigned.type(low % (1 << 8 * unsigned.itemsize))


def _firsts(ordered, equal_nan):
    """Where the first of equal elements is, of elements in order."""
    first = np.ones(ordered.shape, np.bool_)
    after, before = ordered[1:], ordered[:-1]
    if equal_nan and kind_of(ordered.dtype) in "fc":
        first[1:] = np.logical_and(after != before, np.logical_or(before == before, after == after))
    else:
        first[1:] = after != before
    return first


def _inverse(order, first):
    inverse = np.empty(order.shape, np.int64)
    inverse[order] = np.cumsum(first) - 1
    return inverse


def _lengths(first):
    """How long the runs are that begin where `first` holds."""
    starts = np.flatnonzero(first)
    ends = np.empty(starts.shape, np.int64)
    ends[:-1] = starts[1:]
    ends[-1:] = first.size
    return ends - starts


def _unique_slices(ar, axis, index, inverse, counts, equal_nan):
    if isinstance(axis, tuple) and len(axis) != 1:
        raise ValueError("[unique] axis; got several; expected one")
    axis = one_axis("unique", axis, ar.ndim)
    if ar.ndim == 1:
        found = _unique(ar, index, inverse, counts, equal_nan)
        return found if len(found) > 1 else found[0]
    moved = np.moveaxis(ar, axis, 0)
    rows = moved.reshape((moved.shape[0], math.prod(moved.shape[1:])))
    columns = [rows[:, k] for k in range(rows.shape[1] - 1, -1, -1)]
    order = np.lexsort(columns) if columns else np.arange(rows.shape[0])
    ordered = rows[order]
    first = np.ones(order.shape, np.bool_)
    first[1:] = np.any(ordered[1:] != ordered[:-1], 1)
    values = ordered[first]
    values = np.moveaxis(values.reshape((values.shape[0], *moved.shape[1:])), 0, axis)
    result = (values,)
    if index:
        result += (order[first],)
    if inverse:
        result += (_inverse(order, first),)
    if counts:
        result += (_lengths(first),)
    return result if len(result) > 1 else values


@function("np.unique_values")
def unique_values(x: Array, /):
    """The values of `x` once each, in order; of NaN all."""
    return _unique(x.ravel(), False, False, False, False)[0]


@function("np.unique_counts")
def unique_counts(x: Array, /):
    """A named tuple: the values of `x` once each (of NaN all), and how often each occurs."""
    return _Counts(*_unique(x.ravel(), False, False, True, False))


@function("np.unique_inverse")
def unique_inverse(x: Array, /):
    """A named tuple: the values of `x` once each (of NaN all), and the index among them of each
    element, in the shape of `x`.
    """
    values, inverse = _unique(x.ravel(), False, True, False, False)
    return _Inverse(values, inverse.reshape(x.shape))


@function("np.unique_all")
def unique_all(x: Array, /):
    """A named tuple: the values of `x` once each (of NaN all), where each is first, the index among
    them of each element, in the shape of `x`, and how often each occurs.
    """
    values, index, inverse, counts = _unique(x.ravel(), True, True, True, False)
    return _All(values, index, inverse.reshape(x.shape), counts)


# Two arrays.


@function("np.union1d", few=True)
def union1d(ar1: Array, ar2: Array):
    """The values that are in either array, once each and in order."""
    return _unique(_joined(ar1, ar2), False, False, False, True)[0]


def _joined(x, y):
    t = np.result_type(x.dtype, y.dtype)
    return np.concatenate((_cast(x.ravel(), t), _cast(y.ravel(), t)))


@function("np.intersect1d", few=True)
def intersect1d(ar1: Array, ar2: Array, assume_unique: Flag = False, return_indices: Flag = False):
    """The values that are in both arrays, once each and in order.

    assume_unique: in neither a value occurs twice. return_indices: a tuple with where each is first
    in both flattened arrays.
    """
    if return_indices:
        return _common_indices(ar1.ravel(), ar2.ravel(), assume_unique)
    t = np.result_type(ar1.dtype, ar2.dtype)
    if kind_of(t) in "fc" and (_is_wide(ar1.dtype) or _is_wide(ar2.dtype)):
        # Integers that the common type rounds to one number are equal in NumPy, too.
        return _common(*_distinct(ar1, ar2, assume_unique))[0]
    x = np.sort(ar1.ravel()) if assume_unique else _only(ar1)
    return x.astype(t)[_is_in(x, ar2.ravel())]


def _is_wide(dtype):
    return dtype.kind in "iu" and dtype.itemsize == 8


def _distinct(x, y, assume_unique):
    if assume_unique:
        return x.ravel(), y.ravel()
    return _only(x), _only(y)


def _only(x):
    return _unique(x.ravel(), False, False, False, True)[0]


def _common_indices(x, y, assume_unique):
    if assume_unique:
        return _common(x, y)
    xs, first = _unique(x, True, False, False, True)
    ys, second = _unique(y, True, False, False, True)
    values, k, m = _common(xs, ys)
    return values, first[k], second[m]


def _common(x, y):
    """The values in both of two lines without equal elements, and where they are in each."""
    both = _joined(x, y)
    order = np.argsort(both, kind="stable")
    both = both[order]
    equal = both[1:] == both[:-1]
    return both[:-1][equal], order[:-1][equal], order[1:][equal] - x.shape[0]


@function("np.setxor1d", few=True)
def setxor1d(ar1: Array, ar2: Array, assume_unique: Flag = False):
    """The values that are in just one of the arrays, in order."""
    x, y = _distinct(ar1, ar2, assume_unique)
    both = np.sort(_joined(x, y))
    edges = np.ones(both.shape[0] + 1, np.bool_)
    edges[1:-1] = both[1:] != both[:-1]
    return both[np.logical_and(edges[1:], edges[:-1])]


@function("np.setdiff1d")
def setdiff1d(ar1: Array, ar2: Array, assume_unique: Flag = False):
    """The values that are in the first array only: once each and in order, or, with assume_unique,
    those elements of it as they are.
    """
    x = ar1.ravel() if assume_unique else _only(ar1)
    return x[np.logical_not(_is_in(x, ar2.ravel()))]


@function("np.isin")
def isin(
    element: Array,
    test_elements: Array,
    assume_unique: Flag = False,
    invert: Flag = False,
    *,
    kind: Choice("sort", "table") = None,
):
    """Whether each element is among `test_elements` (or not, with `invert`), in the shape of
    `element`. NaN is among none.

    assume_unique, kind: how NumPy finds out; the result is the same. Raises ValueError for a table
    of other than integers.
    """
    if kind is not None and kind == "table":
        _check_integers(element)
        _check_integers(test_elements)
    found = _is_in(element.ravel(), test_elements.ravel()).reshape(element.shape)
    return np.logical_not(found) if invert else found


def _check_integers(a):
    if a.dtype.kind not in "iub":
        raise ValueError("[isin] a table; got numbers that are no integers; expected integers")


def _is_in(x, among):
    n = among.shape[0]
    if n == 0:
        return np.zeros(x.shape, np.bool_)
    t = np.result_type(x.dtype, among.dtype)
    values, given = _cast(x, t), _cast(among, t)
    if not _compiled and t.kind in "iub" and n + x.shape[0] > _SHORT:
        low, high = _range(given)
        if high - low <= 6 * (n + x.shape[0]):
            return _in_table(values, given, low, high)
    ordered = np.sort(given)
    at = np.minimum(np.searchsorted(ordered, values), n - 1)
    return ordered[at] == values


def _cast(x, dtype):
    return x if x.dtype == dtype else x.astype(dtype)


def _in_table(values, given, low, high):
    """By a table of what is given, integers from low to high."""
    there = routines.bincount(_above(given, low), high - low + 1) > 0
    inside = np.logical_and(values >= low, values <= high)
    at = np.where(inside, _above(values, low), 0).astype(np.int64)
    return np.logical_and(inside, there[at])
