"""Arrays from values, buffers and other arrays."""

import numpy

from .. import _core
from .._core import generic, ndarray
from ..core.devices import device as on_device
from ..core.devices import to_device
from ..core.dtypes import kind_of
from ..core.errors import ForeignDtype, as_order, as_shape, message
from ..core.given import given, host_array
from ..core.operands import (
    adopt,
    as_dtype,
    check_like,
    copy_to_order,
    empty_like_layout,
    foreign,
    is_order,
    operand,
    plain,
    to_ndarray,
)
from ..core.operands import dtype_of as _dtype_of
from ..core.quick import quick
from . import names as np
from .names import compiled as _compiled
from .names import not_yet
from .registry import Any, DTypeArg, function

__all__ = [
    "array",
    "asanyarray",
    "asarray",
    "asarray_chkfinite",
    "ascontiguousarray",
    "copy",
    "empty",
    "empty_like",
    "from_dlpack",
    "frombuffer",
    "fromiter",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "require",
    "zeros",
    "zeros_like",
]

_FLOAT64 = numpy.dtype(float)
_FOREIGN_ITEMS = (dict, str, bytes)  # of which only NumPy makes arrays
_FLAGS = {letter: letter for letter in "CFAWOE"}
_FLAGS |= {"C_CONTIGUOUS": "C", "CONTIGUOUS": "C", "F_CONTIGUOUS": "F", "FORTRAN": "F"}
_FLAGS |= {"ALIGNED": "A", "WRITEABLE": "W", "OWNDATA": "O", "ENSUREARRAY": "E"}


@quick("array")
def array(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, ndmax=0, like=None):
    """An array from any array-like: shape of the nesting, dtype promoted from the elements.

    copy: True always copies, None copies where needed, False raises ValueError where a copy is
    needed. Raises ValueError for ragged nesting. Objects, text and dates come back as NumPy
    arrays.
    """
    object = plain(object, subok)
    kind = type(object)
    order = as_order("array", order)
    if like is not None:
        check_like("array", like)
    if ndmax:
        # Nesting beyond `ndmax` axes becomes objects.
        raise ForeignDtype(message("array", "axes limited", f"ndmax={ndmax}", "ndmax=0"))
    if kind is list or kind is tuple:
        result = _from_nested(object, dtype, copy, order)
    elif kind is ndarray or kind is generic or isinstance(object, numpy.ndarray):
        result = _from_array(object, as_dtype("array", dtype), copy, order)
    elif hasattr(kind, "__dlpack_device__") and object.__dlpack_device__()[0] == 2:
        # CuPy's and PyTorch's arrays on a GPU, which NumPy refuses.
        result = _from_array(from_dlpack(object), as_dtype("array", dtype), copy, order)
    elif getattr(object, "__cuda_array_interface__", None) is not None:
        result = _from_array(_from_cuda(object), as_dtype("array", dtype), copy, order)
    else:
        result = _from_nested(object, dtype, copy, order)
    if result.ndim < ndmin:
        result = result.reshape((1,) * (ndmin - result.ndim) + result.shape)
    return result


def _from_array(x, dtype, copy, order):
    a = to_ndarray(x)
    if a is not x and type(x) is generic:
        copy = None if copy else copy
    if dtype is not None and dtype != a.dtype:
        if copy is False:
            raise ValueError(
                message("array", "unable to avoid a copy", f"dtype {a.dtype}", f"dtype {dtype}")
            )
        a, copy = a.astype(dtype), None
    if copy:
        return copy_to_order(a, order)
    if order in ("C", "F") and not is_order(a, order):
        if copy is False:
            raise ValueError(
                message("array", "unable to avoid a copy", f"order {order}", "copy=None")
            )
        return copy_to_order(a, order)
    return a


def _from_nested(x, dtype, copy, order):
    if type(x) in (list, tuple):
        if copy is False:
            raise ValueError(
                message("array", "a sequence must be copied", "copy=False", "copy=None")
            )
        if x and type(x[0]) in _FOREIGN_ITEMS and dtype is None:
            foreign(x[0])  # before NumPy looks at all of them twice
        dtype = as_dtype("array", dtype)
        found = _core.from_list(x, dtype)
        if found is None:
            found = _stack_arrays(x, dtype)
        if found is None and _core.watching():
            found = _stack_watched(x, dtype)
        if found is not None:
            return copy_to_order(found, "F") if order == "F" and found.ndim > 1 else found
        try:
            real = host_array(x, dtype, True, order)
        except ValueError as error:
            text = str(error).replace(";", ",")
            raise ValueError(message("array", text, type(x).__name__, "even nesting")) from None
        as_dtype("array", real.dtype)
        return adopt(real)
    made, copied = given(x, dtype, copy)
    copy = None if copied else copy
    if type(made) in (ndarray, generic):
        return _from_array(made, as_dtype("array", dtype), copy, order)
    real = numpy.array(made, dtype=dtype, copy=copy, order=order)
    as_dtype("array", real.dtype)
    if copy or real.ndim == 0:
        return adopt(real)
    return _core.from_numpy(real)


def _stack_arrays(x, dtype):
    """A sequence of equally shaped Numbus arrays as one array, recorded and not read; else None."""
    if not x or any([type(item) is not ndarray and type(item) is not generic for item in x]):
        return None
    shape = x[0].shape
    if any([item.shape != shape for item in x]):
        return None
    parts = [to_ndarray(item) for item in x]
    dtype = as_dtype("array", dtype)
    return _core.concatenate(parts, 0, True, dtype, "unsafe", None)


def _depends(x):
    return any([_depends(item) for item in x]) if type(x) in (list, tuple) else _core.depends(x)


def _stack_watched(x, dtype):
    """A sequence with numbers in it that depend on what is differentiated; None: without any."""
    if not _depends(x):
        return None

    def joined(items):
        parts = [joined(i) if type(i) in (list, tuple) else to_ndarray(i) for i in items]
        if any([p.shape != parts[0].shape for p in parts]):
            raise ValueError(
                message("array", "uneven nesting", [p.shape for p in parts], "equal shapes")
            )
        return _core.concatenate(parts, 0, True, None, "unsafe", None)

    found = joined(x)
    return found if dtype is None else found.astype(as_dtype("array", dtype))


@quick("asarray")
def asarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    """`a` as an array, without a copy where that is possible. dtype, order, device: asked of the
    result.
    """
    if type(a) is ndarray and dtype is order is copy is device is like is None:
        return a
    result = array(a, dtype, copy=copy, order=order, like=like)
    return result if device is None else on(device, result, copy)


def on(device, a, copy=None):
    """`a` on the device that an argument names; ValueError where copy=False forbids a transfer."""
    result = to_device(a, device)
    if copy is False and result is not a:
        raise ValueError(
            message("array", "unable to avoid a copy", f"device {a._device}", f"device {device}")
        )
    return result


@quick("asanyarray")
def asanyarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    """`asarray(a)`, but for subclasses of numpy.ndarray, which stay what they are."""
    if type(plain(a, False)) is not type(a):
        foreign(a)
    return asarray(a, dtype, order, device=device, copy=copy, like=like)


@quick("ascontiguousarray")
def ascontiguousarray(a, dtype=None, *, like=None):
    """`a` as a C-contiguous array of at least one dimension."""
    return array(a, dtype, copy=None, order="C", ndmin=1, like=like)


@function("np.asfortranarray")
@quick("asfortranarray")
def asfortranarray(a: Any, dtype: DTypeArg = None, *, like: Any = None):
    """`a` as an array laid out with the first index fastest."""
    if _compiled:
        if like is not None:
            not_yet("np.asfortranarray() with like=")
        x = np.asarray(a) if dtype is None else np.asarray(a, dtype)
        return np.ascontiguousarray(x.T).T
    return array(a, dtype, copy=None, order="F", ndmin=1, like=like)


@function("np.asarray_chkfinite")
def asarray_chkfinite(a: Any, dtype: DTypeArg = None, order: Any = None):
    """`asarray(a)`; raises ValueError if it holds infs or NaNs."""
    if _compiled:
        given = np.asarray(a) if dtype is None else np.asarray(a, dtype)
        if order is not None and order not in ("A", "K", "C", "F"):
            raise ValueError("[asarray_chkfinite] order; got another; expected C, F, A or K")
        if given.ndim > 0 and (order == "C" or order == "F"):
            given = np.ascontiguousarray(given) if order == "C" else np.asfortranarray(given)
        if not np.isfinite(given).all():
            raise ValueError("[asarray_chkfinite] not finite; got infs or NaNs; expected numbers")
        return given
    result = asarray(a, dtype, order)
    if kind_of(result.dtype) in "fc" and not bool(_core.isfinite(result).all()):
        raise ValueError(
            message("asarray_chkfinite", "not finite", "infs or NaNs", "finite values")
        )
    return result


def require(a, dtype=None, requirements=None, *, like=None):
    """`a` with the flags that `requirements` names ('C', 'F', 'A', 'W', 'O', 'E', or in full),
    copied if need be.

    Raises KeyError for other names, ValueError for both orders.
    """
    ours = type(a) is ndarray and like is None and (dtype is None or a.dtype == dtype)
    if ours and requirements is None:
        return a
    wanted = {_FLAGS.get(item) or _FLAGS[str(item).upper()] for item in requirements or ()}
    if {"C", "F"} <= wanted:
        raise ValueError(message("require", "both orders", requirements, "one of them"))
    order = "C" if "C" in wanted else "F" if "F" in wanted else "K"
    if ours and (order == "K" or is_order(a, order)):
        result = a
    else:
        result = array(a, dtype, copy=None, order=order, subok="E" not in wanted, like=like)
    if ("W" in wanted and not result.flags.writeable) or (
        "O" in wanted and result.base is not None
    ):
        return copy_to_order(result, order)
    return result


@quick("copy")
def copy(a, order="K", subok=False):
    """A copy of `a` with its shape and dtype; order 'K' keeps the layout."""
    return array(a, order=order, subok=subok, copy=True)


@quick("empty")
def empty(shape, dtype=float, order="C", *, device=None, like=None):
    """An array of uninitialised elements. shape: int or ints."""
    if device is not None:
        with on_device(device):
            return empty(shape, dtype, order, like=like)
    if like is not None:
        check_like("empty", like)
    shape = as_shape("empty", shape)
    dtype = as_dtype("empty", dtype, _FLOAT64)
    return _core.empty(shape, dtype, as_order("empty", order, "C", "CF") == "F")


@quick("full")
def full(shape, fill_value, dtype=None, order="C", *, device=None, like=None):
    """An array of `fill_value` (a scalar, or something that broadcasts to `shape`)."""
    if device is not None:
        with on_device(device):
            return full(shape, fill_value, dtype, order, like=like)
    if like is not None:
        check_like("full", like)
    shape = as_shape("full", shape)
    dtype = as_dtype("full", _dtype_of(fill_value) if dtype is None else dtype)
    value = operand(fill_value)
    if type(value) is ndarray:
        result = empty(shape, dtype, order)
        if value._device != result._device:
            value = _core.to_device(value, result._device)
        _core.copyto(result, value.astype(dtype))
        return result
    return _core.full(shape, value, dtype, as_order("full", order, "C", "CF") == "F")


@quick("zeros")
def zeros(shape, dtype=float, order="C", *, device=None, like=None):
    """An array of zeros. shape: int or ints."""
    if order != "C" or device is not None or like is not None:
        dtype = as_dtype("zeros", dtype, _FLOAT64)
        return full(shape, 0, dtype, order, device=device, like=like)
    return _core.full(as_shape("zeros", shape), 0, as_dtype("zeros", dtype, _FLOAT64))


@quick("ones")
def ones(shape, dtype=None, order="C", *, device=None, like=None):
    """An array of ones. shape: int or ints."""
    if order != "C" or device is not None or like is not None:
        dtype = as_dtype("ones", dtype, _FLOAT64)
        return full(shape, 1, dtype, order, device=device, like=like)
    return _core.full(as_shape("ones", shape), 1, as_dtype("ones", dtype, _FLOAT64))


@quick("empty_like")
def empty_like(prototype, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """An uninitialised array with the shape, dtype and layout of `prototype`, or those given."""
    if device is not None:
        with on_device(device):
            return empty_like(prototype, dtype, order, subok, shape)
    a = prototype if type(prototype) is ndarray else to_ndarray(prototype)
    dtype = as_dtype("empty_like", dtype, a.dtype)
    order = as_order("empty_like", order)
    extents = a.shape if shape is None else as_shape("empty_like", shape)
    if order == "A":
        order = "F" if a.flags.f_contiguous and not a.flags.c_contiguous else "C"
    elif order == "K" and len(extents) != a.ndim:
        order = "C"
    if order != "K" or a.ndim < 2 or a.flags.c_contiguous:
        return empty(extents, dtype, "F" if order == "F" else "C")
    return empty_like_layout(extents, a.strides, dtype)


@quick("full_like")
def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """An array of `fill_value` with the shape, dtype and layout of `a`, or those given."""
    if device is not None:
        with on_device(device):
            return full_like(a, fill_value, dtype, order, subok, shape)
    result = empty_like(a, dtype, order, subok, shape)
    value = operand(fill_value)
    if type(value) is ndarray and value._device != result._device:
        value = _core.to_device(value, result._device)
    _core.copyto(result, value.astype(result.dtype) if type(value) is ndarray else value)
    return result


@quick("zeros_like")
def zeros_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """An array of zeros with the shape, dtype and layout of `a`, or those given."""
    return full_like(a, 0, dtype, order, subok, shape, device=device)


@quick("ones_like")
def ones_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """An array of ones with the shape, dtype and layout of `a`, or those given."""
    return full_like(a, 1, dtype, order, subok, shape, device=device)


@quick("frombuffer")
def frombuffer(buffer, dtype=float, count=-1, offset=0, *, like=None):
    """A 1-D array over the memory of an object with a buffer."""
    if like is not None:
        check_like("frombuffer", like)
    real = numpy.frombuffer(buffer, dtype=dtype, count=count, offset=offset)
    as_dtype("frombuffer", real.dtype)
    if _core.is_default_gpu():
        # Pinned memory is in the GPU's reach: the array lies over it, as the name says.
        address = _core.device_address(real.ctypes.data)
        if address:
            readonly = not real.flags.writeable
            return _core.from_cuda(real, address, real.shape, None, real.dtype, readonly, 0)
    result = _core.from_numpy(real)
    if not real.flags.writeable and result.flags.writeable:  # a copy, on a device
        result.flags.writeable = False
    return result


@quick("fromiter")
def fromiter(iter, dtype, count=-1, *, like=None):
    """A 1-D array of the items of an iterable."""
    if like is not None:
        check_like("fromiter", like)
    real = numpy.fromiter(iter, dtype=as_dtype("fromiter", dtype), count=count)
    return adopt(real)


def _from_cuda(x):
    """An array over the memory of an object with __cuda_array_interface__, such as Numba's.

    Work of ours follows what the object's stream has been given so far.
    """
    given = x.__cuda_array_interface__
    if given.get("mask") is not None:
        raise TypeError(message("asarray", "masked arrays cannot be shared", "a mask", "no mask"))
    address, readonly = given["data"]
    return _core.from_cuda(
        x,
        address or 0,
        tuple(given["shape"]),
        given.get("strides"),
        as_dtype("asarray", numpy.dtype(given["typestr"])),
        bool(readonly),
        int(given.get("stream") or 0),
    )


def from_dlpack(x, /, *, device=None, copy=None):
    """An array over the memory of any object with DLPack's methods; a copy on the named device
    where that memory is not on it.

    Raises ValueError where copy=False forbids the copy.
    """
    if type(x) is ndarray:
        result = x
    elif x.__dlpack_device__()[0] == 1:
        try:
            result = _core.from_numpy(numpy.from_dlpack(x, copy=copy))
        except RuntimeError:  # of types that are not NumPy's own, such as bfloat16
            result = _core.from_dlpack(x)
            result = result.copy() if copy else result
        copy = None if copy else copy
    else:
        result = _core.from_dlpack(x)
    if device is not None:
        there = on(device, result, copy)
        copy = None if there is not result else copy
        result = there
    return copy_to_order(result, "K") if copy else result
