"""Between the host's arrays and the device's: asarray, asnumpy and their kin.

On Numbus a host's array and a device's are of one type, so that `asarray` cannot see which it gets.
What a program gets from it must not share memory with its host array: it is always a copy (which
is never made where the copy is only computed with).
"""

import sys

import numpy

import numbus
import numbus.cuda
from numbus import _core


def array(
    obj, dtype=None, copy=True, order="K", subok=False, ndmin=0, *, blocking=False, like=None
):
    """An array of the values on the device; `blocking` has nothing to change.

    copy=False gives an array of the device itself where dtype and order fit.
    """
    if like is not None and not isinstance(like, _core.ndarray):
        raise TypeError(
            f"[array] like= of another library; got {type(like).__name__}; expected an array of "
            "the device"
        )
    copy = True if copy or not isinstance(obj, _core.ndarray) else None
    made = numbus.array(obj, dtype=dtype, copy=copy, order=order or "K", ndmin=ndmin)
    if not isinstance(made, _core.ndarray):
        raise ValueError(
            f"[array] a dtype that devices do not have; got {made.dtype}; expected numbers or bool"
        )
    return _core.to_device(made, _core.get_device())


def asarray(a, dtype=None, order=None, *, blocking=False):
    """A copy of the values on the device, as an array; no memory is shared with `a`."""
    return array(a, dtype, order=order)


def asanyarray(a, dtype=None, order=None, *, blocking=False):
    """The same as asarray."""
    return array(a, dtype, order=order)


def ascontiguousarray(a, dtype=None):
    """The array itself where it is one of C order already, else a copy of that order."""
    if isinstance(a, _core.ndarray):
        return numbus.ascontiguousarray(a, dtype)
    return array(a, dtype, order="C", ndmin=1)


def asfortranarray(a, dtype=None):
    """The array itself where it is one of Fortran order already, else a copy of that order."""
    if isinstance(a, _core.ndarray):
        return numbus.asfortranarray(a, dtype)
    return array(a, dtype, order="F", ndmin=1)


def from_dlpack(array, *, device=None, copy=None):
    """The array that another library exports, without a copy where it lies on our device.

    array: an object with __dlpack__, or a capsule of memory of the device in use. copy=True makes a
    copy. Raises NotImplementedError for device=.
    """
    if device is not None:
        raise NotImplementedError(
            f"[from_dlpack] no other device; got device={device!r}; expected None"
        )
    if isinstance(array, _core.ndarray):
        return array.copy() if copy else array
    if hasattr(array, "__dlpack__"):
        made = numbus.from_dlpack(array)
        return made.copy() if copy else made
    if copy:
        return numbus.from_dlpack(_Capsule(array)).copy()
    made = numbus.from_dlpack(_Capsule(array))
    made._set_writeable(True)  # older capsules do not say; CuPy writes to them
    return made


class _Capsule:
    """A DLPack capsule as an object that exports it."""

    def __init__(self, capsule):
        self._capsule = capsule

    def __dlpack__(self, **_ignored):
        return self._capsule

    def __dlpack_device__(self):
        number = int(_core.get_device().partition(":")[2] or 0)
        return (2, number) if _core.is_default_gpu() else (1, 0)


def asnumpy(a, stream=None, order="C", out=None, *, blocking=True):
    """A NumPy array of the values, in memory of its own; or `out`, filled with them.

    stream: the one that copies. blocking=False with pinned memory for `out` returns before the
    copy is done; the stream's synchronize() waits for it. Raises ValueError where `out` has
    another shape, TypeError where it has another dtype.
    """
    if out is None:
        if isinstance(a, (_core.ndarray, _core.generic)):
            numbus.cuda.synchronize()  # tells what kernels have noted, before the values are read
        return numpy.array(numpy.asarray(a), order=order or "C")
    shape, dtype = numpy.shape(a), getattr(a, "dtype", None) or numpy.asarray(a).dtype
    if tuple(out.shape) != tuple(shape):
        raise ValueError(
            f"[asnumpy] out has the wrong shape; got {tuple(out.shape)}; expected {tuple(shape)}"
        )
    if out.dtype != dtype:
        raise TypeError(f"[asnumpy] out has the wrong dtype; got {out.dtype}; expected {dtype}")
    if isinstance(a, _core.ndarray) and isinstance(out, numpy.ndarray):
        handle = getattr(stream, "_stream", 0)
        a.copy_to_host(out, stream=handle)
        if blocking:
            numbus.cuda.synchronize() if handle == 0 else handle.synchronize()
        return out
    out[...] = numpy.asarray(a)
    return out


def get_array_module(*args):
    """This module where an argument is an array of the device, else the one for NumPy's."""
    if any(isinstance(a, (_core.ndarray, _core.generic)) for a in args):
        return sys.modules[__package__]
    return numbus
