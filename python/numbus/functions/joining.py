"""Arrays put together and taken apart: concatenate, stack, split."""

import itertools
import operator

from .. import _core
from .._core import ndarray
from ..core import dtypes, routines
from ..core.errors import message, no_flags, one_axis
from ..core.given import host_array
from ..core.operands import as_dtype, store, to_ndarray
from ..core.quick import quick
from . import names as np
from .axes import distinct, require_axes
from .manipulation import _three_axes
from .names import compiled as _compiled
from .names import not_yet
from .registry import Any, Array, Axis, DTypeArg, OutJoined, function

__all__ = [
    "block",
]


def _along(axis, ndim, item):
    """An index that applies `item` to one axis."""
    return (slice(None),) * axis + (item,) + (slice(None),) * (ndim - 1 - axis)


@function("np.concatenate", "np.concat")
@quick("concatenate")
def concatenate(
    arrays: Any,
    /,
    axis: Any = 0,
    out: OutJoined = None,
    *,
    dtype: Any = None,
    casting: Any = "same_kind",
):
    """The arrays joined along an existing axis (None: flattened first).

    All other extents must agree (ValueError). dtype: of the result, promoted from the arrays by
    default.
    """
    if _compiled:
        return _joined_in_function(arrays, axis, dtype, casting)
    if type(arrays) is not ndarray and not hasattr(arrays, "__len__"):
        raise TypeError(
            message("concatenate", "not a sequence", type(arrays).__name__, "a sequence of arrays")
        )
    parts = [to_ndarray(a) for a in arrays]
    if not parts:
        raise ValueError(message("concatenate", "no arrays", "an empty sequence", "at least one"))
    if axis is None:
        parts = _of_weak(arrays, parts)
        parts, axis = [a.ravel() for a in parts], 0
    if parts[0].ndim == 0:
        raise ValueError(
            message("concatenate", "0-d arrays cannot be joined", "0-d", "1-d or more")
        )
    axis = one_axis("concatenate", no_flags("concatenate", axis), parts[0].ndim)
    return _join("concatenate", parts, axis, False, out, dtype, casting)


def _of_weak(arrays, parts):
    """The parts of what is joined flat, where the numbers of Python take the type of the others."""
    numbers = [type(x) in (int, float, complex) for x in arrays]
    if not any(numbers):
        return parts
    both = list(zip(arrays, parts, numbers))
    dtype = dtypes.result_type(*[x if number else part.dtype for x, part, number in both])
    return [to_ndarray(host_array(x, dtype)) if number else part for x, part, number in both]


def _join(op, parts, axis, new_axis, out, dtype, casting):
    if dtype is not None:
        if out is not None:
            raise TypeError(message(op, "both out and dtype", dtype, "one of them"))
        dtype = as_dtype(op, dtype)
    if out is not None and type(out) is not ndarray:
        return store(op, _core.concatenate(parts, axis, new_axis, dtype, casting, None), out)
    return _core.concatenate(parts, axis, new_axis, dtype, casting, out)


def _joined_in_function(arrays, axis, dtype, casting):
    """concatenate() of a tuple in compiled functions."""
    if not isinstance(arrays, (tuple, list)):
        not_yet("np.concatenate() of what is no tuple", "a tuple of arrays, or reshape()")
    if not np.is_known(len(arrays)):
        return _joined_of_list(arrays, axis, dtype, casting)
    if axis is None:
        parts = tuple([np.asarray(a).ravel() for a in arrays])
        return routines.join(parts, 0, _common_type(arrays, parts, dtype, casting))
    parts = tuple([np.asarray(a) for a in arrays])
    if parts[0].ndim == 0:
        raise ValueError("[concatenate] 0-d arrays cannot be joined; got 0-d; expected 1-d or more")
    along = distinct("concatenate", axis, parts[0].ndim)[0]
    return routines.join(parts, along, _common_type(arrays, parts, dtype, casting))


def _joined_of_list(arrays, axis, dtype, casting):
    """concatenate() of a list of run time, whose arrays have one type and number of axes."""
    if len(arrays) == 0:
        raise ValueError("[concatenate] no arrays; got an empty sequence; expected at least one")
    if axis is None:
        return _joined_of_list([np.asarray(a).ravel() for a in arrays], 0, dtype, casting)
    first = np.asarray(arrays[0])
    if first.ndim == 0:
        raise ValueError("[concatenate] 0-d arrays cannot be joined; got 0-d; expected 1-d or more")
    along = distinct("concatenate", axis, first.ndim)[0]
    total = 0
    for item in arrays:
        part = np.asarray(item)
        total += part.shape[along]
        if (
            part.shape[:along] != first.shape[:along]
            or part.shape[along + 1 :] != first.shape[along + 1 :]
        ):
            raise ValueError("[concatenate] extents differ; got other ones; expected equal extents")
    into = _common_type((first,), (first,), dtype, casting)
    out = np.empty((*first.shape[:along], total, *first.shape[along + 1 :]), into)
    at = 0
    for item in arrays:
        part = np.asarray(item)
        end = at + part.shape[along]
        out[_along(along, first.ndim, slice(at, end))] = part
        at = end
    return out


def _stacked_of_list(arrays, axis, dtype, casting):
    """stack() of a list of run time: the axis is looked at first, as no part has a type without."""
    if len(arrays) == 0:
        raise ValueError("[stack] no arrays; got an empty sequence; expected at least one")
    first = np.asarray(arrays[0])
    along = distinct("stack", axis, first.ndim + 1)[0]
    for a in arrays:
        if np.asarray(a).shape != first.shape:
            raise ValueError("[stack] shapes; got different ones; expected equal ones")
    parts = [np.expand_dims(np.asarray(a), along) for a in arrays]
    return _joined_of_list(parts, along, dtype, casting)


def _common_type(arrays, parts, dtype, casting):
    """The type of the result; those of Python's numbers yield to the others'."""
    typed = tuple([a if np.isscalar(a) else np.asarray(a) for a in arrays])
    into = np.result_type(*typed) if dtype is None else dtype
    if dtype is None and casting == "same_kind":
        return into
    if casting not in ("no", "equiv", "safe", "same_kind", "unsafe"):
        raise ValueError(
            "[concatenate] casting; got an unknown rule; expected 'no', 'equiv', 'safe', "
            "'same_kind' or 'unsafe'"
        )
    for part in parts:
        if not np.can_cast(part.dtype, into, casting):
            raise TypeError(f"[concatenate] cannot cast; got other types; expected {casting}")
    return into


@function("np.stack")
@quick("stack")
def stack(
    arrays: Any,
    axis: Any = 0,
    out: OutJoined = None,
    *,
    dtype: Any = None,
    casting: Any = "same_kind",
):
    """Arrays of one shape joined along a new axis."""
    if _compiled:
        if not isinstance(arrays, (tuple, list)):
            not_yet("np.stack() of what is no tuple", "a tuple of arrays")
        if not np.is_known(len(arrays)):
            return _stacked_of_list(arrays, axis, dtype, casting)
        parts = _each(lambda a: np.expand_dims(np.asarray(a), axis), arrays)
        if len(parts) == 0:
            raise ValueError("[stack] no arrays; got an empty sequence; expected at least one")
        for part in parts:
            if part.shape != parts[0].shape:
                raise ValueError("[stack] shapes; got different ones; expected equal ones")
        return _joined_in_function(parts, axis, dtype, casting)
    parts = [to_ndarray(a) for a in arrays]
    if not parts:
        raise ValueError(message("stack", "no arrays", "an empty sequence", "at least one"))
    axis = one_axis("stack", axis, parts[0].ndim + 1)
    return _join("stack", parts, axis, True, out, dtype, casting)


@function("np.vstack", "np.row_stack")
@quick("vstack")
def vstack(tup: Any, *, dtype: DTypeArg = None, casting: Any = "same_kind"):
    """Arrays joined row-wise; 1-D arrays count as rows."""
    parts = _each(np.atleast_2d, tup)
    return _joined("vstack", parts, 0, dtype, casting)


def _each(f, arrays):
    """What a function gives for each of the arrays; in compiled functions a list of run time stays
    one.
    """
    if _compiled and not np.is_known(len(arrays)):
        return [f(a) for a in arrays]
    return tuple([f(a) for a in arrays])


def _joined(op, parts, axis, dtype, casting):
    if len(parts) == 0:
        raise ValueError(f"[{op}] no arrays; got an empty sequence; expected at least one")
    return np.concatenate(parts, axis, dtype=dtype, casting=casting)


@function("np.hstack")
@quick("hstack")
def hstack(tup: Any, *, dtype: DTypeArg = None, casting: Any = "same_kind"):
    """Arrays joined along the second axis (the first for 1-D arrays)."""
    parts = _each(np.atleast_1d, tup)
    if len(parts) == 0:
        raise ValueError("[hstack] no arrays; got an empty sequence; expected at least one")
    return _joined("hstack", parts, 0 if parts[0].ndim == 1 else 1, dtype, casting)


@function("np.dstack")
def dstack(tup: Any):
    """Arrays joined along the third axis."""
    return np.concatenate(_each(lambda a: _three_axes(np.asarray(a)), tup), 2)


@function("np.column_stack")
@quick("column_stack")
def column_stack(tup: Any):
    """1-D arrays as the columns of a 2-D array; 2-D arrays are joined along the second axis."""
    parts = _each(lambda a: _column(np.asarray(a)), tup)
    return _joined("column_stack", parts, 1, None, "same_kind")


def _column(a):
    return a if a.ndim > 1 else a.ravel()[:, None]


def block(arrays):
    """Arrays joined from nested lists: innermost lists along the last axis, and so outwards.

    ValueError for empty lists, and for arrays that lie at different depths.
    """

    def depth_of(x):
        if not isinstance(x, list) or not x:
            return 0
        depths = set(map(depth_of, x))
        if len(depths) > 1:
            raise ValueError(message("block", "depths of lists", sorted(depths), "one depth"))
        return 1 + depths.pop()

    depth = depth_of(arrays)

    def leaves(x):
        return itertools.chain.from_iterable(map(leaves, x)) if isinstance(x, list) else (x,)

    ndim = max([depth] + [to_ndarray(a).ndim for a in leaves(arrays)])

    def build(x, level):
        if not isinstance(x, list):
            a = to_ndarray(x)
            return a.reshape((1,) * (ndim - a.ndim) + a.shape)
        if not x:
            raise ValueError(message("block", "empty list", "[]", "at least one array"))
        return concatenate([build(item, level + 1) for item in x], ndim - depth + level)

    result = build(arrays, 0)
    return result if isinstance(arrays, list) else result.copy()


@function("np.append", few=True)
@quick("append")
def append(arr: Array, values: Array, axis: Axis | None = None):
    """`values` joined to the end of `arr` along `axis`; None flattens both."""
    if axis is None:
        return np.concatenate((arr.ravel(), values.ravel()))
    return np.concatenate((arr, values), axis)


@function("np.array_split")
def array_split(ary: Array, indices_or_sections: Any, axis: Axis = 0):
    """A list of views: parts of almost equal size, or the parts between the given indices."""
    n = ary.shape[axis]
    if _has_parts(indices_or_sections):
        at = _indices(indices_or_sections)
        return [
            ary[_along(axis, ary.ndim, slice(at[k - 1] if k else 0, at[k] if k < len(at) else n))]
            for k in range(len(at) + 1)
        ]
    count = int(indices_or_sections)
    if count <= 0:
        raise ValueError(f"[split] number of sections; got {count}; expected more than 0")
    size, more = n // count, n % count
    return [
        ary[
            _along(
                axis,
                ary.ndim,
                slice(k * size + min(k, more), (k + 1) * size + min(k + 1, more)),
            )
        ]
        for k in range(count)
    ]


def _has_parts(x):
    return isinstance(x, (tuple, list)) or np.ndim(x) > 0


def _indices(x):
    return x if _compiled else tuple([operator.index(i) for i in x])


@function("np.split")
def split(ary: Array, indices_or_sections: Any, axis: Axis = 0):
    """A list of views as `array_split` gives; a number of sections must divide the extent
    (ValueError).
    """
    if not _has_parts(indices_or_sections):
        n = ary.shape[axis]
        if indices_or_sections <= 0 or n % indices_or_sections:
            raise ValueError(
                f"[split] no equal division; got {n} / {indices_or_sections}; expected a divisor"
            )
    return np.array_split(ary, indices_or_sections, axis)


@function("np.hsplit")
def hsplit(ary: Array, indices_or_sections: Any):
    """Split along the second axis (the first for 1-D arrays)."""
    require_axes("hsplit", ary, 1)
    return np.split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


@function("np.vsplit")
def vsplit(ary: Array, indices_or_sections: Any):
    """Split along the first axis."""
    require_axes("vsplit", ary, 2)
    return np.split(ary, indices_or_sections, 0)


@function("np.dsplit")
def dsplit(ary: Array, indices_or_sections: Any):
    """Split along the third axis."""
    require_axes("dsplit", ary, 3)
    return np.split(ary, indices_or_sections, 2 if ary.ndim > 2 else 0)


@function("np.unstack")
def unstack(x: Array, /, *, axis: Axis = 0):
    """A tuple of views, in compiled functions a list: the parts of `x` along `axis`, without it."""
    if _compiled:
        return [x[_along(axis, x.ndim, k)] for k in range(x.shape[axis])]
    return tuple([x[_along(axis, x.ndim, k) + (Ellipsis,)] for k in range(x.shape[axis])])
