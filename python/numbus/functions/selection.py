"""Elements chosen by masks and indices: where, select, clip, take, nonzero, put and their kin."""

import numpy

from .. import _core
from .._core import generic, ndarray
from ..core.errors import message, one_axis
from ..core.fallback import call
from ..core.host import on_host
from ..core.operands import (
    adopt,
    as_mask,
    dtype_of,
    operand,
    require_cast,
    store,
    to_ndarray,
    whole_numbers,
)
from ..core.operands import to_numpy as _to_numpy
from ..core.quick import FUSING, few, quick
from ..core.ufuncs import UFUNCS
from . import names as np
from .creation import ascontiguousarray, empty
from .manipulation import ravel
from .registry import Any, Array, OutUnsafe, function

__all__ = [
    "argwhere",
    "c_",
    "clip",
    "compress",
    "copyto",
    "flatnonzero",
    "nonzero",
    "place",
    "put",
    "put_along_axis",
    "putmask",
    "r_",
    "select",
    "take",
    "take_along_axis",
    "where",
]

_BOOL = numpy.dtype(bool)
_OF_UFUNCS = frozenset("where casting order dtype subok".split())


@quick("where")
def where(condition, x=None, y=None, /):
    """Elements of `x` where `condition` holds, of `y` elsewhere; the condition alone gives its
    indices.
    """
    if x is None and y is None:
        return nonzero(to_ndarray(condition))
    if x is None or y is None:
        raise ValueError(message("where", "one of x and y is missing", "one", "both or neither"))
    try:
        return _core.where(condition, x, y)
    except TypeError:
        # Operands that only NumPy can hold raise ForeignDtype here.
        return _core.where(operand(condition), operand(x), operand(y))


def select(condlist, choicelist, default=0):
    """For each element the choice of the first condition that holds there, else `default`."""
    if len(condlist) != len(choicelist):
        raise ValueError(
            message("select", "lengths differ", (len(condlist), len(choicelist)), "equal lengths")
        )
    if not condlist:
        raise ValueError(message("select", "no conditions", "an empty list", "at least one"))
    choices = [operand(x) for x in choicelist]
    dtype = numpy.result_type(*[_weak(x) for x in choices], _weak(operand(default)))
    conditions = [operand(x) for x in condlist]
    for condition in conditions:
        if dtype_of(condition) != _BOOL:
            raise TypeError(
                message("select", "condition is not boolean", dtype_of(condition), "bool")
            )
    result = operand(default)
    for condition, choice in zip(reversed(conditions), reversed(choices)):
        result = _core.where(condition, choice, result)
    return result if result.dtype == dtype else result.astype(dtype)


def _weak(x):
    return getattr(x, "dtype", x)


@quick("clip")
def clip(a, a_min=None, a_max=None, out=None, *, min=None, max=None, **kwargs):
    """`a` limited to [a_min, a_max], also called min and max; either limit may be None.

    kwargs: those of ufuncs.
    """
    if min is not None or max is not None:
        if a_min is not None or a_max is not None:
            raise ValueError(message("clip", "limits given twice", "a_min and min", "one pair"))
        a_min, a_max = min, max
    if not kwargs.keys() <= _OF_UFUNCS:
        return call("numpy.clip", numpy.clip, (a, a_min, a_max, out), kwargs)
    a = operand(a)
    kind = dtype_of(a).kind
    if kind in "iu":
        # A Python limit beyond the integer type limits nothing.
        info = numpy.iinfo(dtype_of(a))
        if type(a_min) is int and a_min <= info.min:
            a_min = None
        if type(a_max) is int and a_max >= info.max:
            a_max = None
    if a_min is None and a_max is None:
        return _copy(a, out) if kind == "b" else UFUNCS["positive"](a, out=out, **kwargs)
    if a_max is None:
        return UFUNCS["maximum"](a, operand(a_min), out=out, **kwargs)
    a_max = operand(a_max)
    if a_min is not None:
        a_min = operand(a_min)
        kinds = {x.dtype for x in (a, a_min, a_max) if hasattr(x, "dtype")}
        if len(kinds) > 1 and kwargs.get("dtype") is None:
            # The types of all three make that of the result; numbers are weak in it.
            kwargs["dtype"] = numpy.result_type(*[_weak(x) for x in (a, a_min, a_max)])
        first = {key: x for key, x in kwargs.items() if key != "where"}
        a = UFUNCS["maximum"](a, a_min, **first)
    return UFUNCS["minimum"](a, a_max, out=out, **kwargs)


def _copy(a, out):
    copied = to_ndarray(a).copy()
    return copied if out is None else store("clip", copied, out)


@quick("copyto")
@few(numpy.copyto, FUSING, writes=True)
def copyto(dst, src, casting="same_kind", where=True):
    """Copies `src`, broadcast, into `dst` (only where `where` holds). TypeError for an
    unsafe cast.
    """
    if not isinstance(dst, ndarray):
        if isinstance(dst, numpy.ndarray):
            return numpy.copyto(dst, _to_numpy(src), casting, _to_numpy(where))
        raise TypeError(message("copyto", "dst is no array", type(dst).__name__, "an ndarray"))
    src = operand(src)
    if type(src) in _KINDS and not _takes(dst.dtype, src, casting):
        expected = f"casting={casting!r}"
        raise TypeError(message("copyto", "cannot cast", f"{src} to {dst.dtype}", expected))
    other = type(src) in (ndarray, generic) and (casting != "same_kind" or src.dtype != dst.dtype)
    if other and not numpy.can_cast(src.dtype, dst.dtype, casting):
        raise TypeError(
            message("copyto", "cannot cast", f"{src.dtype} to {dst.dtype}", f"casting={casting!r}")
        )
    _core.copyto(dst, src, None if where is True else as_mask(where), casting)


_KINDS = {bool: "b", int: "iu", float: "f", complex: "c"}


def _takes(dtype, number, casting):
    """Whether elements of `dtype` become a number of Python's under the rule: of its kind, or one
    that holds it, they do; what an integer type cannot hold is an OverflowError elsewhere.
    """
    kinds = _KINDS[type(number)]
    if casting == "unsafe" or casting not in ("no", "equiv", "safe", "same_kind"):
        return True
    if kinds == "b" or casting == "equiv":
        return numpy.can_cast(numpy.asarray(number).dtype, dtype, casting)
    return "biufc".index(dtype.kind) >= "biufc".index(kinds[0])


@few(numpy.putmask, FUSING, writes=True)
def putmask(a, mask, values):
    """Sets `a.flat[i] = values[i % len(values)]` where the mask holds."""
    a, mask = to_ndarray(a), to_ndarray(mask)
    values = _values_for("putmask", a, values)
    if mask.size != a.size:
        raise ValueError(message("putmask", "mask of another size", mask.shape, a.shape))
    if not a.size:
        return
    if values.shape == a.shape or values.size == 1:
        value = values if values.size > 1 else values.reshape(())
        _core.copyto(a, value, mask.reshape(a.shape).astype(_BOOL))
        return
    if values.size:
        repeated = np.resize(values, a.size).reshape(a.shape)
        _core.copyto(a, repeated, mask.reshape(a.shape).astype(_BOOL))


def _values_for(op, a, values):
    """`values` in the type of `a`: arrays must be safe to cast, numbers become elements each."""
    if type(values) is generic:
        return values.astype(a.dtype)
    if not isinstance(values, (ndarray, numpy.ndarray)):
        return to_ndarray(numpy.asarray(values, a.dtype))
    if not numpy.can_cast(values.dtype, a.dtype, "safe"):
        raise TypeError(message(op, "cannot cast", f"{values.dtype} to {a.dtype}", "a safe cast"))
    return to_ndarray(values).astype(a.dtype)


@few(numpy.place, writes=True)
def place(arr, mask, vals):
    """Sets the elements where the mask holds to the values in order, repeated as needed.

    Raises ValueError for a mask of another size, and where there is something to set but no value.
    """
    if not isinstance(arr, ndarray):
        return call("numpy.place", numpy.place, (arr, mask, vals), {})
    if not arr.flags.writeable:
        raise ValueError(message("place", "read-only array", arr.shape, "one to write to"))
    vals = _values_for("place", arr, vals)
    if vals.size == 1:
        return putmask(arr, mask, vals)
    mask = to_ndarray(mask)
    if mask.size != arr.size:
        raise ValueError(message("place", "mask of another size", mask.shape, arr.shape))
    at = nonzero(mask.ravel())[0]
    if at.size and not vals.size:
        raise ValueError(message("place", "no values", "none", "at least one"))
    if at.size:
        _store_at(arr, at, np.resize(vals.ravel(), at.size))


def _store_at(a, at, values):
    """Stores values at indices into the flattened array; of those that meet the last one stays."""
    if a.flags.c_contiguous:
        a.reshape(-1)[at] = values
        return
    index = []
    for extent in reversed(a.shape):
        index.append(at % extent)
        at = at // extent
    a[tuple(reversed(index))] = values


@few(numpy.put, writes=True)
def put(a, ind, v, mode="raise"):
    """Sets `a.flat[ind[k]] = v[k % len(v)]`, cast to the type of `a`.

    mode: 'raise' for an IndexError out of range, 'wrap' or 'clip'. Negative indices count from
    the end.
    """
    if not isinstance(a, ndarray):
        return call("numpy.put", numpy.put, (a, ind, v, mode), {})
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(message("put", "unknown mode", repr(mode), "'raise', 'wrap' or 'clip'"))
    if not a.flags.writeable:
        raise ValueError(message("put", "read-only array", a.shape, "one to write to"))
    at, n = whole_numbers(ind).ravel(), a.size
    if at.dtype.kind not in "iub" and at.size:
        raise TypeError(message("put", "indices", at.dtype, "an integer type"))
    held = isinstance(v, (ndarray, numpy.ndarray, generic, numpy.generic))
    values = to_ndarray(v if held else numpy.asarray(v, a.dtype)).ravel().astype(a.dtype)
    if not at.size:
        return
    if not n:
        raise IndexError(message("put", "an array without elements", a.shape, "some"))
    if not values.size:
        return
    at = at.astype(numpy.int64)
    if mode == "wrap":
        at = at % n
    elif mode == "clip":
        at = clip(at, 0, n - 1)
    values = values if values.size == 1 else np.resize(values, at.size)
    if mode == "raise":
        wrong = nonzero((at < -n) | (at >= n))[0]
        at = _core.where(at < 0, at + n, at)
        if wrong.size:
            if a.flags.c_contiguous:  # what comes before it stays; elsewhere NumPy works on a copy
                first = int(wrong[0])
                _store_at(a, at[:first], values if values.size == 1 else values[:first])
            expected = f"-{n} to {n - 1}"
            raise IndexError(message("put", "an index out of range", "it", expected))
    _store_at(a, at, values)


@function("np.extract")
def extract(condition: Array, arr: Array):
    """The elements of the flattened `arr` where the flattened condition holds."""
    if condition.size == arr.size:
        return arr.ravel()[condition.ravel().astype(np.bool_)]
    found = np.flatnonzero(condition)
    count = found.shape[0]
    if count > 0 and found[count - 1] >= arr.size:
        raise IndexError(
            "[extract] condition holds beyond the end of the array; got it; expected none there"
        )
    return arr.ravel()[found]


@few(numpy.compress)
def compress(condition, a, axis=None, out=None):
    """The slices of `a` along `axis` (None: flattened) where the 1-D condition holds."""
    condition = numpy.asarray(condition)
    if axis is not None and not numpy.ndim(a) and axis in (0, -1):
        axis = None  # a number is one element
    if condition.ndim != 1:
        raise ValueError(message("compress", "condition", f"{condition.ndim}-d", "1-d"))
    return take(a, _core.from_numpy(numpy.flatnonzero(condition)), axis, out)


@quick("take")
@few(numpy.take, FUSING)
def take(a, indices, axis=None, out=None, mode="raise"):
    """The elements of `a` at `indices` along `axis` (None: flattened).

    mode: 'raise' for an IndexError out of range, 'wrap' or 'clip'. Negative indices count from
    the end.
    """
    a, indices = to_ndarray(a), whole_numbers(indices)
    if axis is None or (not a.ndim and axis in (0, -1)):
        a, axis = a.ravel(), 0
    axis = one_axis("take", axis, a.ndim)
    if indices.dtype.kind not in "iu":
        if indices.dtype.kind != "b" and indices.size:
            raise TypeError(message("take", "indices", indices.dtype, "an integer type"))
        indices = indices.astype(numpy.int64)
    if mode == "wrap":
        indices = indices % a.shape[axis]
    elif mode == "clip":
        indices = clip(indices, 0, a.shape[axis] - 1)
    elif mode != "raise":
        raise ValueError(message("take", "unknown mode", repr(mode), "'raise', 'wrap' or 'clip'"))
    if 0 in a.shape[:axis]:  # nothing is taken, and no index looked at
        result = empty(a.shape[:axis] + indices.shape + a.shape[axis + 1 :], a.dtype)
    else:
        result = a[(slice(None),) * axis + (indices,)]
    if out is None:
        # In C order, whatever the order of `a`.
        return ascontiguousarray(result) if getattr(result, "ndim", 0) > 1 else result
    # NumPy asks whether `out` could become the elements, not the other way round.
    require_cast("take", getattr(out, "dtype", a.dtype), a.dtype, "safe")
    return store("take", to_ndarray(result), out, "unsafe")


@function("np.choose", compiled=False, few=True)
def choose(a: Array, choices: Any, out: OutUnsafe = None, mode: Any = "raise"):
    """For each element the choice that `a` names by its number, all broadcast.

    mode: 'raise' (ValueError for numbers out of range), 'wrap' or 'clip'.
    """
    if a.dtype.kind not in "iub" or a.dtype == numpy.uint64:
        raise TypeError(message("choose", "indices", a.dtype, "integers that int64 holds"))
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(message("choose", "unknown mode", repr(mode), "'raise', 'wrap' or 'clip'"))
    each = [to_ndarray(x) for x in choices]
    if not each:
        raise ValueError(message("choose", "no choices", 0, "at least one"))
    n, number = len(each), a.astype(numpy.int64)
    if mode == "wrap":
        number = number % n
    elif mode == "clip":
        number = clip(number, 0, n - 1)
    elif bool(((number < 0) | (number >= n)).any()):
        raise ValueError(message("choose", "a number out of range", "it", f"0 to {n - 1}"))
    shape = numpy.broadcast_shapes(a.shape, *[x.shape for x in each])
    dtype = numpy.result_type(*[x.dtype for x in each])
    result = _core.broadcast_to(each[0].astype(dtype), shape)
    for k in range(1, n):
        result = _core.where(number == k, each[k].astype(dtype), result)
    return result if n > 1 else result.copy()


def take_along_axis(arr, indices, axis=-1):
    """Elements of `arr` by an index array that matches it in all axes but one."""
    arr, indices = to_ndarray(arr), to_ndarray(indices)
    if axis is None:
        arr, axis = arr.ravel(), 0
    return arr[_along_index(arr, indices, one_axis("take_along_axis", axis, arr.ndim))]


def put_along_axis(arr, indices, values, axis):
    """Puts values into `arr` by an index array that matches it in all axes but one."""
    indices = to_ndarray(indices)
    if axis is None:
        if indices.ndim != 1:
            raise ValueError(message("put_along_axis", "indices", f"{indices.ndim} axes", "one"))
        if not arr.flags.c_contiguous or not arr.flags.writeable:
            raise ValueError(message("put_along_axis", "layout", arr.strides, "C order, writeable"))
        arr.reshape(-1)[indices] = values
        return
    arr[_along_index(arr, indices, one_axis("put_along_axis", axis, arr.ndim))] = values


def _along_index(arr, indices, axis):
    if indices.ndim != arr.ndim:
        raise ValueError(
            message("take_along_axis", "dimensions differ", (indices.ndim, arr.ndim), "equal")
        )
    positions = []
    for i, extent in enumerate(arr.shape):
        shape = (1,) * i + (-1 if extent else 0,) + (1,) * (arr.ndim - 1 - i)
        full = _core.arange(0, 1, extent, numpy.dtype(numpy.int64))
        positions.append(indices if i == axis else full.reshape(shape))
    return tuple(positions)


def _nonzero_on_device(a):
    """Columns of one table, as NumPy hands them out: each axis's index where the mask holds."""
    mask = a != 0
    columns = []
    for axis, extent in enumerate(a.shape):
        index = _core.arange(0, 1, extent, numpy.dtype(numpy.int64))
        shape = (1,) * axis + (extent,) + (1,) * (a.ndim - 1 - axis)
        columns.append(_core.broadcast_to(index.reshape(shape), a.shape)[mask])
    table = _core.empty((columns[0].size, a.ndim), numpy.dtype(numpy.int64))
    for axis, column in enumerate(columns):
        table[:, axis] = column
    return tuple([table[:, axis] for axis in range(a.ndim)])


_LONG = 4096  # elements from which on the routine finds them sooner than NumPy does


@quick("nonzero")
@few(numpy.nonzero)
def nonzero(a):
    """A tuple of int64 arrays: the indices of the elements that are not zero, one
    array per axis.
    """
    a = to_ndarray(a)
    if a.ndim == 0:
        raise ValueError(message("nonzero", "a 0-d array has no indices", "0-d", "atleast_1d(a)"))
    if a.ndim == 1 and (a.size >= _LONG or not on_host(a)):
        return (_core.flatnonzero(a if a.dtype.kind == "b" else a != 0),)
    if not on_host(a):
        return _nonzero_on_device(a)
    found = numpy.nonzero(numpy.asarray(a))
    if found[0].base is None:
        return tuple([adopt(x) for x in found])
    # NumPy hands out the columns of one table.
    table = adopt(found[0].base.reshape(-1, a.ndim))
    return tuple([table[:, axis] for axis in range(a.ndim)])


@quick("flatnonzero")
def flatnonzero(a):
    """The indices of the elements of the flattened `a` that are not zero."""
    return nonzero(ravel(a))[0]


@few(numpy.argwhere)
def argwhere(a):
    """(count, ndim) array of the indices of the elements that are not zero."""
    a = to_ndarray(a)
    if on_host(a) or a.ndim == 0:
        return adopt(numpy.argwhere(numpy.asarray(a)))
    found = _nonzero_on_device(a)
    rows = _core.empty((a.ndim, found[0].size), found[0].dtype)
    for axis, column in enumerate(found):
        rows[axis] = column
    return rows.T


class _Rows:
    """r_ and c_: arrays, numbers and slices in square brackets joined to one array."""

    def __init__(self, name, columns):
        self._name, self._columns = name, columns

    @_core.composed
    def __getitem__(self, key):
        from .joining import concatenate
        from .ranges import arange, linspace

        keys = key if isinstance(key, tuple) else (key,)
        if isinstance(keys[0], str):
            return call(f"numpy.{self._name}", numpy.r_.__getitem__, (keys,), {})
        parts, weak = [], []
        for item in keys:
            if isinstance(item, slice):
                step = item.step
                if isinstance(step, complex):
                    part = linspace(item.start or 0, item.stop, int(abs(step)))
                else:
                    part = arange(item.start or 0, item.stop, 1 if step is None else step)
            else:
                part = to_ndarray(item)
                if type(item) in (bool, int, float, complex):
                    weak.append(item)
            if self._columns:
                part = part.reshape((part.size, 1)) if part.ndim < 2 else part
            parts.append(part if part.ndim else part.reshape((1,)))
        strong = [
            p.dtype for p, i in zip(parts, keys) if type(i) not in (bool, int, float, complex)
        ]
        return concatenate(
            parts,
            -1 if self._columns else 0,
            dtype=numpy.result_type(*strong, *weak),
            casting="unsafe",
        )

    def __len__(self):
        return 0


r_ = _Rows("r_", False)
c_ = _Rows("c_", True)
