"""Element-wise functions composed of rows: rounding, complex parts, tests, NaN replacement."""

import numpy

from .. import _core
from .._core import generic, ndarray
from ..core.devices import to_device
from ..core.errors import many_axes, message
from ..core.fallback import call
from ..core.operands import dtype_of, operand, to_ndarray
from ..core.ufuncs import UFUNCS

__all__ = [
    "angle",
    "around",
    "astype",
    "fix",
    "imag",
    "iscomplex",
    "iscomplexobj",
    "isneginf",
    "isposinf",
    "isreal",
    "isrealobj",
    "isscalar",
    "iterable",
    "nan_to_num",
    "ndim",
    "real",
    "real_if_close",
    "result_type",
    "round",
    "shape",
    "sinc",
    "size",
]


def round(a, decimals=0, out=None):
    """`a` rounded to `decimals` places, halves to even; integers stay as they are for decimals >=
    0.
    """
    a = operand(a)
    if out is not None and getattr(out, "shape", ()) != getattr(a, "shape", ()):
        found = getattr(out, "shape", type(out).__name__)
        raise ValueError(message("round", "wrong shape of out", found, getattr(a, "shape", ())))
    kind = dtype_of(a).kind
    if kind not in "fc":
        if decimals < 0 or kind == "b":
            return call("numpy.round", numpy.round, (a, decimals, out), {})
        return UFUNCS["positive"](a, out=out)
    if decimals == 0:
        return UFUNCS["rint"](a, out=out)
    scale = 10.0 ** abs(decimals)
    first, second = ("multiply", "divide") if decimals > 0 else ("divide", "multiply")
    return UFUNCS[second](UFUNCS["rint"](UFUNCS[first](a, scale)), scale, out=out)


around = round


def fix(x, out=None):
    """Rounded towards zero."""
    return UFUNCS["trunc"](x, out=out)


def real(val):
    """The real part: a view of an array."""
    return val.real if hasattr(val, "real") else to_ndarray(val).real


def imag(val):
    """The imaginary part: a view of a complex array."""
    return val.imag if hasattr(val, "imag") else to_ndarray(val).imag


def angle(z, deg=False):
    """The angle of complex numbers, in radians or degrees."""
    z = operand(z)
    if dtype_of(z).kind == "c":
        re, im = real(z), imag(z)
    else:
        re, im = z, 0.0
    result = UFUNCS["arctan2"](im, re)
    return result * (180 / numpy.pi) if deg else result


def iscomplexobj(x):
    """Whether `x` has a complex dtype."""
    return dtype_of(x).kind == "c"


def isrealobj(x):
    """Whether `x` has a dtype that is not complex."""
    return not iscomplexobj(x)


def iscomplex(x):
    """True where an element has an imaginary part that is not zero."""
    x = to_ndarray(x)
    result = x.imag != 0 if x.dtype.kind == "c" else _core.full(x.shape, False, numpy.dtype(bool))
    return result if result.ndim else result[()]


def isreal(x):
    """True where an element has no imaginary part."""
    return imag(to_ndarray(x)) == 0


def _infinite(op, x, sign, out):
    x = operand(x)
    if dtype_of(x).kind == "c":
        raise TypeError(message(op, "no order among complex numbers", dtype_of(x), "a real dtype"))
    return UFUNCS["logical_and"](UFUNCS["isinf"](x), UFUNCS[sign](x, 0), out=out)


def isposinf(x, out=None):
    """True for +inf."""
    return _infinite("isposinf", x, "greater", out)


def isneginf(x, out=None):
    """True for -inf."""
    return _infinite("isneginf", x, "less", out)


def isscalar(element):
    """Whether `element` is a scalar, a generic among them."""
    return type(element) is generic or numpy.isscalar(element)


def iterable(y):
    """Whether `y` can be iterated over."""
    if type(y) in (ndarray, generic):
        return y.ndim > 0
    return numpy.iterable(y)


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """NaNs and infinities replaced by numbers: by default 0 and the largest finite values."""
    a = to_ndarray(x)
    if a.dtype.kind not in "fc":
        return a.copy() if copy else a
    if a.dtype.kind == "c":
        args = (x, copy, nan, posinf, neginf)
        return call("numpy.nan_to_num", numpy.nan_to_num, args, {})
    limits = numpy.finfo(a.dtype)
    high = float(limits.max) if posinf is None else posinf
    low = float(limits.min) if neginf is None else neginf
    result = _core.where(UFUNCS["isnan"](a), nan, a)
    result = _core.where(UFUNCS["equal"](result, float("inf")), high, result)
    result = _core.where(UFUNCS["equal"](result, float("-inf")), low, result)
    if copy or type(x) is not ndarray:
        return result
    _core.copyto(a, result)
    return a


def real_if_close(a, tol=100):
    """The real part if all imaginary parts are within `tol` machine epsilons (or below `tol`) of
    zero.
    """
    a = to_ndarray(a)
    if a.dtype.kind != "c":
        return a
    if tol > 1:
        tol = numpy.finfo(a.dtype).eps * tol
    return a.real if bool((UFUNCS["absolute"](a.imag) < float(tol)).all()) else a


def sinc(x):
    """sin(πx)/(πx), and 1 at 0."""
    x = operand(x)
    x = x if type(x) in (ndarray, generic) else to_ndarray(x)[()]
    if x.dtype.kind not in "fc":
        x = x.astype(float)
    y = numpy.pi * x
    # As NumPy has it: a number so small that its sine is itself, and that half floats have, too.
    small = float(numpy.finfo(y.dtype).eps) if y.dtype.kind == "f" else 1e-20
    y = _core.where(UFUNCS["equal"](y, 0), small, y)
    return UFUNCS["sin"](y) / y


def ndim(a):
    """Number of axes."""
    return a.ndim if hasattr(a, "ndim") else numpy.ndim(a)


def shape(a):
    """Extents of the axes."""
    return a.shape if hasattr(a, "shape") else numpy.shape(a)


def size(a, axis=None):
    """Number of elements, or the extent of `axis`."""
    extents = shape(a)
    result = 1
    for i in many_axes("size", axis, len(extents)):
        result *= extents[i]
    return result


def astype(x, dtype, /, *, copy=True, device=None):
    """`x` converted to `dtype`; without `copy` an array that has it already comes back itself."""
    if not isinstance(x, (ndarray, numpy.ndarray, generic)):
        raise TypeError(message("astype", "not an array", type(x).__name__, "an ndarray"))
    result = x.astype(dtype, copy=bool(copy))
    return result if device is None else to_device(result, device)


def result_type(*arrays_and_dtypes):
    """The dtype that NumPy's promotion gives; Python numbers are weak."""
    return numpy.result_type(
        *[x.dtype if type(x) in (ndarray, generic) else x for x in arrays_and_dtypes]
    )
