"""The ufuncs: rows of the table under NumPy's names and aliases, and the methods reduce, outer,
at (accumulate and reduceat are in functions/cumulative).
"""

import numpy

from .. import _core
from .._core import ndarray
from .errors import ForeignDtype, many_axes, message
from .fallback import call, lookup
from .host import on_host
from .indexing import advanced, is_basic
from .operands import as_dtype, operand, to_ndarray
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


_FIRST = numpy.zeros(1, numpy.int64)  # where the one segment of a reduction begins


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


@_core.composed
@quick("divmod")
def divmod(x1, x2, out1=None, out2=None, /, out=(None, None), **kwargs):
    """Quotient and remainder element-wise: `(x1 // x2, x1 % x2)`, broadcast; a pair of arrays.

    out: a pair of arrays or None. kwargs: where, casting, order, dtype and subok, as of any ufunc.
    """
    if not isinstance(out, tuple) or len(out) != 2:
        raise TypeError(message("divmod", "out", type(out).__name__, "a tuple of two arrays"))
    if out1 is not None or out2 is not None:
        if out != (None, None):
            raise TypeError(message("divmod", "out given twice", "both", "one of them"))
        out = out1, out2
    first, second = out
    if first is not None or not kwargs.keys() <= {"where", "casting", "order", "dtype", "subok"}:
        # The second result is not to be computed of what the first one overwrites.
        return call("numpy.divmod", numpy.divmod, (x1, x2), {"out": out, **kwargs})
    try:
        x1, x2 = operand(x1), operand(x2)
    except ForeignDtype:
        return call("numpy.divmod", numpy.divmod, (x1, x2), kwargs)
    quotient = UFUNCS["floor_divide"](x1, x2, **kwargs)
    return quotient, UFUNCS["remainder"](x1, x2, out=second, **kwargs)


def _real(ufunc):
    return getattr(numpy, ufunc.name)


def _fall_back(ufunc, method, *args, **kwargs):
    return call(f"numpy.{ufunc.name}.{method}", getattr(_real(ufunc), method), args, kwargs)


@quick("reduce")
def reduce(self, array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """Reduces `array` along `axis` (int, tuple or None for all) by repeated application of the
    ufunc.
    """
    if self.nin != 2:
        raise ValueError(message(f"{self.name}.reduce", "not a binary ufunc", self.nin, "2 inputs"))
    name = _REDUCTIONS.get(self.name)
    if name is None and initial is None and where is True and out is None:
        result = _folded(self, array, axis, dtype, keepdims)
        if result is not None:
            return result
    logical = name in ("any", "all") and dtype is not None and numpy.dtype(dtype) != bool
    if name is None or initial is not None or where is not True or logical:
        kwargs = {"axis": axis, "dtype": dtype, "out": out, "keepdims": keepdims, "where": where}
        if initial is not None:
            kwargs["initial"] = initial
        return _fall_back(self, "reduce", array, **kwargs)
    a = to_ndarray(array)
    axes = many_axes(f"{self.name}.reduce", axis, a.ndim) if a.ndim or axis not in (0, -1) else ()
    if dtype is not None:
        dtype = numpy.dtype(dtype)
        if name in ("max", "min"):
            a, dtype = a.astype(dtype), None
    if out is not None:
        kwargs = {"axis": axis, "dtype": dtype, "out": out, "keepdims": keepdims}
        return _fall_back(self, "reduce", array, **kwargs)
    return _core.reduce(name, a, axes, keepdims, dtype, None, 0)


def _folded(self, array, axis, dtype, keepdims):
    """reduce() without a row in the table of reductions: folds of one segment, in order; None where
    there is nothing to fold, or only NumPy can say what is right.
    """
    op = f"{self.name}.reduce"
    try:
        a, dtype = to_ndarray(array), as_dtype(op, dtype)
        axes = many_axes(op, axis, a.ndim) if a.ndim else None
        axes = range(a.ndim) if axes is None else axes
        # Several axes have no order; an identity is the sign that none is needed.
        if not a.ndim or not a.size or not axes or (len(axes) > 1 and _real(self).identity is None):
            return None
        for d in axes:
            a = _core.reduceat(self, a, _FIRST, d, dtype, None)
    except (ForeignDtype, NotImplementedError):
        return None
    return a if keepdims else a[tuple([0 if d in axes else slice(None) for d in range(a.ndim)])]


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
    if type(a) is ndarray:
        if not a._writeable:
            raise ValueError(message(op, "destination is read-only", a.shape, "a copy"))
        try:
            if type(b) is int and b.bit_length() > 63:
                b = numpy.asarray(b)
            if b is not None and type(b) not in (int, float, complex):
                b = to_ndarray(b)
            if _at(self, a, indices, b):
                return None
        except (ForeignDtype, NotImplementedError):
            pass
    args = (a, indices) if b is None else (a, indices, b)
    return _fall_back(self, "at", *args)


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
    if name not in _COMBINES or a.dtype.kind not in "iufc" or a.dtype == numpy.float16:
        return None
    if a.dtype.itemsize < 4:
        return None
    b = to_ndarray(b)
    adds = _COMBINES[name] == "add"
    if not adds and (a.dtype.kind == "c" or not numpy.can_cast(b.dtype, a.dtype, "safe")):
        return None
    if adds and a.dtype.kind in "iu":
        # Sums wrap around alike in all widths, so that only the kind matters.
        if numpy.result_type(a.dtype, b.dtype).kind not in "iu" or b.dtype.kind == "b":
            return None
        if not numpy.can_cast(numpy.result_type(a.dtype, b.dtype), a.dtype, "same_kind"):
            return None
    elif numpy.result_type(a.dtype, b.dtype) != a.dtype:
        return None
    b = b.astype(a.dtype)
    return UFUNCS["negative"](b) if name == "subtract" else b


def _widens(name, a, b):
    """Whether a scatter into a wider copy of `a`, elements of less than 32 bits, gives the same:
    sums wrap around alike, and extremes are elements.
    """
    if name not in _COMBINES or a.dtype.itemsize >= 4 or a.dtype.kind not in "iuf":
        return False
    adds, dtype = _COMBINES[name] == "add", to_ndarray(b).dtype
    if adds:
        return a.dtype.kind in "iu" and numpy.result_type(a.dtype, dtype).kind in "iu"
    return numpy.can_cast(dtype, a.dtype, "safe")


def attach():
    """Gives the methods and NumPy's descriptive attributes to `_core.ufunc`."""
    kind = _core.ufunc
    for function in (reduce, outer, at):
        setattr(kind, function.__name__, _core.composed(function))
    for name in ("nargs", "ntypes", "types", "identity", "signature"):
        if not hasattr(kind, name):
            setattr(kind, name, property(lambda self, name=name: getattr(_real(self), name)))
    # A ufunc is pickled by its name in the module of its class.
    kind.__reduce__ = lambda self: self.name
    kind.resolve_dtypes = lambda self, *a, **k: _real(self).resolve_dtypes(*a, **k)
