"""Around kernels: arrays on the device and their copies, the device itself."""

import contextlib
import os
from collections import namedtuple

import numpy

from .. import _core
from .._core import ndarray
from ..core import devices as _devices
from ..core.operands import SUPPORTED, to_ndarray
from ..functions.creation import asarray
from . import _memory
from ._streams import core_stream

__all__ = [
    "DeviceNDArray",
    "MemoryInfo",
    "as_cuda_array",
    "close",
    "current_context",
    "defer_cleanup",
    "detect",
    "device_array",
    "device_array_like",
    "get_current_device",
    "gpus",
    "is_cuda_array",
    "is_supported_version",
    "list_devices",
    "memset",
    "profile_start",
    "profile_stop",
    "profiling",
    "require_context",
    "select_device",
    "synchronize",
    "to_device",
]

DeviceNDArray = ndarray
MemoryInfo = namedtuple("MemoryInfo", "free,total")


def synchronize():
    """Waits for all work, and raises what a kernel has noted."""
    _core.synchronize()


def _device_name():
    _core.ask_for_gpu()
    return _core.get_device()


def _is_gpu():
    _core.ask_for_gpu()
    return _core.is_default_gpu()


def _dense(a):
    """(a or its transpose, whether either is contiguous as C is): copies move whole blocks."""
    if a.flags["C_CONTIGUOUS"]:
        return a, True
    return (a.T, True) if a.flags["F_CONTIGUOUS"] else (a, False)


def _in_one_piece(copy, device_side, host_side, stream):
    """Whether copy (_core.copy_in or copy_out) could do it: one layout and dtype, contiguous."""
    there, dense = _dense(device_side)
    here, too = _dense(host_side)
    return dense and too and here.shape == there.shape and copy(there, here, stream)


def to_device(obj, stream=0, copy=True, to=None):
    """The array on the device of kernels; a copy, also on a CPU.

    obj: anything NumPy takes. to: an array on the device to copy into, which is returned. stream:
    the copy is made in it; from pinned memory it goes on after the call has returned.
    Raises ValueError where `to` has another shape, TypeError for what is no stream.
    """
    core = core_stream(stream, "to_device")
    if to is not None:
        copy_to_device(to, obj, stream)
        return to
    if isinstance(obj, ndarray):
        there = _core.to_device(obj, _device_name())
        return there.copy() if copy and there is obj else there
    host = numpy.asarray(obj)
    if copy and host.dtype in SUPPORTED:
        there = device_array_like(host)
        if _in_one_piece(_core.copy_in, there, host, core):
            return there
    there = _core.to_device(to_ndarray(host), _device_name())
    return there.copy() if copy and not _is_gpu() else there


def device_array(shape, dtype=numpy.float64, strides=None, order="C", stream=0):
    """An uninitialised array on the device of kernels, of C or F order.

    Raises NotImplementedError for strides of its own.
    """
    if strides is not None:
        raise NotImplementedError(
            f"[device_array] no strides of its own; got strides={strides!r}; expected order='C' or "
            "'F'"
        )
    made = _core.empty(shape if isinstance(shape, tuple) else (shape,), numpy.dtype(dtype))
    if order == "F" and made.ndim > 1:
        made = _core.empty(made.shape[::-1], numpy.dtype(dtype)).T
    return made


def device_array_like(ary, stream=0):
    """An uninitialised array of the shape, dtype and order of another."""
    return device_array(ary.shape, ary.dtype, order=_order(ary))


def copy_to_host(self, ary=None, stream=0):
    """The array as a NumPy array, or copied into `ary`; raises what kernels have noted.

    stream: the copy is made in it. Into pinned memory it goes on after the call has returned, and
    the stream has to be synchronised before `ary` is read. Raises ValueError where shapes differ.
    """
    core = core_stream(stream, "copy_to_host")
    if ary is None:
        made = numpy.empty(self.shape, self.dtype, order=_order(self))
        if not _in_one_piece(_core.copy_out, self, made, core):
            made[...] = numpy.asarray(self)
    else:
        if tuple(ary.shape) != tuple(self.shape):
            raise ValueError(
                f"[copy_to_host] shapes differ; got {tuple(ary.shape)}; expected "
                f"{tuple(self.shape)}"
            )
        made = ary
        if not (isinstance(ary, numpy.ndarray) and _in_one_piece(_core.copy_out, self, ary, core)):
            ary[...] = numpy.asarray(self)
    if core is None:
        _core.check_faults()
    return made


def copy_to_device(self, ary, stream=0):
    """Copies an array of the host or of a device into this one.

    stream: the copy is made in it; from pinned memory it goes on after the call has returned.
    Raises ValueError where shapes differ.
    """
    core = core_stream(stream, "copy_to_device")
    source = ary if isinstance(ary, ndarray) else numpy.asarray(ary)
    if tuple(source.shape) != tuple(self.shape):
        raise ValueError(
            f"[copy_to_device] shapes differ; got {tuple(source.shape)}; expected "
            f"{tuple(self.shape)}"
        )
    if isinstance(source, ndarray):
        self[...] = _core.to_device(source, self._device)
    elif not _in_one_piece(_core.copy_in, self, source, core):
        self[...] = _core.to_device(to_ndarray(source), self._device)


def _order(a):
    return "F" if a.flags["F_CONTIGUOUS"] and not a.flags["C_CONTIGUOUS"] else "C"


def memset(ary, value, stream=0):
    """Sets every byte of a contiguous array on the device, in the stream.

    value: 0 to 255. Raises ValueError for another value, or an array that is not contiguous.
    """
    if not 0 <= value <= 255:
        raise ValueError(f"[memset] not a byte; got {value}; expected 0 to 255")
    if not _core.fill_bytes(ary, value, core_stream(stream, "memset")):
        raise ValueError(
            f"[memset] the array is not contiguous; got strides {ary.strides}; expected its copy()"
        )


def _getitem(self, index, stream=0):
    """A view, or for one element its value, read in the stream."""
    core = core_stream(stream, "getitem")
    part = self[(*index, ...)] if isinstance(index, tuple) else self[index, ...]
    if part.ndim:
        return part
    value = numpy.empty((), self.dtype)
    if not _core.copy_out(part, value, core):
        return self[index]
    return value[()]


def _setitem(self, index, value, stream=0):
    """Writes elements, in the stream where they lie in one piece."""
    core = core_stream(stream, "setitem")
    if core is not None and not isinstance(value, ndarray):
        part = self[(*index, ...)] if isinstance(index, tuple) else self[index, ...]
        if isinstance(part, ndarray) and part._storage == self._storage:
            host = numpy.broadcast_to(numpy.asarray(value, self.dtype), part.shape)
            if _in_one_piece(_core.copy_in, part, numpy.array(host, order="C"), core):
                return
    self[index] = value


def _split(self, section, stream=0):
    """Views of `section` elements each, the last one of what is left."""
    for low in range(0, self.size, section):
        yield self[low : low + section]


ndarray.copy_to_host = copy_to_host
ndarray.copy_to_device = copy_to_device
ndarray.is_c_contiguous = lambda self: self.flags["C_CONTIGUOUS"]
ndarray.is_f_contiguous = lambda self: self.flags["F_CONTIGUOUS"]
ndarray.split = _split
ndarray.getitem = _getitem
ndarray.setitem = _setitem
ndarray.bind = lambda self, stream=0: self


def is_cuda_array(obj):
    """Whether the object has __cuda_array_interface__, or is an array of ours."""
    return isinstance(obj, ndarray) or hasattr(obj, "__cuda_array_interface__")


def as_cuda_array(obj, sync=True):
    """The object as an array of ours, without a copy where it lies on the GPU."""
    if isinstance(obj, ndarray):
        return obj
    if isinstance(obj, numpy.ndarray) and hasattr(obj, "__cuda_array_interface__"):
        return _core.mapped_array(obj)  # memory of the host that kernels reach
    return asarray(obj)


class Device:
    """A GPU, or the CPU where it stands in for one."""

    def __init__(self, number=0):
        self.id = number
        self._properties = (
            _core.cuda_properties()
            if _is_gpu()
            else {
                "name": "CPU",
                "compute_capability": (0, 0),
                "WARP_SIZE": 32,
                "MULTIPROCESSOR_COUNT": os.cpu_count(),
                "MAX_THREADS_PER_BLOCK": 1024,
                "MAX_SHARED_MEMORY_PER_BLOCK": 49152,
            }
        )
        self.name = self._properties["name"]
        self.compute_capability = tuple(self._properties["compute_capability"])

    def __getattr__(self, name):
        try:
            return self.__dict__["_properties"][name]
        except KeyError:
            raise AttributeError(f"device has no attribute {name!r}") from None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def reset(self):
        """Nothing has to be reset: a fault of a kernel leaves the device as it was."""

    def __repr__(self):
        return f"<Device {self.id}: {self.name}>"


class Context:
    """The state of the device in use."""

    @property
    def device(self):
        return Device()

    def get_memory_info(self):
        """(free, total) bytes of the device's memory."""
        stats = _memory.memory_stats(_device_name())
        total = stats["limit"]
        return MemoryInfo(total - stats["used_bytes"], total)

    def synchronize(self):
        """Waits for all work."""
        synchronize()

    def reset(self):
        """Gives unused memory back."""
        _memory.trim(_device_name())


def current_context(devnum=None):
    """The context of the device in use; raises ValueError for another one's."""
    used = int(_device_name().partition(":")[2] or 0)
    if devnum not in (None, used):
        raise ValueError(
            f"[current_context] not the device in use; got {devnum}; expected {used}, or "
            f"`with cuda.gpus[{devnum}]:` around it"
        )
    return Context()


def get_current_device():
    """The device in use."""
    return Device()


def list_devices():
    """All GPUs; without one, the CPU that stands in."""
    return [Device(n) for n in range(max(1, _memory.device_count()))]


class _Gpus:
    """The devices, by number; `with gpus[1]:` uses that one."""

    def __getitem__(self, number):
        return _devices.device(f"cuda:{number}") if _is_gpu() else Device(number)

    def __len__(self):
        return len(list_devices())

    def __iter__(self):
        return iter(list_devices())

    @property
    def lst(self):
        return list_devices()


gpus = _Gpus()


def select_device(device_id):
    """Makes a GPU the one in use."""
    if _is_gpu():
        _devices.device(f"cuda:{device_id}")
    elif device_id != 0:
        raise ValueError(f"[select_device] no such device; got {device_id}; expected 0")
    return Device(device_id)


def detect():
    """Prints the GPUs; returns whether there is one."""
    if not _memory.is_available():
        print(f"no GPU: {_memory.reason()}")
        return False
    for d in list_devices():
        print(f"id {d.id}  {d.name}  compute capability {d.compute_capability}")
    return True


def is_supported_version():
    """Whether the driver's CUDA version is supported."""
    return _memory.is_available()


def close():
    """Nothing has to be closed."""


def require_context(function):
    """The function: a context is made when one is needed."""
    return function


@contextlib.contextmanager
def defer_cleanup():
    """Memory goes back to a pool, never to the driver: nothing to defer."""
    yield


def profile_start():
    """For profilers; does nothing."""


def profile_stop():
    """For profilers; does nothing."""


@contextlib.contextmanager
def profiling():
    """For profilers; does nothing."""
    yield
