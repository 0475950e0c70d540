"""Conversions between Numbus arrays, NumPy arrays and Python values; everything else builds on
these.
"""

import sys

import numpy

from .. import _core
from .._core import generic, ndarray
from . import dtypes
from .errors import ForeignDtype, ForeignOperand, message
from .given import given, host_array, refused, settled
from .host import Views, on_host
from .quick import quick

# What `_core` stores; `numpy.dtype` hashes by value, so byte-swapped types are not in here.
SUPPORTED = frozenset([*map(numpy.dtype, "?bhilqBHILQefdFD"), dtypes.BFLOAT16])
# The usual ways to name them, which need not be looked up by NumPy.
_NAMED = {name: t for t in SUPPORTED for name in (t, t.type, t.name)} | {
    kind: numpy.dtype(kind) for kind in (bool, int, float, complex)
}
_REAL_ARRAYS = {numpy.ndarray, numpy.memmap}
_NUMBERS = (bool, int, float, complex)
# The types of NumPy's scalars, and of those that the core makes, which it takes directly.
_OWN = frozenset(_core.scalar_types)
_SCALARS = {t.type for t in SUPPORTED} | _OWN


def register_array_type(kind):
    """Makes arrays of a subclass of numpy.ndarray, which must not add behaviour, plain ones."""
    _REAL_ARRAYS.add(kind)
    _core.register_array_type(kind)


def to_numpy(x):
    """What NumPy understands: an ndarray becomes a zero-copy view, a generic a NumPy scalar."""
    kind = type(x)
    if kind is ndarray:
        return numpy.asarray(x)
    if kind is generic:
        return x.dtype.type(x._number())
    return x


def adopt(x):
    """An ndarray that takes over a fresh NumPy result which nobody else reaches.

    Unlike sharing, this leaves the storage to Numbus, so that later work on it stays lazy.
    """
    return _core.from_numpy(x, "take")


def empty_like_layout(shape, strides, dtype):
    """An uninitialised array, dense, its axes in the memory order that `strides` tell."""
    order = memory_order(strides)
    if order == sorted(order):
        return _core.empty(shape, dtype)
    back = [0] * len(order)
    for position, axis in enumerate(order):
        back[axis] = position
    return _core.empty(tuple([shape[axis] for axis in order]), dtype).transpose(tuple(back))


def memory_order(strides):
    """The axes from the longest stride to the shortest; axes of equal strides stay in order."""
    return sorted(range(len(strides)), key=lambda axis: -abs(strides[axis]))


def foreign(x):
    """Raises ForeignDtype for an operand that only NumPy can hold."""
    raise ForeignOperand(getattr(x, "dtype", type(x).__name__))


def on_its_memory(a):
    """What is written to, as an array of ours. NumPy writes to its own arrays where new ones are
    made on a device with memory of its own.
    """
    if isinstance(a, numpy.ndarray) and a.dtype not in SUPPORTED:
        foreign(a)  # to_ndarray() would make a copy
    made = to_ndarray(a)
    if made is not a and not on_host(made):
        foreign(a)
    return made


def to_ndarray(x):
    """Any operand as an `ndarray`, sharing memory where possible.

    Raises ForeignDtype for dtypes Numbus has not, for subclasses of numpy.ndarray (masked
    arrays, matrices) and for numpy.poly1d, whose own behaviour would be lost.
    """
    kind = type(x)
    if kind is ndarray:
        return x
    if kind is generic:
        return x._array()
    if kind in _SCALARS:
        return _core.full((), x, x.dtype)
    if isinstance(x, numpy.ndarray):
        if kind not in _REAL_ARRAYS or x.dtype not in SUPPORTED:
            native = x.dtype.newbyteorder("=")
            if kind not in _REAL_ARRAYS or native not in SUPPORTED:
                foreign(x)
            return adopt(x.astype(native))
        return _core.from_numpy(x)
    if kind in _NUMBERS or isinstance(x, numpy.generic):
        dtype = numpy.asarray(x).dtype
        if dtype not in SUPPORTED:
            foreign(x)
        return _core.full((), x, dtype)
    if isinstance(x, numpy.poly1d):
        foreign(x)
    made, _ = given(x)
    if type(made) in (ndarray, generic):
        return to_ndarray(made)
    real = host_array(made)
    if real.dtype not in SUPPORTED:
        foreign(real)
    # A list or a range gives a fresh array; an object with a buffer or __array__ may give its own.
    fresh = made is x and real.base is None and sys.getrefcount(real) == 2
    return adopt(real) if fresh else _core.from_numpy(real)


def plain(x, subok):
    """`x`, and of a subclass of numpy.ndarray the plain array where `subok` does not ask for it."""
    if subok or not isinstance(x, numpy.ndarray) or type(x) in _REAL_ARRAYS:
        return x
    return host_array(x)


def operand(x):
    """`x` as something `_core` takes directly: arrays, generics and Python numbers stay as they
    are.
    """
    kind = type(x)
    if kind is ndarray or kind is generic or kind in _NUMBERS or kind in _SCALARS:
        return x
    return to_ndarray(x)


def whole_numbers(x):
    """Indices or counts as an array: arrays as they are, for they have to be of integers; numbers
    and lists of Python's as int64, as NumPy takes them.
    """
    if type(x) in (ndarray, generic) or isinstance(x, (numpy.ndarray, numpy.generic)):
        return to_ndarray(x)
    return to_ndarray(host_array(x, numpy.int64))


def as_mask(where):
    """The argument `where` as an operand: arrays as they are, for they have to be boolean, anything
    else as booleans.
    """
    if type(where) in (ndarray, generic) or isinstance(where, (numpy.ndarray, numpy.generic)):
        return operand(where)
    return to_ndarray(host_array(where, bool))


def dtype_of(x):
    """The dtype an operand has, or would have as an array."""
    if type(x) in (ndarray, generic) or isinstance(x, (numpy.ndarray, numpy.generic)):
        return x.dtype
    return host_array(x).dtype


def as_dtype(op, dtype, default=None):
    """`dtype` as a numpy.dtype that Numbus has; None gives `default`. Raises ForeignDtype."""
    if dtype is None:
        return default
    try:
        return _NAMED[dtype]
    except (KeyError, TypeError):
        pass
    result = numpy.dtype(dtype)
    if result not in SUPPORTED:
        raise ForeignDtype(message(op, "unsupported dtype", result, "a Numbus dtype"))
    return result


def unwrap(x, views):
    """`x` with every Numbus array inside it as a NumPy array that `views` (a Views) gives."""
    kind = type(x)
    if kind is ndarray:
        return views.give(x)
    if kind is generic:
        return x.dtype.type(x._number())
    if kind in _OWN:
        return x.dtype.type(x.item())
    if kind is list or kind is tuple:
        changed = [unwrap(item, views) for item in x]
        if all([new is old for new, old in zip(changed, x)]):
            return x
        return changed if kind is list else tuple(changed)
    if isinstance(x, tuple) and hasattr(x, "_make"):
        return x._make([unwrap(item, views) for item in x])
    if kind is dict:
        changed = x  # the object itself, which may become an element
        for key, value in x.items():
            item = unwrap(value, views)
            if item is not value:
                changed = dict(x) if changed is x else changed
                changed[key] = item
        return changed
    if kind is slice:
        return slice(unwrap(x.start, views), unwrap(x.stop, views), unwrap(x.step, views))
    return x


def wrap(x, views):
    """A NumPy result as Numbus arrays: the same object for an `out`, an alias for a view, else
    adopted.
    """
    kind = type(x)
    if kind is numpy.ndarray:
        array = views.array_of(x)
        if array is not None:
            return array
        if x.dtype not in SUPPORTED:
            return x
        if x.base is not None and views.shares(x):
            return _core.from_numpy(x)
        return adopt(x)
    if kind is list or kind is tuple:
        return kind([wrap(item, views) for item in x])
    if isinstance(x, tuple) and hasattr(x, "_make"):
        return x._make([wrap(item, views) for item in x])
    if kind is dict:
        return {key: wrap(value, views) for key, value in x.items()}
    return _core.library_number(x)


@_core.composed
@quick("library")
def library(function, args, kwargs):
    """Calls a NumPy function on the memory of Numbus arrays (on a GPU: on copies, brought back
    where the function wrote to them) and wraps its results.
    """
    views = Views()
    args = [unwrap(item, views) for item in args]
    if kwargs:
        views.keep(kwargs.get("out"))
        kwargs = {key: unwrap(value, views) for key, value in kwargs.items()}
    try:
        try:
            made = function(*args, **kwargs)
        except ValueError as error:
            if not refused(error):
                raise
            made = function(*settled(args), **settled(kwargs))
        return wrap(made, views)
    finally:
        views.finish()


def as_generic(a):
    """The value of a 0-d array as a generic, recorded and not read."""
    if a.dtype.kind == "b":
        return _core.logical_or(a, False)
    return _core.positive(a)


def copy_to_order(a, order):
    """A copy of `a` whose memory is laid out as `order` ('C', 'F', 'A' or 'K') asks."""
    return a.copy(order)


def is_order(a, order):
    """Whether `a` already has the layout that `order` ('C', 'F', 'A' or 'K') asks for."""
    if order == "F":
        return a.flags.f_contiguous
    if order == "C":
        return a.flags.c_contiguous
    return True


def check_like(op, like):
    """The argument `like`: arrays of ours and of NumPy's ask for what is made anyway.

    Raises ForeignDtype for other kinds of array, which NumPy asks in turn, and TypeError for what
    is none.
    """
    kind = type(like)
    if like is None or kind in (ndarray, generic) or kind in _REAL_ARRAYS or kind in _OWN:
        return
    if not hasattr(type(like), "__array_function__"):
        raise TypeError(message(op, "like is no array", type(like).__name__, "an array"))
    raise ForeignDtype(message(op, "like is another array type", type(like).__name__, "an ndarray"))


def require_cast(op, source, target, casting):
    """Raises TypeError where the rule `casting` does not let `source` become `target`."""
    if source is not target and not dtypes.can_cast(source, target, casting):
        raise TypeError(
            message(op, "cannot cast", f"{source} to {target}", f"a cast that {casting!r} allows")
        )


def in_order(a, order):
    """A fresh result `a` laid out as `order` asks: itself where it is so already."""
    return a if a.ndim < 2 or is_order(a, order) else a.copy(order)


def _fits(shape, whole):
    try:
        return numpy.broadcast_shapes(shape, whole) == whole
    except ValueError:
        return False


def store(op, result, out, casting="same_kind", broadcasts=False):
    """`result` written to the array `out`, which must have its shape (or one to which it
    broadcasts) and, under the rule `casting`, its type ("reversed": `out` could become the result,
    which is what NumPy asks where indices are chosen).
    """
    if isinstance(out, tuple) and len(out) == 1:
        (out,) = out
    if not isinstance(out, (ndarray, numpy.ndarray)):
        raise TypeError(message(op, "out is no array", type(out).__name__, "an ndarray"))
    if broadcasts and out.shape != result.shape and _fits(result.shape, out.shape):
        result = _core.broadcast_to(to_ndarray(result), out.shape)
    if out.shape != result.shape:
        raise ValueError(message(op, "wrong shape of out", out.shape, result.shape))
    if casting == "reversed":
        require_cast(op, out.dtype, result.dtype, "safe")
    else:
        require_cast(op, result.dtype, out.dtype, casting)
    if isinstance(out, numpy.ndarray):
        numpy.copyto(out, result, casting="unsafe")
    else:
        _core.copyto(out, result)
    return out
