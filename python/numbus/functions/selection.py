"""Elements chosen by masks and indices: where, select, clip, take, nonzero, put and their kin."""

import numpy

from .. import _core
from .._core import generic, ndarray
from ..core import dtypes, routines
from ..core.dtypes import kind_of
from ..core.errors import message, one_axis
from ..core.given import host_array
from ..core.host import on_host
from ..core.operands import (
    adopt,
    as_mask,
    dtype_of,
    foreign,
    on_its_memory,
    operand,
    to_ndarray,
    whole_numbers,
)
from ..core.operands import to_numpy as _to_numpy
from ..core.quick import FUSING, few, quick
from ..core.ufuncs import UFUNCS, cast_all, types_of
from . import names as np
from .axes import distinct, product, require_axes
from .joining import _along
from .names import compiled as _compiled
from .names import not_yet
from .positions import _along_each
from .registry import (
    Any,
    Array,
    Axis,
    AxisOrNumber,
    Choice,
    Flat,
    OutReversed,
    OutUnsafe,
    function,
)

__all__ = [
    "c_",
    "clip",
    "r_",
]

_BOOL = numpy.dtype(bool)
_OF_UFUNCS = frozenset("where casting order dtype subok".split())


@function("np.where")
@quick("where")
def where(condition: Any, x: Any = None, y: Any = None, /):
    """Elements of `x` where `condition` holds, of `y` elsewhere; the condition alone gives its
    indices. Raises ValueError for one of them alone.
    """
    if x is None and y is None:
        return np.nonzero(np.asarray(condition))
    if x is None or y is None:
        raise ValueError("[where] one of x and y is missing; got one; expected both or neither")
    if _compiled:
        return np.where(condition, x, y)
    try:
        return _core.where(condition, x, y)
    except TypeError:
        # Operands that only NumPy can hold raise ForeignDtype here.
        return _core.where(operand(condition), operand(x), operand(y))


@function("np.select")
def select(condlist: Any, choicelist: Any, default: Any = 0):
    """For each element the choice of the first condition that holds there, else `default`.

    ValueError for lists of different lengths and for none, TypeError for conditions that are not
    boolean.
    """
    if len(condlist) != len(choicelist):
        raise ValueError("[select] lengths differ; got other ones; expected equal lengths")
    if len(condlist) == 0:
        raise ValueError("[select] no conditions; got an empty list; expected at least one")
    if _compiled:
        dtype = np.result_type(*choicelist, default)
        last = dtype.type(default) if np.ndim(default) == 0 else default
        return _first_choice(condlist, choicelist, last)
    conditions = [np.asarray(x) for x in condlist]
    for condition in conditions:
        if condition.dtype != np.bool_:
            raise TypeError(message("select", "condition is not boolean", condition.dtype, "bool"))
    # Numbers are weak in the type of the result, and then of that type.
    choices = [x if type(x) in (int, float, complex) else np.asarray(x) for x in choicelist]
    last = default if type(default) in (int, float, complex) else np.asarray(default)
    dtype = np.result_type(*[getattr(x, "dtype", x) for x in (*choices, last)])
    choices = [np.asarray(x).astype(dtype, copy=False) for x in choices]
    return _first_choice(conditions, choices, np.asarray(last).astype(dtype, copy=False))


def _first_choice(conditions, choices, default):
    if _compiled and np.result_type(conditions[0]).kind != "b":
        raise TypeError("[select] condition is not boolean; got another type; expected bool")
    if len(conditions) == 1:
        return np.where(conditions[0], choices[0], default)
    rest = _first_choice(conditions[1:], choices[1:], default)
    return np.where(conditions[0], choices[0], rest)


def _weak(x):
    return getattr(x, "dtype", x)


def _clip_by_signature(a, a_min, a_max, out, kwargs):
    """clip() as the ufunc of its limits is called with a signature."""
    signature = kwargs.pop("signature", None) or kwargs.pop("sig", None)
    given = [operand(x) for x in (a, a_min, a_max) if x is not None]
    if len(given) == 3:
        real = numpy._core.umath.clip
    elif len(given) == 2:
        real = numpy.minimum if a_min is None else numpy.maximum
    else:
        real = numpy.positive
    types = types_of("clip", real, signature, kwargs, given)
    given = iter(cast_all(given, types))
    cast = [None if x is None else next(given) for x in (a, a_min, a_max)]
    return clip(*cast, out, **kwargs)


@quick("clip")
def clip(a, a_min=None, a_max=None, out=None, *, min=None, max=None, **kwargs):
    """`a` limited to [a_min, a_max], also called min and max; either limit may be None.

    kwargs: those of ufuncs.
    """
    if min is not None or max is not None:
        if a_min is not None or a_max is not None:
            raise ValueError(message("clip", "limits given twice", "a_min and min", "one pair"))
        a_min, a_max = min, max
    if "signature" in kwargs or "sig" in kwargs:
        return _clip_by_signature(a, a_min, a_max, out, kwargs)
    if not kwargs.keys() <= _OF_UFUNCS:
        found = ", ".join(kwargs.keys() - _OF_UFUNCS)
        raise TypeError(message("clip", "unexpected keyword argument", found, "one of a ufunc's"))
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
        if kind == "b":
            return UFUNCS["bitwise_or"](a, a, out=out, **kwargs)
        return UFUNCS["positive"](a, out=out, **kwargs)
    if a_max is None:
        return UFUNCS["maximum"](a, operand(a_min), out=out, **kwargs)
    a_max = operand(a_max)
    if a_min is not None:
        a_min = operand(a_min)
        kinds = {x.dtype for x in (a, a_min, a_max) if hasattr(x, "dtype")}
        if len(kinds) > 1 and kwargs.get("dtype") is None:
            # The types of all three make that of the result; numbers are weak in it.
            kwargs["dtype"] = dtypes.result_type(*[_weak(x) for x in (a, a_min, a_max)])
        first = {key: x for key, x in kwargs.items() if key != "where"}
        a = UFUNCS["maximum"](a, a_min, **first)
    return UFUNCS["minimum"](a, a_max, out=out, **kwargs)


@function("np.copyto")
@quick("copyto")
@few(numpy.copyto, FUSING, writes=True)
def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True):
    """Copies `src`, broadcast, into `dst` (only where `where` holds). TypeError for an
    unsafe cast, ValueError for a `dst` that is read-only.
    """
    if _compiled:
        _copy_in_function(dst, src, casting, where)
        return
    if not isinstance(dst, ndarray):
        if isinstance(dst, numpy.ndarray):
            return numpy.copyto(dst, _to_numpy(src), casting, _to_numpy(where))
        raise TypeError(message("copyto", "dst is no array", type(dst).__name__, "an ndarray"))
    if not dst._writeable:
        raise ValueError(
            message("copyto", "assignment destination is read-only", "dst", "a writeable array")
        )
    src = operand(src)
    if type(src) in _KINDS and not _takes(dst.dtype, src, casting):
        expected = f"casting={casting!r}"
        raise TypeError(message("copyto", "cannot cast", f"{src} to {dst.dtype}", expected))
    if type(src) in _KINDS and casting in ("no", "equiv", "safe", "same_kind"):
        casting = "unsafe"  # what the rule allows has been decided
    other = type(src) in (ndarray, generic) and (casting != "same_kind" or src.dtype != dst.dtype)
    if other and not dtypes.can_cast(src.dtype, dst.dtype, casting):
        raise TypeError(
            message("copyto", "cannot cast", f"{src.dtype} to {dst.dtype}", f"casting={casting!r}")
        )
    _core.copyto(dst, src, None if where is True else as_mask(where), casting)


def _copy_in_function(dst, src, casting, where):
    """As copyto(), whose rules a compiled function knows."""
    if isinstance(src, (int, float, complex)) and not isinstance(src, bool) and casting != "equiv":
        of = "fc" if isinstance(src, float) else "c"
        of = "iufc" if isinstance(src, int) else of
        allowed = casting == "unsafe" or kind_of(dst.dtype) in of
    else:
        allowed = np.can_cast(np.result_type(src), dst.dtype, casting)
    if not allowed:
        raise TypeError("[copyto] cannot cast; expected another type, or casting='unsafe'")
    if isinstance(src, complex) and dst.dtype.kind != "c":
        not_yet("np.copyto() of a complex number to real elements", "x.real")
    if isinstance(where, bool) and where:
        dst[...] = src
        return
    mask = np.broadcast_to(where, dst.shape)
    if np.ndim(src) == 0:
        dst[mask] = src
        return
    # Copies: they may lie in the memory that is written.
    dst[mask] = np.broadcast_to(src, dst.shape)[mask]


_KINDS = {bool: "b", int: "iu", float: "f", complex: "c"}


def _takes(dtype, number, casting):
    """Whether elements of `dtype` become a number of Python's under the rule: of its kind, or one
    that holds it, they do; what an integer type cannot hold is an OverflowError elsewhere.
    """
    kinds = _KINDS[type(number)]
    if casting == "unsafe" or casting not in ("no", "equiv", "safe", "same_kind"):
        return True
    if kinds == "b" or casting == "equiv":
        return dtypes.can_cast(host_array(number).dtype, dtype, casting)
    return "biufc".index(kind_of(dtype)) >= "biufc".index(kinds[0])


@function("np.putmask")
@few(numpy.putmask, FUSING, writes=True)
def putmask(a: Any, mask: Any, values: Any):
    """Sets `a.flat[i] = values[i % len(values)]` where the mask holds.

    ValueError for a mask of another size, TypeError for values that are not safe to cast.
    """
    if _compiled:
        at = _where_held("putmask", a, mask)
        of = _cast_values("putmask", a, values)
        for k in range(at.size if of.size > 0 else 0):
            a[_along_each(at[k], a.shape)] = of[at[k] % of.size]
        return
    a, mask = _target("putmask", a), to_ndarray(mask)
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


def _where_held(op, a, mask):
    """The indices into the flattened array where a mask of as many elements holds."""
    held = np.asarray(mask)
    if held.size != a.size:
        raise ValueError(f"[{op}] mask of another size; got it; expected one of each element")
    return np.flatnonzero(held)


def _cast_values(op, a, values):
    """A line of values in the type of `a`: arrays must be safe to cast. A copy."""
    own = isinstance(values, (tuple, list)) or np.ndim(values) == 0
    if not own and not np.can_cast(np.result_type(values), a.dtype, "safe"):
        # A list, which may be an array by now, would do.
        not_yet(f"np.{op}() of values that are not safe to cast", "values.astype(a.dtype)")
    return np.asarray(values).astype(a.dtype).ravel().copy()


def _values_for(op, a, values):
    """`values` in the type of `a`: arrays must be safe to cast, numbers become elements each."""
    if type(values) is generic:
        return values.astype(a.dtype)
    if not isinstance(values, (ndarray, numpy.ndarray)):
        return to_ndarray(host_array(values, a.dtype))
    if not dtypes.can_cast(values.dtype, a.dtype, "safe"):
        raise TypeError(message(op, "cannot cast", f"{values.dtype} to {a.dtype}", "a safe cast"))
    return to_ndarray(values).astype(a.dtype)


def _target(op, a):
    """What is written to: an array of ours, or one on the memory of NumPy's array."""
    if isinstance(a, ndarray):
        return a
    if not isinstance(a, numpy.ndarray):
        raise TypeError(message(op, "no array to write to", type(a).__name__, "an ndarray"))
    return on_its_memory(a)


@function("np.place")
@few(numpy.place, writes=True)
def place(arr: Any, mask: Any, vals: Any):
    """Sets the elements where the mask holds to the values in order, repeated as needed.

    Raises ValueError for a mask of another size, and where there is something to set but no value.
    """
    if _compiled:
        at = _where_held("place", arr, mask)
        of = _cast_values("place", arr, vals)
        if at.size > 0 and of.size == 0:
            raise ValueError("[place] no values; got none; expected at least one")
        for k in range(at.size):
            arr[_along_each(at[k], arr.shape)] = of[k % of.size]
        return
    arr = _target("place", arr)
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


@function("np.put")
@quick("put")
@few(numpy.put, writes=True)
def put(a: Any, ind: Any, v: Any, mode: Any = "raise"):
    """Sets `a.flat[ind[k]] = v[k % len(v)]`, cast to the type of `a`.

    mode: 'raise' for an IndexError out of range, 'wrap' or 'clip'. Negative indices count from
    the end.
    """
    if _compiled:
        _put_in_function(a, ind, v, mode)
        return
    a = _target("put", a)
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(message("put", "unknown mode", repr(mode), "'raise', 'wrap' or 'clip'"))
    if not a.flags.writeable:
        raise ValueError(message("put", "read-only array", a.shape, "one to write to"))
    at, n = whole_numbers(ind).ravel(), a.size
    if at.dtype.kind not in "iub" and at.size:
        raise TypeError(message("put", "indices", at.dtype, "an integer type"))
    held = isinstance(v, (ndarray, numpy.ndarray, generic, numpy.generic))
    values = to_ndarray(v if held else host_array(v, a.dtype)).ravel().astype(a.dtype)
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


def _put_in_function(a, ind, v, mode):
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError("[put] unknown mode; got another; expected 'raise', 'wrap' or 'clip'")
    at, of, n = np.asarray(ind).ravel(), np.asarray(v).astype(a.dtype).ravel().copy(), a.size
    if at.dtype.kind not in "iub" and not isinstance(ind, (float, list, tuple)):
        raise TypeError("[put] indices; got another type; expected integers")
    if at.size > 0 and n == 0:
        raise IndexError("[put] an array without elements; got it; expected some")
    for k in range(at.size if of.size > 0 else 0):
        i = int(at[k])
        if mode == "wrap":
            i = i % n
        elif mode == "clip":
            i = min(max(i, 0), n - 1)
        elif i < -n or i >= n:
            raise IndexError(f"[put] an index out of range; got {i}; expected below {n}")
        a[_along_each(i + n if i < 0 else i, a.shape)] = of[k % of.size]


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


@function("np.compress")
@few(numpy.compress)
def compress(condition: Any, a: Array, axis: AxisOrNumber | Flat = None, out: OutReversed = None):
    """The slices of `a` along `axis` (None: flattened) where the 1-D condition holds.

    ValueError for a condition of more axes or none, IndexError where it holds beyond the end.
    """
    held = np.asarray(condition)
    if held.ndim != 1:
        raise ValueError("[compress] condition; got another number of axes; expected one")
    return np.take(a, np.flatnonzero(held), axis)


@function("np.take")
@quick("take")
@few(numpy.take, FUSING)
def take(
    a: Array,
    indices: Any,
    axis: AxisOrNumber | Flat = None,
    out: OutReversed = None,
    mode: Choice("raise", "wrap", "clip") = "raise",
):
    """The elements of `a` at `indices` along `axis` (None: flattened).

    mode: 'raise' for an IndexError out of range, 'wrap' or 'clip'. Negative indices count from
    the end. TypeError for indices that are not integers.
    """
    at, n = _whole("take", indices), a.shape[axis]
    if mode == "wrap":
        at = at % max(n, 1)
    elif mode == "clip":
        at = np.minimum(np.maximum(at, 0), n - 1)
    for extent in a.shape[:axis]:
        if extent == 0:  # nothing is taken, and no index looked at
            return np.empty(a.shape[:axis] + np.shape(at) + a.shape[axis + 1 :], a.dtype)
    result = a[_along(axis, a.ndim, at)]
    if a.ndim - 1 + np.ndim(at) == 0:
        return result
    if np.ndim(at) == 0:
        return result.copy()
    # In C order, whatever the order of `a`.
    return np.ascontiguousarray(result) if a.ndim - 1 + np.ndim(at) > 1 else result


def _whole(op, indices):
    """Indices as an array of integers, or a number; lists of Python's may hold floats, which are
    cut.
    """
    if _compiled:
        if np.ndim(indices) == 0:
            return int(indices) if isinstance(indices, float) else indices
        chosen = np.asarray(indices)
        return chosen.astype(np.int64) if chosen.dtype.kind == "b" else chosen
    at = whole_numbers(indices)
    if at.dtype.kind not in "iub" or at.dtype == np.uint64:
        raise TypeError(message(op, "indices", at.dtype, "integers that int64 holds"))
    return at.astype(np.int64) if at.dtype.kind == "b" else at


@function("np.choose", few=True)
def choose(a: Array, choices: Any, out: OutUnsafe = None, mode: Any = "raise"):
    """For each element the choice that `a` names by its number, all broadcast.

    mode: 'raise' (ValueError for numbers out of range), 'wrap' or 'clip'.
    """
    if a.dtype.kind not in "iub" or a.dtype == np.uint64:
        raise TypeError("[choose] indices; got another type; expected integers that int64 holds")
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError("[choose] unknown mode; got another; expected 'raise', 'wrap' or 'clip'")
    number = a.astype(np.int64)
    if _compiled and isinstance(choices, numpy.ndarray):
        rows = np.asarray(choices)
        require_axes("choose", rows, 1)
        number = _choosable(number, rows.shape[0], mode)
        found = np.where(number == 0, rows[0], rows[0])
        for k in range(1, rows.shape[0]):
            found = np.where(number == k, rows[k], found)
        return found
    each = tuple([np.asarray(x) for x in choices])
    dtype = np.result_type(*[x.dtype for x in each]) if len(each) > 0 else a.dtype
    return _chosen(_choosable(number, len(each), mode), each, dtype)


def _choosable(number, n, mode):
    """Which of n choices each number names."""
    if n == 0:
        raise ValueError("[choose] no choices; got 0; expected at least one")
    if mode == "wrap":
        return number % n
    if mode == "clip":
        return np.minimum(np.maximum(number, 0), n - 1)
    if bool(np.any(np.logical_or(number < 0, number >= n))):
        raise ValueError(f"[choose] a number out of range; got it; expected 0 to {n - 1}")
    return number


def _chosen(number, each, dtype):
    """Each element of the choice that its number names, the first one's for all others."""
    k = len(each) - 1
    own = each[k].astype(dtype)
    return np.where(number == k, own, own if k == 0 else _chosen(number, each[:-1], dtype))


@function("np.take_along_axis")
def take_along_axis(arr: Array, indices: Array, axis: Axis | Flat = -1):
    """Elements of `arr` by an index array that matches it in all axes but one.

    IndexError for indices out of range, and for arrays that do not match or are not of integers;
    ValueError for another number of axes.
    """
    if not _compiled:
        if arr.ndim > 3 and arr.size:  # more index arrays than a gather takes
            return _along_flat(arr, indices, axis)
        return arr[_along_index(arr, indices, axis)]
    if indices.ndim != arr.ndim:
        raise ValueError("[take_along_axis] dimensions differ; got other ones; expected equal")
    n = arr.shape[axis]
    if bool(np.any(indices < -n)) or bool(np.any(indices >= n)):
        raise IndexError("[take_along_axis] out of bounds; got an index beyond the axis")
    return arr.ravel()[_flat_index(indices, arr.shape, axis, 0)]


def _along_flat(arr, indices, axis):
    """`take_along_axis` by one index into all elements."""
    if indices.ndim != arr.ndim:
        raise ValueError(
            message("take_along_axis", "dimensions differ", (indices.ndim, arr.ndim), "equal")
        )
    n = arr.shape[axis]
    inside = np.logical_and(indices >= -n, indices < n)
    flat = _flat_index(indices, arr.shape, axis, 0)
    return np.reshape(arr, (-1,))[np.where(inside, flat, arr.size)]


def _flat_index(indices, shape, axis, d):
    """The indices into a flattened array of that shape, by those of axes from `d` on."""
    if d == len(shape):
        return np.zeros(indices.shape, np.int64)
    n, step = shape[d], product(shape[d + 1 :])
    if d == axis:
        own = np.where(indices < 0, indices + n, indices)
    else:
        if indices.shape[d] != n and indices.shape[d] != 1 and n != 1:
            raise IndexError("[take_along_axis] shape of indices; got another; expected a match")
        own = np.arange(n).reshape((1,) * d + (n,) + (1,) * (len(shape) - d - 1))
    return own * step + _flat_index(indices, shape, axis, d + 1)


@function("np.put_along_axis")
def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any):
    """Puts values into `arr` by an index array that matches it in all axes but one."""
    if _compiled:
        _put_along_in_function(arr, np.asarray(indices), values, axis)
        return
    indices = to_ndarray(indices)
    if axis is None:
        if indices.ndim != 1:
            raise ValueError(message("put_along_axis", "indices", f"{indices.ndim} axes", "one"))
        if not arr.flags.writeable:
            raise ValueError(message("put_along_axis", "read-only", arr.shape, "one to write to"))
        n = arr.size
        if bool(np.any(np.logical_or(indices < -n, indices >= n))):
            raise IndexError(message("put_along_axis", "out of range", "an index", f"below {n}"))
        at = np.where(indices < 0, indices + n, indices)
        _store_at(arr, at.astype(np.int64), np.asarray(values))
        return
    arr[_along_index(arr, indices, one_axis("put_along_axis", axis, arr.ndim))] = values


def _put_along_in_function(arr, indices, values, axis):
    if axis is None:
        if indices.ndim != 1:
            raise ValueError("[put_along_axis] indices; got several axes; expected one")
        at = np.where(indices < 0, indices + arr.size, indices)
        end = arr.size
    else:
        if indices.ndim != arr.ndim:
            raise ValueError("[put_along_axis] dimensions differ; got other ones; expected equal")
        d = distinct("put_along_axis", axis, arr.ndim)[0]
        end = arr.shape[d]
        at = _flat_index(indices, arr.shape, d, 0)
    if bool(np.any(indices < -end)) or bool(np.any(indices >= end)):
        raise IndexError("[put_along_axis] out of bounds; got an index beyond the axis")
    of, flat = np.broadcast_to(values, at.shape).copy().ravel(), at.ravel()
    for k in range(flat.size):
        arr[_along_each(flat[k], arr.shape)] = of[k]


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


@function("np.nonzero", few=True)
@quick("nonzero")
def nonzero(a: Array):
    """A tuple of int64 arrays: the indices of the elements that are not zero, one array per axis.
    ValueError for an array without axes.
    """
    if a.ndim == 0:
        raise ValueError("[nonzero] a 0-d array has no indices; got 0-d; expected atleast_1d(a)")
    if _compiled:
        return _unravelled(routines.flatnonzero(a.ravel()), a.shape)
    if a.ndim == 1 and (a.size >= _LONG or not on_host(a)):
        return (routines.flatnonzero(a),)
    if not on_host(a):
        return _nonzero_on_device(a)
    found = numpy.nonzero(numpy.asarray(a))
    if found[0].base is None:
        return tuple([adopt(x) for x in found])
    # NumPy hands out the columns of one table.
    table = adopt(found[0].base.reshape(-1, a.ndim))
    return tuple([table[:, axis] for axis in range(a.ndim)])


def _unravelled(positions, shape):
    """The index along each axis of elements of the flattened array."""
    if len(shape) == 1:
        return (positions,)
    return _unravelled(positions // shape[-1], shape[:-1]) + (positions % shape[-1],)


@function("np.flatnonzero")
@quick("flatnonzero")
def flatnonzero(a: Array):
    """The indices of the elements of the flattened `a` that are not zero."""
    return np.nonzero(a.ravel())[0]


@function("np.argwhere", few=True)
def argwhere(a: Array):
    """(count, ndim) array of the indices of the elements that are not zero."""
    if _compiled:
        positions = routines.flatnonzero(a.ravel())
        rows = np.empty((positions.shape[0], a.ndim), np.int64)
        for k in range(positions.shape[0]):
            rest = positions[k]
            for d in range(a.ndim - 1, -1, -1):
                rows[k, d] = rest % a.shape[d]
                rest //= a.shape[d]
        return rows
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
        keys = key if isinstance(key, tuple) else (key,)
        if any([isinstance(item, str) for item in keys]):
            return self._directed(keys)
        parts, weak = [], []
        for item in keys:
            if isinstance(item, slice):
                step = item.step
                if isinstance(step, complex):
                    part = np.linspace(item.start or 0, item.stop, int(abs(step)))
                else:
                    part = np.arange(item.start or 0, item.stop, 1 if step is None else step)
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
        return np.concatenate(
            parts,
            -1 if self._columns else 0,
            dtype=dtypes.result_type(*strong, *weak),
            casting="unsafe",
        )

    def _directed(self, keys):
        """Items after a text "axis,ndmin,trans1d", of which the first number or two may be all.

        axis: along which parts are joined; ndmin: the axes that parts have at least; trans1d: where
        the axes begin that a part of fewer has. "r" and "c" ask for matrices, which are NumPy's.
        """
        if keys[0] in ("r", "c"):
            foreign(numpy.matrix([]))
        if not isinstance(keys[0], str) or any([isinstance(item, str) for item in keys[1:]]):
            raise ValueError(message(f"{self._name}", "a text after the first item", keys, "none"))
        try:
            numbers = [int(x) for x in keys[0].split(",")]
        except ValueError:
            numbers = []
        if not numbers:
            expected = "'axis,ndmin,trans1d'"
            raise ValueError(message(self._name, "unknown directive", keys[0], expected))
        numbers = numbers[:2] if len(numbers) > 3 else numbers
        usual = (-1, 2, 0) if self._columns else (0, 1, -1)
        axis, ndmin, first = (*numbers, *usual[len(numbers) :])
        parts = []
        for item in keys[1:]:
            part = r_[item]
            count = 1 if isinstance(item, slice) else numpy.ndim(item)
            if part.ndim < ndmin or count < ndmin:
                part = part.reshape((1,) * (ndmin - count) + part.shape[part.ndim - count :])
                part = _with_axes_at(part, ndmin, count, first)
            parts.append(part)
        return np.concatenate(parts, axis)

    def __len__(self):
        return 0


def _with_axes_at(part, ndmin, count, first):
    """A part whose last `count` of `ndmin` axes are moved to begin at `first`."""
    free = ndmin - count
    if first == -1 or count == 0:
        return part
    begin = first if first >= 0 else first + free + 1
    every = tuple(range(ndmin))
    return part.transpose(every[:begin] + every[free:] + every[begin:free])


r_ = _Rows("r_", False)
c_ = _Rows("c_", True)
