"""What CuPy's arrays have beside NumPy's: get, set, data, device and the scatter methods."""

import numpy

from numbus import _core
from numbus.core import devices as _devices

from ._convert import asnumpy


def get(self, stream=None, order="C", out=None, blocking=True):
    """The values as a NumPy array, or copied into `out`."""
    return asnumpy(self, stream, order, out, blocking=blocking)


def set_(self, arr, stream=None):
    """Copies the values of a host's array of the same shape and dtype into this one.

    stream: the one that copies; from pinned memory the copy goes on after the call.
    """
    source = arr if isinstance(arr, _core.ndarray) else numpy.asarray(arr)
    if tuple(source.shape) != tuple(self.shape):
        raise ValueError(
            f"[set] shapes differ; got {tuple(source.shape)}; expected {tuple(self.shape)}"
        )
    if source.dtype != self.dtype:
        raise TypeError(f"[set] dtypes differ; got {source.dtype}; expected {self.dtype}")
    self.copy_to_device(source, stream=getattr(stream, "_stream", 0))


def data(self):
    """The array's memory: `.ptr` is its address."""
    from .cuda.memory import MemoryPointer

    return MemoryPointer.of(self)


class ArrayDevice(str):
    """The name of the device that holds an array, with what CuPy's Device has: id, use(), …

    A text, as NumPy's and Numbus's own programs expect; it equals `cupy.cuda.Device` of its number.
    """

    __slots__ = ()

    @property
    def id(self):
        return int(self.partition(":")[2] or 0)

    @property
    def _device(self):
        from .cuda.device import Device

        return Device(self.id)

    def __int__(self):
        return self.id

    def __enter__(self):
        return self._device.__enter__()

    def __exit__(self, *error):
        self._device.__exit__(*error)

    def __getattr__(self, name):
        return getattr(self._device, name)

    def __repr__(self):
        return f"<CUDA Device {self.id}>"


def device(self):
    """The device that holds the array."""
    return ArrayDevice(_devices.device_of(self))


def _scatter(name):
    def method(self, slices, value):
        import numbus

        getattr(numbus, name).at(self, slices, value)

    method.__name__ = method.__qualname__ = f"scatter_{name}"
    method.__doc__ = f"{name}.at(self, slices, value)."
    return method


def reduced_view(self):
    """A view with as few axes as possible: one where the array is contiguous."""
    return self.reshape(-1) if self.flags["C_CONTIGUOUS"] else self


def ptp(self, axis=None, out=None, keepdims=False):
    """The largest less the smallest value, a method that NumPy's arrays have no more."""
    import numbus

    return numbus.ptp(self, axis, out, keepdims)


def to_dlpack(self):
    """The DLPack capsule."""
    return self.__dlpack__()


def attach():
    """Gives numbus.ndarray, and what full reductions return, CuPy's attributes."""
    _core.keep_generics(True)  # CuPy has no scalars of NumPy's
    for cls in (_core.ndarray, _core.generic):
        cls.get = get
        cls.device = property(device, doc=device.__doc__)
        cls.data = property(data, doc=data.__doc__)
        cls.ptp = ptp
    array = _core.ndarray
    array.set = set_
    array.reduced_view = reduced_view
    array.toDlpack = to_dlpack
    array.scatter_add = _scatter("add")
    array.scatter_max = _scatter("maximum")
    array.scatter_min = _scatter("minimum")
