"""Around kernels: arrays on the device, streams, events, the device itself."""

import contextlib
import os
import time
from collections import namedtuple

import numpy

from .. import _core, _devices
from .._convert import to_ndarray
from .._core import ndarray
from . import _memory

__all__ = [
    "DeviceNDArray",
    "Event",
    "MemoryInfo",
    "Stream",
    "as_cuda_array",
    "close",
    "current_context",
    "default_stream",
    "defer_cleanup",
    "detect",
    "device_array",
    "device_array_like",
    "event",
    "event_elapsed_time",
    "external_stream",
    "get_current_device",
    "gpus",
    "is_cuda_array",
    "is_supported_version",
    "legacy_default_stream",
    "list_devices",
    "managed_array",
    "mapped",
    "mapped_array",
    "mapped_array_like",
    "per_thread_default_stream",
    "pinned",
    "pinned_array",
    "pinned_array_like",
    "profile_start",
    "profile_stop",
    "profiling",
    "require_context",
    "select_device",
    "stream",
    "synchronize",
    "to_device",
]

DeviceNDArray = ndarray
MemoryInfo = namedtuple("MemoryInfo", "free,total")


def synchronize():
    """Waits for all work, and raises what a kernel has noted."""
    _core.synchronize()
    _core.check_faults()


def _device_name():
    return _core.get_device()


def to_device(obj, stream=0, copy=True, to=None):
    """The array on the device of kernels; a copy, also on a CPU.

    obj: anything NumPy takes. to: an array on the device to copy into, which is returned.
    """
    source = obj if isinstance(obj, ndarray) else to_ndarray(numpy.asarray(obj))
    if to is not None:
        to[...] = _core.to_device(source, _device_name())
        return to
    there = _core.to_device(source, _device_name())
    if copy and (there is obj or not isinstance(obj, ndarray)):
        there = there.copy()
    return there


def device_array(shape, dtype=numpy.float64, strides=None, order="C", stream=0):
    """An uninitialised array on the device of kernels."""
    made = _core.empty(shape if isinstance(shape, tuple) else (shape,), numpy.dtype(dtype))
    if order == "F" and made.ndim > 1:
        made = _core.empty(made.shape[::-1], numpy.dtype(dtype)).T
    return made


def device_array_like(ary, stream=0):
    """An uninitialised array of the shape, dtype and order of another."""
    order = (
        "F" if ary.ndim > 1 and ary.flags["F_CONTIGUOUS"] and not ary.flags["C_CONTIGUOUS"] else "C"
    )
    return device_array(ary.shape, ary.dtype, order=order)


def pinned_array(shape, dtype=numpy.float64, strides=None, order="C"):
    """An array of the host for copies to and from a device: copies are staged through pinned memory
    whatever they come from, so this is a plain NumPy array."""
    return numpy.empty(shape, dtype, order=order)


def pinned_array_like(ary):
    """pinned_array of the shape and dtype of another."""
    return numpy.empty_like(ary)


def managed_array(
    shape, dtype=numpy.float64, strides=None, order="C", stream=0, attach_global=True
):
    """An array that kernels and the host both see."""
    return device_array(shape, dtype, order=order)


mapped_array = managed_array


def mapped_array_like(ary, stream=0, portable=False, wc=False):
    """mapped_array of the shape and dtype of another."""
    return device_array_like(ary)


@contextlib.contextmanager
def pinned(*arrays):
    """Copies are staged through pinned memory anyway: nothing to do."""
    yield


@contextlib.contextmanager
def mapped(*arrays, stream=0):
    """The arrays on the device while the block lasts, and back."""
    there = [to_device(a) for a in arrays]
    yield there[0] if len(there) == 1 else there
    for a, d in zip(arrays, there, strict=True):
        a[...] = numpy.asarray(d)


def copy_to_host(self, ary=None, stream=0):
    """The array as a NumPy array, or copied into `ary`; raises what kernels have noted."""
    synchronize()
    if ary is None:
        return numpy.array(self)
    if tuple(ary.shape) != tuple(self.shape):
        raise ValueError(f"[copy_to_host] shapes differ; got {ary.shape}; expected {self.shape}")
    ary[...] = numpy.asarray(self)
    return ary


def copy_to_device(self, ary, stream=0):
    """Copies an array of the host or of a device into this one."""
    source = ary if isinstance(ary, ndarray) else to_ndarray(numpy.asarray(ary))
    if tuple(source.shape) != tuple(self.shape):
        raise ValueError(
            f"[copy_to_device] shapes differ; got {source.shape}; expected {self.shape}"
        )
    self[...] = _core.to_device(source, self._device)


def _split(self, section, stream=0):
    """Views of `section` elements each, the last one of what is left."""
    for low in range(0, self.size, section):
        yield self[low : low + section]


ndarray.copy_to_host = copy_to_host
ndarray.copy_to_device = copy_to_device
ndarray.is_c_contiguous = lambda self: self.flags["C_CONTIGUOUS"]
ndarray.is_f_contiguous = lambda self: self.flags["F_CONTIGUOUS"]
ndarray.split = _split
ndarray.getitem = lambda self, index, stream=0: self[index]
ndarray.setitem = lambda self, index, value, stream=0: self.__setitem__(index, value)
ndarray.bind = lambda self, stream=0: self


def is_cuda_array(obj):
    """Whether the object has __cuda_array_interface__, or is an array of ours."""
    return isinstance(obj, ndarray) or hasattr(obj, "__cuda_array_interface__")


def as_cuda_array(obj, sync=True):
    """The object as an array of ours, without a copy where it lies on the GPU."""
    if isinstance(obj, ndarray):
        return obj
    return to_ndarray(obj)


class Stream:
    """A queue of work. All work of a process runs in one queue, in order, whatever the stream."""

    def synchronize(self):
        """Waits for all work."""
        synchronize()

    @contextlib.contextmanager
    def auto_synchronize(self):
        """Synchronises at the end of the block."""
        yield self
        self.synchronize()

    def add_callback(self, callback, arg=None):
        """Calls callback(stream, status, arg) when the work so far is done."""
        self.synchronize()
        callback(self, 0, arg)

    async def async_done(self):
        """Is done when the work so far is."""
        self.synchronize()
        return self

    def __int__(self):
        return 0

    def __index__(self):
        return 0


def stream():
    """A stream."""
    return Stream()


def external_stream(ptr):
    """A stream of another library: work of ours is ordered with the legacy default stream."""
    return Stream()


default_stream = legacy_default_stream = per_thread_default_stream = stream


class Event:
    """A point in the queue of work."""

    def __init__(self, timing=True):
        self._event = _core.cuda_event(timing) if _core.is_default_gpu() else None
        self._time = None

    def record(self, stream=0):
        """Marks this point: behind all work so far."""
        if self._event is not None:
            self._event.record()
        self._time = time.perf_counter()

    def query(self):
        """Whether all work before it is done."""
        return self._event.query() if self._event is not None else True

    def wait(self, stream=0):
        """Work from now on waits for it: it does anyway."""

    def synchronize(self):
        """Waits for it."""
        if self._event is not None:
            self._event.synchronize()
        _core.check_faults()

    def elapsed_time(self, evtend):
        """Milliseconds from this event to another one; both have happened."""
        if self._event is not None:
            return evtend._event.elapsed_since(self._event)
        return (evtend._time - self._time) * 1000


def event(timing=True):
    """An event."""
    return Event(timing)


def event_elapsed_time(evtstart, evtend):
    """Milliseconds between two events that have happened."""
    return evtstart.elapsed_time(evtend)


class Device:
    """A GPU, or the CPU where it stands in for one."""

    def __init__(self, number=0):
        self.id = number
        self._properties = (
            _core.cuda_properties()
            if _core.is_default_gpu()
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
    """The context of the device in use."""
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
        return _devices.device(f"cuda:{number}") if _core.is_default_gpu() else Device(number)

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
    if _core.is_default_gpu():
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
