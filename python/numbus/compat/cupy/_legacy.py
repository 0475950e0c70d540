"""Names that CuPy has and NumPy 2 has dropped: constants, types, older names of functions."""

import numpy
from numpy.exceptions import (
    AxisError,
    ComplexWarning,
    ModuleDeprecationWarning,
    RankWarning,
    TooHardError,
    VisibleDeprecationWarning,
)
from numpy.rec import format_parser

import numbus

from ...core import dtypes

Inf = Infinity = PINF = infty = numpy.inf
NINF = -numpy.inf
NAN = NaN = numpy.nan
NZERO, PZERO = -0.0, 0.0
float_ = numpy.float64
cfloat = complex_ = numpy.complex128
singlecomplex = numpy.complex64
DataSource = numpy.lib.npyio.DataSource
disable_experimental_feature_warning = False

_OLDER = {
    "alltrue": "all",
    "cumproduct": "cumprod",
    "product": "prod",
    "round_": "round",
    "row_stack": "vstack",
    "sometrue": "any",
    "trapz": "trapezoid",
}


def _older(name, new):
    def function(*args, **kwargs):
        return getattr(numbus, new)(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The older name of {new}."
    return function


globals().update({name: _older(name, new) for name, new in _OLDER.items()})


def in1d(ar1, ar2, assume_unique=False, invert=False):
    """isin of the elements of `ar1` as a 1-d array."""
    flat = numbus.ravel(numbus.asarray(ar1))
    return numbus.isin(flat, ar2, assume_unique=assume_unique, invert=invert)


def asfarray(a, dtype=numpy.float64):
    """An array of a floating type."""
    return numbus.asarray(a, dtype if numpy.issubdtype(dtype, numpy.inexact) else numpy.float64)


def msort(a):
    """A copy sorted along the first axis."""
    return numbus.sort(a, axis=0)


def byte_bounds(a):
    """(lowest, highest + 1) addresses of an array's elements."""
    ends = [(n - 1) * step for n, step in zip(a.shape, a.strides)] if a.size else []
    low = a._pointer + sum(e for e in ends if e < 0)
    high = a._pointer + sum(e for e in ends if e > 0) + (a.itemsize if a.size else 0)
    return low, high


def disp(mesg, device=None, linefeed=True):
    """Prints a message, with an end of line or without."""
    print(mesg, end="\n" if linefeed else "", file=device)


def find_common_type(array_types, scalar_types):
    """The type of arrays and numbers together."""
    return dtypes.result_type(*array_types, *scalar_types)


def obj2sctype(rep, default=None):
    """The scalar type that an object stands for."""
    if isinstance(rep, type) and issubclass(rep, numpy.generic):
        return rep
    try:
        return numpy.dtype(rep if not hasattr(rep, "dtype") else rep.dtype).type
    except TypeError:
        return default


def sctype2char(sctype):
    """The one-letter code of a type."""
    return numpy.dtype(sctype).char


def issctype(rep):
    """Whether an object is a scalar type or a dtype."""
    return isinstance(rep, (type, numpy.dtype)) and obj2sctype(rep) not in (None, numpy.object_)


def issubclass_(arg1, arg2):
    """issubclass that says False for what is no class."""
    try:
        return issubclass(arg1, arg2)
    except TypeError:
        return False


def issubsctype(arg1, arg2):
    """Whether one scalar type is below the other."""
    return issubclass(obj2sctype(arg1), obj2sctype(arg2))


__all__ = [
    "NAN",
    "NINF",
    "NZERO",
    "PINF",
    "PZERO",
    "AxisError",
    "ComplexWarning",
    "DataSource",
    "Inf",
    "Infinity",
    "ModuleDeprecationWarning",
    "NaN",
    "RankWarning",
    "TooHardError",
    "VisibleDeprecationWarning",
    "asfarray",
    "byte_bounds",
    "cfloat",
    "complex_",
    "disable_experimental_feature_warning",
    "disp",
    "find_common_type",
    "float_",
    "format_parser",
    "in1d",
    "infty",
    "issctype",
    "issubclass_",
    "issubsctype",
    "msort",
    "obj2sctype",
    "sctype2char",
    "singlecomplex",
    *_OLDER,
]
