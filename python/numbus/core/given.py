"""What an object of a user's stands for as an array, where NumPy would refuse its `__array__`: it
takes what that gives only if it is an array of its own, here it may be one of ours.
"""

import warnings

import numpy

from .._core import generic, ndarray

_REFUSED = "object __array__ method not producing an array"
_WITHOUT_COPY = (
    "[array] __array__ was asked for no copy, but takes no copy keyword; it is called without one, "
    "which NumPy will come to refuse; expected __array__(self, dtype=None, copy=None)"
)


def _method(x):
    """The `__array__` that NumPy would call to convert `x`; None: it has another way, or none."""
    if isinstance(x, (type, numpy.ndarray, numpy.generic, ndarray, generic)):
        return None
    method = getattr(x, "__array__", None)
    if method is None or hasattr(x, "__array_interface__") or hasattr(x, "__array_struct__"):
        return None
    return method


def given(x, dtype=None, copy=None):
    """The array, ours or NumPy's, that `x.__array__` gives, and whether it has made the copy that
    `copy` asks for; `x` itself where it has no such method. `dtype` and `copy` are handed on as
    NumPy does, so methods that take no argument, a type alone or no copy are called, too.
    """
    method = _method(x)
    if method is None:
        return x, False
    types = () if dtype is None else (numpy.dtype(dtype),)
    if copy is None:
        made = method(*types)
    else:
        try:
            return _checked(method(*types, copy=copy)), copy
        except TypeError as error:
            if "copy" not in str(error) or "unexpected keyword" not in str(error):
                if "takes no keyword arguments" not in str(error):
                    raise
            if not copy:
                warnings.warn(_WITHOUT_COPY, DeprecationWarning, stacklevel=4)
        made = method(*types)
    return _checked(made), False


def _checked(made):
    if not isinstance(made, (ndarray, generic, numpy.ndarray)):
        raise ValueError(_REFUSED)
    return made


def settled(x):
    """`x` with what is inside of lists, tuples and dicts as NumPy's arrays where it has an
    `__array__`.
    """
    kind = type(x)
    if kind in (list, tuple):
        return kind([settled(item) for item in x])
    if kind is dict:
        return {key: settled(item) for key, item in x.items()}
    if _method(x) is None:
        return x
    made, _ = given(x)
    return numpy.asarray(made)


def refused(error):
    """Whether NumPy raised a ValueError, `error` or its text, as an `__array__` gave no array of
    its own.
    """
    return str(error) == _REFUSED


def host_array(x, dtype=None, copy=None, order="K"):
    """`x` as an array of NumPy's, as numpy.array makes it; of objects that give ours, too."""
    made, copied = given(x, dtype, copy)
    try:
        return numpy.array(made, dtype, copy=None if copied else copy, order=order)
    except ValueError as error:
        if not refused(error):
            raise
    return numpy.array(settled(made), dtype, copy=copy, order=order)


def array_like(x):
    """`x` as an array, ours where its `__array__` gives one of ours, else NumPy's."""
    made, _ = given(x)
    if type(made) is generic:
        return made._array()
    return made if type(made) is ndarray else host_array(made)
