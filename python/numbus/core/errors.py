"""Errors and the checking of axes, shared by every function that takes an axis."""

import operator

import numpy
from numpy import exceptions

from .._core import generic, ndarray


class AxisError(exceptions.AxisError):
    """numpy.exceptions.AxisError with the attributes `axis` and `ndim`; its text holds NumPy's,
    for programs that look for it.
    """

    def __init__(self, op, axis, ndim):
        super().__init__(axis, ndim)
        self._text = (
            f"[{op}] axis {axis} is out of bounds for array of dimension {ndim}; got {axis}; "
            f"expected {-ndim} <= axis < {ndim}"
        )

    def __str__(self):
        return self._text

    def __reduce__(self):
        return exceptions.AxisError, (self.axis, self.ndim)


class ForeignDtype(TypeError):
    """An operand that Numbus cannot hold (object, text, dates, subclasses): NumPy must
    do the work.
    """


class ForeignOperand(ForeignDtype):
    """An operand that Numbus cannot hold; its one argument is the operand's type. The message is
    made when str() is called: that takes ten times as long as NumPy's work on a small array.
    """

    def __str__(self):
        return message("array", "unsupported element type", self.args[0], "a Numbus dtype")


def message(op, wrong, got, expected):
    """The one form of every error message."""
    return f"[{op}] {wrong}; got {got}; expected {expected}"


def one_axis(op, axis, ndim):
    """`axis` as an int in [0, ndim). Raises AxisError, or TypeError if it is no integer."""
    try:
        index = operator.index(axis)
    except TypeError:
        raise TypeError(
            message(op, "axis is not an integer", type(axis).__name__, "an int")
        ) from None
    if not -ndim <= index < ndim:
        raise AxisError(op, index, ndim)
    return index + ndim if index < 0 else index


def many_axes(op, axis, ndim, allow_duplicate=False):
    """`axis` (None for all, an int or a sequence of ints) as a tuple of ints in [0, ndim)."""
    if axis is None:
        return tuple(range(ndim))
    if isinstance(axis, (tuple, list)):
        axes = tuple([one_axis(op, item, ndim) for item in axis])
        if not allow_duplicate and len(set(axes)) != len(axes):
            raise ValueError(message(op, "duplicate axis", axis, "distinct axes"))
        return axes
    return (one_axis(op, axis, ndim),)


def no_flags(op, axis):
    """`axis`, an int or a sequence of them, or a size. Raises TypeError for booleans, which some of
    NumPy's functions take for integers and others refuse.
    """
    for item in axis if isinstance(axis, (tuple, list)) else (axis,):
        if isinstance(item, (bool, numpy.bool_)):
            raise TypeError(message(op, "a boolean where an integer belongs", item, "an int"))
    return axis


def one_flag(op, name, value):
    """A truth value that is no bool: 0 and 1, or NumPy's; TypeError for what has none."""
    try:
        return bool(value)
    except (TypeError, ValueError):
        raise TypeError(
            message(op, f"{name} has no truth value", type(value).__name__, "a bool")
        ) from None


def one_int(op, name, value):
    """A whole number of any type as an int; TypeError for anything else."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(
            message(op, f"{name} is not an integer", type(value).__name__, "an int")
        ) from None


def one_whole(op, name, value):
    """A whole number of any type, also of floats and booleans, as an int; TypeError for others."""
    found = None
    if not isinstance(value, (str, bytes)) and not getattr(value, "ndim", 0):
        try:
            found = int(value)
        except (TypeError, ValueError, OverflowError):
            found = None
    if found is None or found != value:
        raise TypeError(message(op, f"{name} is not an integer", value, "an int"))
    return found


CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe", "same_value")
# Words that NumPy compares in Python, or that may be numbers.
_COMPARED = ("method", "indexing", "mode")


def one_of(op, name, value, words):
    """The one of `words` that `value` is; ValueError where it is none of them, and for what is no
    text the error that NumPy has: TypeError where its C code reads the word.
    """
    for word in words:
        if value == word:
            return word
    expected = ", ".join([repr(word) for word in words])
    if not isinstance(value, (str, bytes)) and name not in _COMPARED:
        raise TypeError(message(op, f"{name} is no text", type(value).__name__, expected))
    raise ValueError(message(op, f"{name} not known", repr(value), expected))


_ORDERS = {None: None, **{letter: letter for letter in "CFAK"}}
_ORDERS |= {letter.lower(): letter for letter in "CFAK"}


def as_order(op, order, otherwise="K", allowed="CFAK"):
    """NumPy's order as one of the capital letters in `allowed`; None gives `otherwise`.

    Lower case means the same. Raises TypeError for what is no text, ValueError for other text.
    """
    if isinstance(order, bytes):
        order = order.decode("ascii", "replace")
    if order is not None and not isinstance(order, str):
        raise TypeError(message(op, "order is no text", type(order).__name__, "a str"))
    found = _ORDERS.get(order, "?") or otherwise
    if found not in allowed:
        expected = ", ".join([repr(letter) for letter in allowed])
        raise ValueError(message(op, "order not permitted", repr(order), expected))
    return found


def as_shape(op, shape):
    """A shape given as an int or a sequence of ints, as a tuple of int. Negative extents are
    refused.
    """
    if type(shape) is int and shape >= 0:
        return (shape,)
    if type(shape) is tuple:
        for extent in shape:
            if type(extent) is not int or extent < 0:
                break
        else:
            return shape
    if isinstance(shape, (tuple, list)):
        extents = shape
    elif isinstance(shape, (ndarray,)) and shape.ndim:
        extents = shape.tolist()
    elif hasattr(shape, "__index__") or isinstance(shape, generic):
        extents = (shape,)
    else:
        try:
            extents = tuple(shape)
        except TypeError:
            raise TypeError(
                message(op, "shape is not understood", repr(shape), "an int or a tuple of ints")
            ) from None
    try:
        if any([type(extent) is bool for extent in extents]):
            raise TypeError
        result = tuple([operator.index(extent) for extent in extents])
    except TypeError:
        raise TypeError(
            message(op, "shape holds something that is not an integer", repr(shape), "ints")
        ) from None
    if any([extent < 0 for extent in result]):
        raise ValueError(message(op, "negative extent", result, "extents >= 0"))
    return result
