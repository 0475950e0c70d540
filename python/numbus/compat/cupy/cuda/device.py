"""cupy.cuda.device: the devices by number, and choosing one."""

import threading

import numbus.cuda
from numbus import _core
from numbus.core import devices as _devices

from ..._missing import getter
from ._queries import (
    CUDARuntimeError,
    deviceGetPCIBusId,
    get_device_id,
    memGetInfo,
    properties,
)

__name__ = "cupy.cuda.device"


def count():
    """The number of devices: GPUs, or the CPU that stands in for one."""
    return max(1, _core.cuda_count()) if _core.is_default_gpu() else 1


def check(number):
    """The number of a device that exists; raises CUDARuntimeError for others."""
    if not 0 <= number < count():
        raise CUDARuntimeError("Device", 101, f"device {number}", f"one of {count()}, from 0")
    return number


class Device:
    """A device by number, the one in use by default; `with Device(1):` uses it in the block."""

    _before = threading.local()

    def __init__(self, device=None):
        self.id = get_device_id() if device is None else int(device)

    @property
    def _name(self):
        return f"cuda:{self.id}" if _core.is_default_gpu() else _core.get_device()

    def use(self):
        """Makes it the device of new arrays."""
        check(self.id)
        if _core.is_default_gpu():
            _devices.device(self._name)
        return self

    def __enter__(self):
        stack = self._before.__dict__.setdefault("stack", [])
        stack.append(_core.get_device())
        return self.use()

    def __exit__(self, *error):
        _core.set_device(self._before.stack.pop())

    def synchronize(self):
        """Waits for all work, and raises what kernels have noted."""
        numbus.cuda.synchronize()

    @property
    def mem_info(self):
        """(free, total) bytes."""
        return memGetInfo()

    @property
    def compute_capability(self):
        """'90' for 9.0; '00' where the CPU stands in."""
        major, minor = numbus.cuda.get_current_device().compute_capability
        return f"{major}{minor}"

    @property
    def attributes(self):
        """Properties by name, such as MultiProcessorCount."""
        return {
            "".join(
                word.capitalize()
                for word in name.replace("MULTIPROCESSOR", "MULTI_PROCESSOR").split("_")
            ): value
            for name, value in properties().items()
            if isinstance(value, int)
        }

    @property
    def pci_bus_id(self):
        """The bus address; raises CUDARuntimeError where the CPU stands in."""
        return deviceGetPCIBusId(self.id)

    def __int__(self):
        return self.id

    def __eq__(self, other):
        if isinstance(other, str):  # an array's device
            return self._name == other
        return isinstance(other, Device) and self.id == other.id

    def __lt__(self, other):
        return self.id < other.id

    def __hash__(self):
        return hash(self.id)

    def __repr__(self):
        return f"<CUDA Device {self.id}>"


__getattr__ = getter(__name__)
