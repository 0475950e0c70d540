"""What cupy.cuda.runtime and the devices share: its error, and questions to a device."""

import numbus.cuda
from numbus import _core

__name__ = "cupy.cuda.runtime"

_NAMES = {1: "cudaErrorInvalidValue", 101: "cudaErrorInvalidDevice"}


class CUDARuntimeError(RuntimeError):
    """A call that CUDA's runtime would refuse: `status` is its number."""

    def __init__(self, what, status, got, expected):
        self.status = status
        super().__init__(f"[{what}] {_NAMES[status]}; got {got}; expected {expected}")

    def __reduce__(self):
        return RuntimeError, self.args


def get_device_id():
    """The number of the device in use."""
    return int(_core.get_device().partition(":")[2] or 0)


def properties(device=None):
    """What is known of a device, by Numbus's names: of the one in use."""
    if device not in (None, get_device_id()):
        raise CUDARuntimeError("properties", 1, f"device {device}", "the device in use")
    return dict(numbus.cuda.get_current_device()._properties)


def memGetInfo():
    """(free, total) bytes of the device's memory."""
    _core.synchronize()
    stats = _core.memory_stats(_core.get_device())
    return stats["limit"] - stats["used_bytes"], stats["limit"]


def deviceGetPCIBusId(device):
    """The bus address, which is not known here."""
    raise CUDARuntimeError(
        "deviceGetPCIBusId", 1, f"device {device}", "a GPU's number by nvidia-smi"
    )
