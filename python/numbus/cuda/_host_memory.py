"""Memory of the host that a GPU knows: pinned for fast copies, or in reach of kernels.

All of these are NumPy arrays. Without a GPU they are nothing else, and behave the same. NumPy knows
nothing of streams: before the host reads what kernels or copies in flight write, it has to
synchronise.
"""

import contextlib
import math

import numpy

from .. import _core
from ..core.operands import register_array_type, to_ndarray

__all__ = [
    "ManagedNDArray",
    "MappedNDArray",
    "alloc_pinned",
    "managed_array",
    "mapped",
    "mapped_array",
    "mapped_array_like",
    "pinned",
    "pinned_array",
    "pinned_array_like",
]

_PINNED, _MAPPED, _MANAGED = range(3)


class _Reachable(numpy.ndarray):
    """An array of the host that kernels take as it is, without a copy."""

    def __array_wrap__(self, array, _context=None, return_scalar=False):
        # Results of NumPy's functions are memory of its own.
        plain = array.view(numpy.ndarray)
        return plain[()] if return_scalar else plain

    @property
    def __cuda_array_interface__(self):
        """How other libraries take the array where it is; there is none without a GPU."""
        address = _core.device_address(self.ctypes.data)
        if not address:
            raise AttributeError("[cuda] the array is not in reach of a GPU")
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (address, not self.flags.writeable),
            "strides": None if self.flags.c_contiguous else self.strides,
            "version": 3,
        }

    def copy_to_host(self, ary=None, stream=0):
        """A copy, or its elements in `ary`, once the work so far is done."""
        _synchronize(stream)
        if ary is None:
            return numpy.array(self, subok=False)
        _check_shapes("copy_to_host", ary, self)
        ary[...] = self
        return ary

    def copy_to_device(self, ary, stream=0):
        """Takes the elements of an array of the host or of the device."""
        _check_shapes("copy_to_device", ary, self)
        _synchronize(stream)
        self[...] = numpy.asarray(ary)


class MappedNDArray(_Reachable):
    """An array in pinned memory of the host, which kernels reach through the link."""


class ManagedNDArray(_Reachable):
    """An array whose memory moves to where it is used, host or GPU."""


register_array_type(MappedNDArray)
register_array_type(ManagedNDArray)


def _synchronize(stream):
    from ._streams import core_stream

    (core_stream(stream) or _core.main_stream()).synchronize()


def _check_shapes(op, given, own):
    if tuple(numpy.shape(given)) != tuple(own.shape):
        raise ValueError(
            f"[{op}] shapes differ; got {tuple(numpy.shape(given))}; expected {tuple(own.shape)}"
        )


def alloc_pinned(nbytes):
    """Pinned memory: an object with the buffer protocol, `.ptr` and `.nbytes`.

    It is given back when it and all arrays over it are gone and copies with it are done. Raises
    ValueError for a negative size, and MemoryError or RuntimeError where the system refuses.
    """
    return _core.HostMemory(int(nbytes), _PINNED, False)


def _allocate(kind, type_, shape, dtype, strides, order, wc=False):
    dtype = numpy.dtype(dtype)
    if dtype.hasobject:
        raise TypeError(
            f"[cuda] Python objects cannot be on a device; got dtype {dtype}; expected numbers"
        )
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if any(n < 0 for n in shape):
        raise ValueError(f"[cuda] negative extent; got shape {shape}; expected 0 or more")
    count = math.prod(shape)
    if strides is not None:
        strides = tuple(strides)
        if len(strides) != len(shape) or any(s < 0 for s in strides):
            raise ValueError(
                f"[cuda] strides do not fit the shape; got {strides} for {shape}; expected "
                f"{len(shape)} numbers, not negative"
            )
    if count == 0:
        nbytes = 0
    elif strides is None:
        nbytes = count * dtype.itemsize
    else:
        nbytes = dtype.itemsize + sum(s * (n - 1) for s, n in zip(strides, shape, strict=True))
    memory = _core.HostMemory(nbytes, kind, wc)
    return numpy.ndarray.__new__(type_, shape, dtype, memory, 0, strides, order)


def pinned_array(shape, dtype=numpy.float64, strides=None, order="C"):
    """A NumPy array in pinned memory: copies between it and a GPU are fast, and in a stream they
    run while the program goes on."""
    return _allocate(_PINNED, numpy.ndarray, shape, dtype, strides, order)


def mapped_array(
    shape, dtype=numpy.float64, strides=None, order="C", stream=0, portable=False, wc=False
):
    """A MappedNDArray: a NumPy array in pinned memory that kernels read and write in place.

    wc: write-combined memory, fast for kernels to read and slow for the host to read.
    """
    return _allocate(_MAPPED, MappedNDArray, shape, dtype, strides, order, wc)


def managed_array(
    shape, dtype=numpy.float64, strides=None, order="C", stream=0, attach_global=True
):
    """A ManagedNDArray: a NumPy array whose memory moves to where it is used."""
    return _allocate(_MANAGED, ManagedNDArray, shape, dtype, strides, order)


def _order_of(ary):
    flags = ary.flags
    return "F" if flags["F_CONTIGUOUS"] and not flags["C_CONTIGUOUS"] else "C"


def pinned_array_like(ary):
    """pinned_array of the shape, dtype and order of another."""
    return pinned_array(ary.shape, ary.dtype, order=_order_of(ary))


def mapped_array_like(ary, stream=0, portable=False, wc=False):
    """mapped_array of the shape, dtype and order of another."""
    return mapped_array(ary.shape, ary.dtype, order=_order_of(ary), wc=wc)


def _registered(stack, op, ary, kind):
    """The array's memory, known to the GPU until the stack ends."""
    if isinstance(ary, _core.ndarray):
        return  # not an array of the host: nothing to pin
    if not isinstance(ary, numpy.ndarray):
        raise TypeError(
            f"[{op}] not an array of the host; got {type(ary).__name__}; expected NumPy's"
        )
    if not (ary.flags["C_CONTIGUOUS"] or ary.flags["F_CONTIGUOUS"]):
        raise ValueError(
            f"[{op}] the array is not contiguous; got strides {ary.strides} for shape "
            f"{ary.shape}; expected a copy() of it"
        )
    memory = _core.register_host(ary, kind)
    stack.callback(memory.end)


@contextlib.contextmanager
def pinned(*arylist):
    """Pins arrays while the block lasts: copies between them and a GPU are fast, and in a stream
    they run while the program goes on. The end of the block waits for these.

    Numbus's own arrays, which may lie on the GPU, stay as they are. Raises TypeError for what is no
    array, ValueError for one of NumPy's that is not contiguous.
    """
    with contextlib.ExitStack() as stack:
        for ary in arylist:
            _registered(stack, "pinned", ary, _PINNED)
        yield


@contextlib.contextmanager
def mapped(*arylist, stream=0, portable=False):
    """The arrays as arrays of the device over the same memory, while the block lasts: one, or a
    list. The end of the block waits for kernels that use them; they must not be used after it.

    Raises TypeError for what is no NumPy array, ValueError for one that is not contiguous.
    """
    with contextlib.ExitStack() as stack:
        there = []
        for ary in arylist:
            _registered(stack, "mapped", ary, _MAPPED)
            there.append(
                _core.mapped_array(ary)
                if isinstance(ary, numpy.ndarray) and ary.size and _core.is_default_gpu()
                else to_ndarray(ary)
            )
        stack.callback(_core.flush, "mapped()")
        yield there[0] if len(there) == 1 else there
