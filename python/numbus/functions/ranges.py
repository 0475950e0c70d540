"""Arrays of regular values: ranges, spaces and grids."""

import math
import operator

import numpy

from .. import _core
from .._core import generic, ndarray
from ..core import dtypes
from ..core.devices import device as on_device
from ..core.devices import to_device
from ..core.errors import as_shape, message
from ..core.operands import adopt, as_dtype, check_like, dtype_of, to_ndarray
from ..core.operands import to_numpy as _to_numpy
from ..core.quick import makes, quick
from . import names as np
from .manipulation import moveaxis
from .names import compiled as _compiled
from .registry import Any, Array, Choice, DTypeArg, Flag, function

__all__ = [
    "arange",
    "fromfunction",
    "linspace",
    "mgrid",
    "ogrid",
]

_INT64 = numpy.dtype(numpy.int64)
_FLOAT64 = numpy.dtype(float)
_SHORT = numpy.dtype(numpy.float32), numpy.dtype(numpy.float16)
_LIMIT = 1 << 62


def _number(x):
    """A Python or NumPy number for a scalar argument, be it a generic or a 0-d array."""
    return _to_numpy(x)[()] if type(x) in (ndarray, generic) else x


@quick("arange")
def arange(start, stop=None, step=1, dtype=None, *, device=None, like=None):
    """`ceil((stop - start)/step)` values from `start` in steps of `step`; `arange(stop)` starts at
    0.

    dtype: promoted from the arguments. Raises ValueError for a length that no array can have.
    """
    if device is not None:
        with on_device(device):
            return arange(start, stop, step, dtype, like=like)
    if like is not None:
        check_like("arange", like)
    if stop is None:
        start, stop = 0, start
    if step is None:
        step = 1
    if type(start) is type(stop) is type(step) is int and dtype is None and step:
        n = max(0, -((start - stop) // step))
        if -_LIMIT < start < _LIMIT and -_LIMIT < stop < _LIMIT and n < _LIMIT:
            return _core.arange(start, step, n, _INT64)
    start, stop, step = _number(start), _number(stop), _number(step)
    if dtype is None:
        dtype = dtypes.result_type(_INT64, *[_own_type(x) for x in (start, stop, step)])
    dtype = as_dtype("arange", dtype)
    n, second = _length(start, stop, step)
    if dtype.kind == "b" and n > 2:
        raise TypeError(message("arange", "too long for bool", f"{n} values", "at most 2"))
    # NumPy looks at no value that the range has not, and rounds the first two to the dtype.
    ends = numpy.empty(min(n, 2), dtype)
    if n > 0:
        ends[0] = start.item() if isinstance(start, numpy.generic) else start
    if n > 1:
        ends[1] = second.item() if isinstance(second, numpy.generic) else second
    if n < 3:
        return adopt(ends)
    if dtype.kind == "c":
        result = _core.empty((n,), dtype)
        result.real, result.imag = _going_on(ends.real, n), _going_on(ends.imag, n)
        return result
    return _going_on(ends, n)


def _own_type(x):
    """A number, or the dtype of an int that int64 cannot hold."""
    return x if type(x) is not int or -(2**63) <= x < 2**63 else numpy.array(x).dtype


def _length(start, stop, step):
    """How many values a range has, and the second one; ValueError where no array has as many."""
    try:
        span = stop - start
        length = span / step
        if numpy.iscomplexobj(length):  # as many as both parts of the quotient have room for
            n = min(_whole(length.real), _whole(length.imag))
        elif length == 0 and span != 0:  # a quotient that is too small for its type
            n = 0 if numpy.signbit(length) else 1
        else:
            n = _whole(length)
        return n, start + step if n else None
    except OverflowError as e:
        raise ValueError(
            message("arange", "no such length", f"limits {start} and {stop}, step {step}",
                    "finite limits")
        ) from e  # fmt: skip


def _whole(length):
    if not -(2.0**63) <= length < 2.0**63:
        raise ValueError(message("arange", "no such length", f"{length}", "finite limits"))
    return max(0, math.ceil(length))


def _going_on(ends, n):
    """n values from the first of two numbers on, by steps of their difference; float16 is computed
    in float32.
    """
    dtype = ends.dtype
    if dtype.kind != "f":  # modulo 2**64, as all integers
        first, second = (int(x) for x in ends)
        first, step = ((x + 2**63) % 2**64 - 2**63 for x in (first, second - first))
        return _core.arange(first, step, n, dtype)
    within = dtype if dtype not in _SHORT else _SHORT[0]
    first, second = ends.astype(within)
    step = second - first
    result = _core.arange(float(first), float(step), n, within)
    if within != dtype:
        result = result.astype(dtype)
    steps = numpy.arange(2, dtype=within) * step  # which are NaN at first where the step is inf
    if (first + steps).astype(dtype).tobytes() != ends.tobytes():
        result[:2] = ends
    return result


@makes(numpy.linspace)
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    """`num` evenly spaced values from `start` to `stop`; arrays of limits give a new axis of
    samples.

    retstep: also returns the spacing. dtype: float64 at least unless given; integers are
    floored.
    """
    if device is not None:
        with on_device(device):
            start, stop = [_there(x) for x in (start, stop)]
            return linspace(start, stop, num, endpoint, retstep, dtype, axis)
    num = operator.index(num)
    if axis is None:
        raise TypeError(message("linspace", "axis is not an integer", axis, "an int"))
    if num < 0:
        raise ValueError(message("linspace", "negative number of samples", num, "num >= 0"))
    div = num - 1 if endpoint else num
    limits = start, stop
    start, stop = _limit(start), _limit(stop)
    given = dtypes.result_type(*[_weak(x) for x in limits], 1.0)
    final = as_dtype("linspace", dtype, given)
    delta = stop - start
    if getattr(delta, "dtype", given) != given:
        delta = delta.astype(given)
    values = _core.arange(0.0, 1.0, num, _real_dtype(given))
    ndim = getattr(delta, "ndim", 0)
    if ndim:
        values = values.reshape((num,) + (1,) * ndim)
        step = delta / div if div > 0 else float("nan")
        result = values * step if div > 0 else values * delta
    elif div > 0:
        step = delta / div
        result = values * step if step != 0 else (values / div) * delta
    else:
        step = float("nan")
        result = values * delta
    result = result + start
    if result.dtype != given:
        result = result.astype(given)
    if endpoint and num > 1:
        result[-1, ...] = stop
    if axis != 0:
        result = moveaxis(result, 0, axis)
    if final.kind in "iu":
        result = _core.floor(result)
    if result.dtype != final:
        result = result.astype(final)
    return (result, numpy.float64(step) if type(step) is float else step) if retstep else result


def _there(x):
    """An array of limits on the device of new arrays."""
    return to_device(x, _core.get_device()) if type(x) is ndarray else x


def _limit(x):
    """A limit of a space as a Python number (never an integer, whose difference could wrap) or an
    array.
    """
    if isinstance(x, (bool, int, float)):
        return float(x)
    if isinstance(x, complex):
        return x
    if type(x) is generic or isinstance(x, numpy.generic) or getattr(x, "ndim", 1) == 0:
        x = _to_numpy(x)[()]
        return numpy.multiply(x, 1.0) if x.dtype != _FLOAT64 else float(x)
    return to_ndarray(x) * 1.0


def _weak(x):
    return x if type(x) in (int, float, complex) else dtype_of(x)


def _real_dtype(dtype):
    return numpy.empty(0, dtype).real.dtype


@function("np.meshgrid")
def meshgrid(
    *xi: Array, copy: Flag = True, sparse: Flag = False, indexing: Choice("xy", "ij") = "xy"
):
    """Coordinate arrays of a grid over 1-D axes: a tuple of one array per axis.

    indexing: 'xy' (first axis of the grid is the second argument) or 'ij'. sparse: extents of 1
    where the values repeat.
    """
    swapped = indexing == "xy" and len(xi) > 1
    lines = _on_axes(xi, len(xi), swapped, 0)
    if sparse:
        return tuple([x.copy() for x in lines]) if copy else lines
    sizes = tuple([x.size for x in xi])
    shape = (sizes[1], sizes[0]) + sizes[2:] if swapped else sizes
    if copy:
        return tuple([np.broadcast_to(x, shape).copy() for x in lines])
    return tuple([np.broadcast_to(x, shape) for x in lines])


def _on_axes(xi, n, swapped, k):
    """Each of the arrays along an axis of its own of n; the first two swapped where asked."""
    if len(xi) == 0:
        return ()
    axis = 1 - k if swapped and k < 2 else k
    own = xi[0].reshape((1,) * axis + (xi[0].size,) + (1,) * (n - 1 - axis))
    return (own,) + _on_axes(xi[1:], n, swapped, k + 1)


@function("np.indices")
@makes(numpy.indices)
def indices(dimensions: Any, dtype: DTypeArg = int, sparse: Flag = False):
    """The index of each point of a grid along each axis: shape `(n, *dimensions)`.

    sparse: a tuple of arrays of one axis that is longer than 1 each.
    """
    if _compiled:
        grids = _grids(dimensions, 0, dtype)
        return grids if sparse else np.stack(np.broadcast_arrays(*grids))
    shape = as_shape("indices", dimensions)
    dtype = as_dtype("indices", dtype, _FLOAT64)
    n = len(shape)
    axes = [
        arange(extent, dtype=dtype).reshape((1,) * axis + (extent,) + (1,) * (n - 1 - axis))
        for axis, extent in enumerate(shape)
    ]
    if sparse:
        return tuple(axes)
    result = _core.empty((n,) + shape, dtype)
    for axis, values in enumerate(axes):
        result[axis] = values
    return result


def _grids(shape, axis, dtype):
    """The index along each axis from `axis` on, as arrays that broadcast."""
    n = len(shape)
    if axis == n:
        return ()
    line = np.arange(shape[axis]).astype(dtype)
    extents = (1,) * axis + (shape[axis],) + (1,) * (n - 1 - axis)
    return (line.reshape(extents),) + _grids(shape, axis + 1, dtype)


def fromfunction(function, shape, *, dtype=float, like=None, **kwargs):
    """`function` called with one array of indices per axis."""
    if like is not None:
        check_like("fromfunction", like)
    return function(*indices(shape, dtype=dtype), **kwargs)


class _Grid:
    """mgrid and ogrid: slices in square brackets to coordinates; an imaginary step
    counts points.
    """

    def __init__(self, name, sparse):
        self._name, self._sparse = name, sparse

    def __getitem__(self, key):
        single = not isinstance(key, tuple)
        keys = (key,) if single else key
        keys = tuple([slice(*map(_number, (k.start, k.stop, k.step))) for k in keys])
        if single:
            return adopt(numpy.ogrid[keys[0]])
        axes = [adopt(axis) for axis in numpy.ogrid[keys]]
        if self._sparse:
            return tuple(axes)
        shape = tuple([axis.size for axis in axes])
        dtype = dtypes.result_type(*[dtype_of(axis) for axis in axes])
        result = _core.empty((len(axes),) + shape, dtype)
        for position, axis in enumerate(axes):
            result[position] = _core.broadcast_to(axis, shape)
        return result

    def __len__(self):
        return 0

    def __repr__(self):
        return f"<numbus.{self._name}>"


mgrid = _Grid("mgrid", False)
ogrid = _Grid("ogrid", True)
