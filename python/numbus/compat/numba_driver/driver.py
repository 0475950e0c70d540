"""numba.cuda.cudadrv.driver: the driver's version, its errors, memory of the host."""

import re

from numbus import _core, cuda

from .._missing import missing

__name__ = "numba.cuda.cudadrv.driver"


class LinkerError(RuntimeError):
    """Code that does not link: nothing is linked here."""


class CudaAPIError(RuntimeError):
    """A call that the driver refuses; Numbus raises RuntimeError itself."""

    def __init__(self, code, msg):
        super().__init__(code, msg)
        self.code, self.msg = code, msg


class Driver:
    """The driver: is_available, get_device_count, get_version."""

    @property
    def is_initialized(self):
        return _core.cuda_available()

    @property
    def initialization_error(self):
        return None if _core.cuda_available() else cuda.reason()

    def get_device_count(self):
        """The number of devices, the CPU that stands in for a missing GPU included."""
        return len(cuda.gpus)

    def get_version(self):
        """(major, minor) of CUDA; (0, 0) without a driver."""
        found = re.search(r"CUDA (\d+)\.(\d+)", _core.cuda_info())
        return (int(found[1]), int(found[2])) if found else (0, 0)


driver = Driver()


def device_pointer(obj):
    """The address of an array's first element."""
    return obj._pointer


def host_pointer(obj):
    """The address of a NumPy array's first element."""
    return obj.__array_interface__["data"][0]


def __getattr__(name):
    return missing(__name__, name)
