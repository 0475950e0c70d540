"""Indices beyond slices and one mask: integer arrays, mixed and partial boolean indices.

The core hands them over. NumPy gathers and scatters on the zero-copy view: a library call, which
a plan node of the core replaces later.
"""

import numpy

from . import _core
from ._convert import adopt, to_numpy
from ._core import generic, ndarray
from ._errors import message
from ._host import writing


def plain(index):
    """`index` with every Numbus array in it as a NumPy array; lists become arrays as NumPy takes
    them.
    """
    if type(index) is tuple:
        return tuple([_plain_item(item) for item in index])
    return _plain_item(index)


def _plain_item(item):
    kind = type(item)
    if kind is ndarray or kind is generic:
        item = to_numpy(item)
    elif kind is list:
        item = numpy.asarray([to_numpy(x) for x in item]) if item else numpy.empty(0, numpy.intp)
    elif kind is slice:
        return slice(to_numpy(item.start), to_numpy(item.stop), to_numpy(item.step))
    if isinstance(item, (numpy.ndarray, numpy.generic)) and item.dtype.kind not in "biu":
        raise IndexError(
            message(
                "getitem", "arrays used as indices", f"dtype {item.dtype}", "integer or boolean"
            )
        )
    if isinstance(item, (str, bytes, float, complex)):
        raise IndexError(
            message(
                "getitem",
                "not a valid index",
                type(item).__name__,
                "integers, slices, Ellipsis, None, integer or boolean arrays",
            )
        )
    return item


def getitem(a, index):
    """`a[index]` by NumPy's rules for integer and boolean arrays: a copy; IndexError
    out of range.
    """
    view = numpy.asarray(a)
    index = plain(index)
    try:
        result = view[index]
    except IndexError as error:
        raise _explained("getitem", a, error) from None
    if not isinstance(result, numpy.ndarray):
        return _core.from_numpy(numpy.asarray(result))[()]
    if result.base is not None and numpy.may_share_memory(result, view):
        # A tuple that turned out to be basic: a view of `a`.
        return _core.from_numpy(result)
    return adopt(result)


def setitem(a, index, value):
    """`a[index] = value` by NumPy's rules, broadcasting `value`; repeated indices keep the last
    value.
    """
    if isinstance(value, (list, tuple)):
        value = numpy.asarray(value)
    elif isinstance(value, (ndarray, generic)):
        value = to_numpy(value)
    if not a._writeable:
        raise ValueError(
            message("setitem", "assignment destination is read-only", a.shape, "a copy")
        )
    index = plain(index)
    try:
        with writing(a) as real:
            real[index] = value
    except (IndexError, ValueError) as error:
        raise _explained("setitem", a, error) from None


def _explained(op, a, error):
    """NumPy's error, its first sentence kept, in the form of this library."""
    text = str(error).rstrip(". ").replace(";", ",")
    return type(error)(message(op, text, f"an array of shape {a.shape}", "an index that fits it"))
