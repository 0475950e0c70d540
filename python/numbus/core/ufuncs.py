"""The ufuncs: rows of the table under NumPy's names and aliases, and the methods reduce, outer,
at (accumulate and reduceat are in functions/cumulative).
"""

import numpy

from .. import _core
from .._core import ndarray
from . import derivatives, dtypes
from .dtypes import kind_of
from .errors import many_axes, message, no_flags
from .fallback import call, lookup, state
from .host import on_host
from .indexing import advanced, is_basic
from .operands import (
    as_dtype,
    as_mask,
    on_its_memory,
    operand,
    store,
    to_ndarray,
    to_numpy,
)
from .operands import foreign as foreign_operand
from .quick import quick

# ufunc.reduce in terms of the reductions of `_core.reduce`.
_REDUCTIONS = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}


_REORDERABLE = frozenset("fmax fmin".split())  # those without an identity
_FIRST = numpy.zeros(1, numpy.int64)  # where the one segment of a reduction begins
_BOOL = numpy.dtype(bool)
_NoValue = numpy._NoValue


def _publish():
    rows = {}
    for row in _core.table():
        for name in (row["name"], *row["also"]):
            rows[name] = getattr(_core, row["name"])
    return rows


UFUNCS = _publish()
globals().update(UFUNCS)


def __getattr__(name):
    # A row that the table has not: the counted form of NumPy's.
    return lookup(name)


def types_of(op, real, signature, kwargs, operands, results=1):
    """The types of the operands and results of the loop that a signature asks for, and takes the
    keyword `casting` out of `kwargs`. TypeError where there is none; ForeignDtype for NumPy's own.
    """
    if kwargs.get("dtype") is not None:
        raise TypeError(message(op, "both dtype and signature", "both", "one of them"))
    if signature is None:
        raise TypeError(message(op, "no signature", None, "a string or a tuple"))
    types = [getattr(x, "dtype", type(x)) for x in operands]
    loop = real.resolve_dtypes(
        (*types, *[None] * results),
        signature=signature,
        casting=kwargs.pop("casting", "same_kind"),
    )
    return [as_dtype(op, t) for t in loop]


def cast_all(operands, types):
    """Operands, each in its type; numbers as arrays."""
    return [to_ndarray(x).astype(t, copy=False) for x, t in zip(operands, types)]


def _by_signature(row, args, kwargs):
    """A ufunc's call with the keyword `signature`, or `sig`."""
    self, kwargs = UFUNCS[row], dict(kwargs)
    given = [kwargs.pop(key) for key in ("signature", "sig") if key in kwargs]
    if len(given) > 1:
        raise TypeError(message(row, "both sig and signature", "both", "one of them"))
    operands = [operand(x) for x in args[: self.nin]]
    if len(operands) < self.nin:
        raise TypeError(message(row, "too few operands", len(operands), self.nin))
    types = types_of(row, _real(self), given[0], kwargs, operands)
    result = self(*cast_all(operands, types), *args[self.nin :], **kwargs, casting="unsafe")
    if getattr(result, "dtype", None) != types[-1] and kwargs.get("out") is None:
        raise TypeError(message(row, "no loop for this signature", given[0], "one of `types`"))
    return result


def _of_tensors(row, args, kwargs):
    """A ufunc of tensors: they take part as their arrays do, and wrap the results."""
    first = next(x for x in args if isinstance(x, _core.TensorBase))
    arrays = [to_ndarray(x.numpy()) if isinstance(x, _core.TensorBase) else x for x in args]
    made = UFUNCS[row](*arrays, **kwargs)
    inputs = getattr(numpy, row).nin  # ufuncs that are composed have no such attribute
    if kwargs.get("out") is not None or len(args) > inputs:
        return made
    if isinstance(made, tuple):
        return tuple([first.__array_wrap__(to_ndarray(x)) for x in made])
    return first.__array_wrap__(to_ndarray(made))


def _real(ufunc):
    return getattr(numpy, ufunc.name)


def attach_method(name, function):
    """Makes a function the method of that name of all ufuncs; NumPy's takes operands that only
    NumPy can hold.
    """

    def by_numpy(self, *args, **kwargs):
        return call(f"numpy.{self.name}.{name}", getattr(_real(self), name), args, kwargs)

    setattr(_core.ufunc, name, _core.composed(function, by_numpy))


@quick("reduce")
def reduce(self, array, axis=0, dtype=None, out=None, keepdims=False, initial=_NoValue, where=True):
    """Reduces `array` along `axis` (int, tuple or None for all) by repeated application of the
    ufunc.

    dtype: the type of the elements while they are combined. out: it takes the first value, and the
    result at the end, cast to its type; NumPy casts also where it empties a buffer on the way.
    initial: what the elements are combined with first; None: nothing, so that there must be
    elements. where: the elements that count. Raises ValueError for no elements without an initial
    value, and for several axes where the order of the elements matters, TypeError for types that
    the ufunc does not give back.
    """
    op = f"{self.name}.reduce"
    if self.nin != 2:
        raise ValueError(message(op, "not a binary ufunc", self.nin, "2 inputs"))
    kind, begin = dtype, initial
    if out is not None:
        array = to_ndarray(array)
        if dtype is None and self.name not in ("logical_and", "logical_or"):
            kind = _loop(self, out, array.dtype)
        array, begin = _begun_in(self, op, out, array, axis, kind, initial)
    result = _reduced(self, op, array, axis, kind, bool(keepdims), begin, where)
    return result if out is None else store(op, result, out, "unsafe")


def _loop(self, out, dtype):
    """The type in which elements of `dtype` are combined where `out` takes the result."""
    (out,) = out if isinstance(out, tuple) and len(out) == 1 else (out,)
    there = getattr(out, "dtype", None)
    types = (there, dtype, None)
    return _real(self).resolve_dtypes(types, casting="unsafe", reduction=True)[2]


def _begun_in(self, op, out, a, axis, dtype, initial):
    """The operand and the initial value of a reduction whose first value stands in `out`, cast to
    its type, before others are combined with it.
    """
    (out,) = out if isinstance(out, tuple) and len(out) == 1 else (out,)
    there, kind = getattr(out, "dtype", None), as_dtype(op, dtype, a.dtype)
    kind = a.dtype if self.name.startswith("logical_") else kind
    if there is None or there == kind or dtypes.can_cast(kind, there, "safe"):
        return a, initial
    identity = _real(self).identity
    first = identity if initial is _NoValue else initial
    with numpy.errstate(all="ignore"):
        if first is not None:
            whole = first is identity  # -1 is all bits
            value = numpy.asarray(first).astype(kind)[()] if whole else _start(first, kind)
            held = value.astype(there).astype(kind)
            return a, initial if whole and held == value else held
    axes = () if not a.ndim and axis in (0, -1) else many_axes(op, no_flags(op, axis), a.ndim)
    index = tuple([slice(0, 1) if d in axes else slice(None) for d in range(a.ndim)])
    a = a.astype(kind, copy=True)
    a[index] = a[index].astype(as_dtype(op, there)).astype(kind)
    return a, initial


def sums_into(op, out, dtype):
    """The same for sums and products."""
    return _loop(UFUNCS["add" if op == "sum" else "multiply"], out, dtype)


def _reduced(self, op, array, axis, dtype, keepdims, initial, where):
    a, dtype = to_ndarray(array), as_dtype(op, dtype)
    axes = () if not a.ndim and axis in (0, -1) else many_axes(op, no_flags(op, axis), a.ndim)
    mask = None if where is True else _core.broadcast_to(as_mask(where), a.shape)
    if mask is not None and mask.dtype != _BOOL:
        raise TypeError(message(op, "where is not boolean", mask.dtype, "bool"))
    name = _REDUCTIONS.get(self.name)
    if name is None:
        return _folded(self, op, a, axes, dtype, keepdims, initial, mask)
    if name in ("any", "all") and dtype is not None and dtype != _BOOL:
        raise TypeError(message(op, "no loop for this dtype", dtype, "bool"))
    if name in ("max", "min") or dtype == _BOOL:
        a, dtype = a if dtype is None else a.astype(dtype, copy=False), None
        name = {"sum": "any", "prod": "all"}.get(name, name) if a.dtype == _BOOL else name
    if initial is _NoValue:
        if mask is not None and name in ("max", "min"):
            raise ValueError(message(op, "where= without initial=", "none", "an initial value"))
        return _core.reduce(name, a, axes, keepdims, dtype, mask, 0)
    if initial is None or (name in ("max", "min") and not a.size):
        require_elements(op, a, axes, initial, mask)
    if name in ("max", "min") and not a.size:
        shape = _shape_without(a.shape, axes, keepdims)
        first = 0 if initial is None else initial  # of which the result has none
        return _core.full(shape, _start(first, a.dtype), a.dtype)[()]
    result = _core.reduce(name, a, axes, keepdims, dtype, mask, 0)
    if initial is None:
        return result
    return self(_start(initial, result.dtype), result, dtype=result.dtype)


def require_elements(op, a, axes, initial, mask):
    """Something to begin with, where neither an identity nor an initial value is there."""
    if initial is not None and initial is not _NoValue:
        return
    if mask is not None:
        raise ValueError(message(op, "where= without initial=", "none", "an initial value"))
    if any([a.shape[d] == 0 for d in axes]):
        raise ValueError(message(op, "no elements and no identity", a.shape, "an initial value"))


def _shape_without(shape, axes, keepdims):
    if keepdims:
        return tuple([1 if d in axes else n for d, n in enumerate(shape)])
    return tuple([n for d, n in enumerate(shape) if d not in axes])


def _start(initial, dtype):
    """`initial` as NumPy converts it to the type of a reduction; TypeError where it cannot."""
    value = numpy.empty((), dtype)
    value[()] = to_numpy(initial)
    return value[()]


# What an operation leaves its first operand as it is with, as the second one.
_NEUTRAL = {
    **dict.fromkeys("subtract left_shift right_shift".split(), 0),
    **dict.fromkeys("divide power float_power".split(), 1),
}


def _neutral(name, dtype):
    """An element that changes nothing where others are folded into a result, or None."""
    if name == "floor_divide" and dtype.kind in "iu":
        return dtype.type(1)
    if name == "fmod" and kind_of(dtype) == "f":
        return dtype.type(numpy.inf)
    return dtype.type(_NEUTRAL[name]) if name in _NEUTRAL else None


def _folded(self, op, a, axes, dtype, keepdims, initial, mask):
    """reduce() without a row in the table of reductions: folds of one segment, in order."""
    identity = _real(self).identity
    given = dtype or a.dtype
    loop = _real(self).resolve_dtypes((None, given, None), reduction=True)
    if len(set(loop)) > 1 or (dtype is not None and loop[0] != dtype):
        raise TypeError(message(op, "no loop for this dtype", given, "a type that it gives back"))
    if len(axes) > 1 and identity is None and self.name not in _REORDERABLE:
        raise ValueError(message(op, "several axes of an order", axes, "one axis"))
    loop = loop[0]
    a = a.astype(loop, copy=False)
    if identity is not None:
        identity = numpy.asarray(identity).astype(loop)[()]  # -1 as all bits
    first = identity if initial is _NoValue else initial
    if first is None:
        require_elements(op, a, axes, first, mask)
    else:
        first = _start(first, loop)
    if mask is not None:
        neutral = identity if identity is not None else _neutral(self.name, loop)
        if neutral is not None:
            a = _core.where(mask, a, neutral)
        elif self.name in _REORDERABLE:
            a = _core.where(mask, a, first)
        else:
            return _folded_held(self, a, axes, first, mask, keepdims)
    if initial is not _NoValue and initial is not None and len(axes) == 1:
        (d,) = axes
        line = _core.full((*a.shape[:d], 1, *a.shape[d + 1 :]), first, loop)
        a = _core.concatenate([line, a], d, False, None, "same_kind", None)
    if not a.size and axes:
        first = loop.type(0) if first is None else first  # of which the result has none
        return _core.full(_shape_without(a.shape, axes, keepdims), first, loop)[()]
    for d in axes:
        a = _core.reduceat(self, a, _FIRST, d, None, None, reduces=True)
    if initial is not _NoValue and initial is not None and len(axes) != 1:
        a = self(first, a, dtype=loop)
    if keepdims or not axes:
        return a if getattr(a, "ndim", 0) or not hasattr(a, "shape") else a[()]
    return a[tuple([0 if d in axes else slice(None) for d in range(a.ndim)])]


def _folded_held(self, a, axes, first, mask, keepdims):
    """The folds of `first` and the elements along one axis at most that the mask holds, where no
    element leaves the others as they are: lines of several lengths, one after the other.
    """
    shape = _shape_without(a.shape, axes, keepdims)
    if not axes:
        return _core.where(mask, self(first, a, dtype=a.dtype), first)[()]
    if not a.size:
        return _core.full(shape, first, a.dtype)[()]
    (d,) = axes
    order = tuple([*[k for k in range(a.ndim) if k != d], d])
    lines, held = a.transpose(order), mask.transpose(order)
    column = (*lines.shape[:-1], 1)
    lines = _core.concatenate(
        [_core.full(column, first, a.dtype), lines], a.ndim - 1, False, None, "same_kind", None
    )
    held = _core.concatenate(
        [_core.full(column, True, _BOOL), held], a.ndim - 1, False, None, "same_kind", None
    )
    lengths = _core.reduce("sum", held, (a.ndim - 1,), False, None, None, 0)
    lengths = to_ndarray(lengths).reshape((-1,))
    begins = _core.accumulate(UFUNCS["add"], lengths, 0, None, None) - lengths
    elements = lines.reshape((-1,))[held.reshape((-1,))]
    return _core.reduceat(self, elements, begins, 0, None, None, reduces=True).reshape(shape)[()]


def outer(self, a, b, /, **kwargs):
    """The ufunc applied to all pairs of elements: shape `a.shape + b.shape`."""
    if self.nin != 2:
        raise ValueError(message(f"{self.name}.outer", "not a binary ufunc", self.nin, "2 inputs"))
    a, b = operand(a), operand(b)
    if getattr(b, "ndim", 0) and getattr(a, "ndim", 0):
        a = a.reshape(a.shape + (1,) * b.ndim)
    return self(a, b, **kwargs)


@quick("at")
def at(self, a, indices, b=None, /):
    """Unbuffered in-place operation on `a[indices]`: repeated indices count as often
    as they occur.

    The result is cast to the dtype of `a`, whatever it is. Raises IndexError for indices out of
    range, ValueError for values that do not broadcast to `a[indices]`.
    """
    op = f"{self.name}.at"
    if (b is None) != (self.nin == 1):
        got = "none" if b is None else "one"
        expected = "none" if self.nin == 1 else "one"
        raise ValueError(message(op, "number of second operands", got, expected))
    if type(a) is not ndarray:
        if not isinstance(a, numpy.ndarray):
            foreign_operand(a)
        a = on_its_memory(a)
    if not a._writeable:
        raise ValueError(message(op, "destination is read-only", a.shape, "a copy"))
    if type(b) is int and b.bit_length() > 63:
        b = numpy.asarray(b)
    if b is not None and type(b) not in (int, float, complex):
        b = to_ndarray(b)
    try:
        done = _at(self, a, indices, b)
    except NotImplementedError:
        if on_host(a):
            raise
        done = False  # a GPU has no such kernels
    if not done:
        foreign_operand(indices)


def _at(self, a, indices, b):
    """at() of checked operands; False where only NumPy can read the index."""
    found = advanced(a, indices)
    if found is None:
        if not is_basic(indices):
            return False
        index = indices if type(indices) is tuple else (indices,)
        # An element is a view, too.
        view = a[index if Ellipsis in index else (*index, Ellipsis)]
        operands = (view,)
        if b is not None:
            operands += (_core.broadcast_to(to_ndarray(b), view.shape),)
        self(*operands, out=view, casting="unsafe")
        return True
    if self.name not in ("add", "subtract") and derivatives.watched([a, b]):
        from . import repeated  # not at start-up

        repeated.update(self, *found[:4], b)
        return True
    if b is not None and not on_host(a):
        # Atomics where their order does not matter, or sums of floats take any; from 32 bits on.
        name, value = self.name, _combined(self.name, a, b)
        if value is not None:
            _core.scatter(*found[:4], value, _COMBINES[name])
            return True
        if _widens(name, a, b):
            wide = a.astype(numpy.int32 if a.dtype.kind in "iu" else numpy.float32)
            _at(self, wide, indices, b)
            a[...] = wide
            return True
    _core.update(self, *found[:4], b, found[4])
    return True


# ufunc.at on a GPU in terms of the scatters of `_core.scatter`.
_COMBINES = {"add": "add", "subtract": "add", "minimum": "minimum", "maximum": "maximum"}


def _combined(name, a, b):
    """What atomics combine with elements of `a`, in their type; None where the ufunc's loop is
    another one than that of `a`.
    """
    if name not in _COMBINES or kind_of(a.dtype) not in "iufc" or dtypes.is_half(a.dtype):
        return None
    if a.dtype.itemsize < 4:
        return None
    b = to_ndarray(b)
    adds = _COMBINES[name] == "add"
    if not adds and (a.dtype.kind == "c" or not dtypes.can_cast(b.dtype, a.dtype, "safe")):
        return None
    if adds and a.dtype.kind in "iu":
        # Sums wrap around alike in all widths, so that only the kind matters.
        if dtypes.result_type(a.dtype, b.dtype).kind not in "iu" or b.dtype.kind == "b":
            return None
        if not dtypes.can_cast(dtypes.result_type(a.dtype, b.dtype), a.dtype, "same_kind"):
            return None
    elif dtypes.result_type(a.dtype, b.dtype) != a.dtype:
        return None
    b = b.astype(a.dtype)
    return UFUNCS["negative"](b) if name == "subtract" else b


def _widens(name, a, b):
    """Whether a scatter into a wider copy of `a`, elements of less than 32 bits, gives the same:
    sums wrap around alike, and extremes are elements.
    """
    if name not in _COMBINES or a.dtype.itemsize >= 4 or kind_of(a.dtype) not in "iuf":
        return False
    adds, dtype = _COMBINES[name] == "add", to_ndarray(b).dtype
    if adds:
        return a.dtype.kind in "iu" and dtypes.result_type(a.dtype, dtype).kind in "iu"
    return dtypes.can_cast(dtype, a.dtype, "safe")


def attach():
    """Gives the methods and NumPy's descriptive attributes to `_core.ufunc`."""
    kind = _core.ufunc
    state.by_signature = _by_signature
    state.of_tensors = _of_tensors
    for function in (reduce, outer, at):
        attach_method(function.__name__, function)
    for name in ("nargs", "ntypes", "types", "identity", "signature"):
        if not hasattr(kind, name):
            setattr(kind, name, property(lambda self, name=name: getattr(_real(self), name)))
    # A ufunc is pickled by its name in the module of its class.
    kind.__reduce__ = lambda self: self.name
    kind.resolve_dtypes = lambda self, *a, **k: _real(self).resolve_dtypes(*a, **k)
