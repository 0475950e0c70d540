"""Element-wise functions composed of rows: rounding, complex parts, tests, NaN replacement."""

import numpy

from .._core import generic, ndarray
from ..core import dtypes
from ..core.devices import to_device
from ..core.dtypes import kind_of
from ..core.errors import many_axes, message, one_int
from ..core.given import host_array
from ..core.host import same_memory
from ..core.operands import dtype_of, on_its_memory, operand, require_cast, to_ndarray
from ..core.quick import quick
from ..core.ufuncs import UFUNCS, cast_all, types_of
from . import names as np
from .names import compiled as _compiled
from .names import not_yet
from .registry import Any, Array, DTypeArg, Flag, Operand, OutBroadcast, function, ufunc

__all__ = [
    "around",
    "astype",
    "imag",
    "iterable",
    "ndim",
    "real",
    "result_type",
    "round",
    "shape",
    "size",
]


def round(a, decimals=0, out=None):
    """`a` rounded to `decimals` places, halves to even; integers stay as they are for decimals >=
    0.
    """
    a = operand(a)
    if type(decimals) is not int:
        decimals = one_int("round", "decimals", decimals)
    if out is not None and getattr(out, "shape", ()) != getattr(a, "shape", ()):
        found = getattr(out, "shape", type(out).__name__)
        raise ValueError(message("round", "wrong shape of out", found, getattr(a, "shape", ())))
    dtype = dtype_of(a)
    kind = dtype.kind
    if kind in "iu" and decimals >= 0:
        return UFUNCS["positive"](a, out=out)
    if decimals == 0:
        return UFUNCS["rint"](a, out=out)
    if kind == "b" and out is None:
        require_cast("round", numpy.dtype(float), dtype, "same_kind")
    scale = 10.0 ** abs(decimals)
    first, second = ("multiply", "divide") if decimals > 0 else ("divide", "multiply")
    whole = UFUNCS["rint"](UFUNCS[first](a, scale))
    result = UFUNCS[second](whole, scale, out=out)
    return result.astype(dtype) if kind in "iu" and out is None else result


around = round


def _divmod_with_keywords(x1, x2, out1=None, out2=None, /, out=(None, None), **kwargs):
    if not isinstance(out, tuple):
        raise TypeError(message("divmod", "out", type(out).__name__, "a tuple of two arrays"))
    if len(out) != 2:
        raise ValueError(message("divmod", "out", f"{len(out)} entries", "one for each result"))
    if out1 is not None or out2 is not None:
        if out != (None, None):
            raise TypeError(message("divmod", "out given twice", "both", "one of them"))
        out = out1, out2
    x1, x2 = operand(x1), operand(x2)
    if out[0] is not None:
        # The second result is not to be computed of what the first one overwrites.
        into = to_ndarray(out[0])
        x1, x2 = [x.copy() if type(x) is ndarray and same_memory(x, into) else x for x in (x1, x2)]
    given = [kwargs.pop(key) for key in ("signature", "sig") if key in kwargs]
    if len(given) > 1:
        raise TypeError(message("divmod", "both sig and signature", "both", "one of them"))
    if given:
        types = types_of("divmod", numpy.divmod, given[0], kwargs, (x1, x2), 2)
        x1, x2 = cast_all((x1, x2), types)
    return _divmod(x1, x2, out, **kwargs)


def _divmod(
    x1: Operand,
    x2: Operand,
    /,
    out: Any = (None, None),
    where: Any = True,
    casting: Any = "same_kind",
    order: Any = "K",
    dtype: DTypeArg = None,
    subok: Any = True,
):
    """Quotient and remainder element-wise: `(x1 // x2, x1 % x2)`, broadcast; a pair of arrays.

    out: a pair of arrays or None. where, casting, order, dtype and subok are those of any ufunc.
    """
    first, second = out
    if _compiled and first is not None:  # which may be one of them
        x1 = x1.copy() if isinstance(x1, numpy.ndarray) else x1
        x2 = x2.copy() if isinstance(x2, numpy.ndarray) else x2
    quotient = np.floor_divide(
        x1, x2, out=first, where=where, casting=casting, order=order, dtype=dtype, subok=subok
    )
    return quotient, np.remainder(
        x1, x2, out=second, where=where, casting=casting, order=order, dtype=dtype, subok=subok
    )


_divmod_with_keywords.__name__ = _divmod_with_keywords.__qualname__ = "divmod"
_divmod_with_keywords.__doc__ = _divmod.__doc__
divmod = ufunc("np.divmod", _divmod, quick("divmod")(_divmod_with_keywords))


@function("np.fix")
def fix(x: Operand, out: OutBroadcast = None):
    """Rounded towards zero."""
    return np.trunc(x)


@quick("real")
def real(val):
    """The real part: a view of an array."""
    return val.real if hasattr(val, "real") else to_ndarray(val).real


@quick("imag")
def imag(val):
    """The imaginary part: a view of a complex array."""
    return val.imag if hasattr(val, "imag") else to_ndarray(val).imag


@function("np.angle")
def angle(z: Operand, deg: Flag = False):
    """The angle of complex numbers, in radians or degrees."""
    if np.result_type(z).kind == "c":
        phase = np.arctan2(np.imag(z), np.real(z))
    else:
        phase = np.arctan2(0, z)
    return phase * (180 / np.pi) if deg else phase


@function("np.iscomplexobj")
def iscomplexobj(x: Any):
    """Whether `x` has a complex dtype."""
    if _compiled:
        return np.result_type(x).kind == "c"
    return dtype_of(x).kind == "c"


@function("np.isrealobj")
def isrealobj(x: Any):
    """Whether `x` has a dtype that is not complex."""
    return not np.iscomplexobj(x)


@function("np.iscomplex")
def iscomplex(x: Operand):
    """True where an element has an imaginary part that is not zero."""
    return np.imag(x) != 0


@function("np.isreal")
def isreal(x: Operand):
    """True where an element has no imaginary part."""
    return np.imag(x) == 0


@function("np.isposinf")
def isposinf(x: Operand, out: OutBroadcast = None):
    """True for +inf. TypeError for complex numbers."""
    _check_ordered("isposinf", x)
    return np.logical_and(np.isinf(x), np.greater(x, 0))


@function("np.isneginf")
def isneginf(x: Operand, out: OutBroadcast = None):
    """True for -inf. TypeError for complex numbers."""
    _check_ordered("isneginf", x)
    return np.logical_and(np.isinf(x), np.less(x, 0))


def _check_ordered(op, x):
    if np.result_type(x).kind == "c":
        raise TypeError(f"[{op}] no order among complex numbers; got some; expected real ones")


@function("np.isscalar")
def isscalar(element: Any):
    """Whether `element` is a scalar, a generic among them."""
    if _compiled:
        return not isinstance(element, numpy.ndarray) and not isinstance(element, (tuple, list))
    return type(element) is generic or numpy.isscalar(element)


def iterable(y):
    """Whether `y` can be iterated over."""
    if type(y) in (ndarray, generic):
        return y.ndim > 0
    return numpy.iterable(y)


@function("np.nan_to_num")
def nan_to_num(
    x: Any,
    copy: Flag = True,
    nan: Operand = 0.0,
    posinf: Operand = None,
    neginf: Operand = None,
):
    """NaNs and infinities replaced by numbers: by default 0 and the largest finite values.

    copy: False changes `x` itself; ValueError where it is a number, a list or a tuple. Of complex
    numbers the parts are replaced.
    """
    if _compiled:
        if not copy and (isinstance(x, (tuple, list)) or not isinstance(x, numpy.ndarray)):
            raise ValueError("[nan_to_num] copy=False; got no array; expected an array")
        x = np.asarray(x)
    else:
        if not copy and isinstance(x, (tuple, list, int, float, complex, numpy.generic)):
            raise ValueError("[nan_to_num] copy=False; got no array; expected an array")
        x = to_ndarray(x) if copy else on_its_memory(x)
    result = x.copy() if copy else x
    if x.dtype.kind == "c":
        result.real[...] = _finite(x.real, nan, posinf, neginf)
        result.imag[...] = _finite(x.imag, nan, posinf, neginf)
    elif kind_of(x.dtype) == "f":
        result[...] = _finite(x, nan, posinf, neginf)
    return result if x.ndim else result[()]


def _expect_real(value):
    if value is not None and np.iscomplexobj(value):
        raise TypeError("[nan_to_num] replacement; got a complex number; expected a real one")


def _finite(x, nan, posinf, neginf):
    _expect_real(nan)
    _expect_real(posinf)
    _expect_real(neginf)
    most = np.finfo(x.dtype).max
    high = np.where(x == np.inf, most if posinf is None else posinf, x)
    low = np.where(x == -np.inf, -most if neginf is None else neginf, high)
    return np.where(np.isnan(x), nan, low)


@function("np.real_if_close")
def real_if_close(a: Array, tol: Any = 100):
    """The real part if all imaginary parts are within `tol` machine epsilons (or below `tol`) of
    zero. Compiled functions take real numbers: the type hangs on the values of complex ones.
    """
    if a.dtype.kind != "c":
        return a
    if _compiled:
        not_yet("np.real_if_close() of complex numbers, whose type hangs on values", "x.real, or x")
    if tol > 1:
        tol = dtypes.finfo(a.dtype).eps * tol
    return a.real if bool((UFUNCS["absolute"](a.imag) < float(tol)).all()) else a


@function("np.sinc")
def sinc(x: Operand):
    """sin(πx)/(πx), and 1 at 0."""
    y = np.pi * np.asarray(x)
    # As NumPy has it: a number so small that its sine is itself, and that half floats have, too.
    small = np.finfo(y.dtype).eps if kind_of(y.dtype) == "f" else 1e-20
    y = np.where(y == 0, small, y)
    return np.sin(y) / y


def ndim(a):
    """Number of axes."""
    return a.ndim if hasattr(a, "ndim") else host_array(a).ndim


def shape(a):
    """Extents of the axes."""
    return a.shape if hasattr(a, "shape") else host_array(a).shape


def size(a, axis=None):
    """Number of elements, or the extent of `axis`."""
    if axis is None and type(a) is ndarray:
        return a.size
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


@quick("result_type")
def result_type(*arrays_and_dtypes):
    """The dtype that NumPy's promotion gives; Python numbers are weak."""
    return dtypes.result_type(
        *[x.dtype if type(x) in (ndarray, generic) else x for x in arrays_and_dtypes]
    )
