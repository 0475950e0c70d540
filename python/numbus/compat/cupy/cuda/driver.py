"""cupy.cuda.driver: the versions that scripts ask for."""

from ..._missing import getter
from .runtime import driverGetVersion

__name__ = "cupy.cuda.driver"


class CUDADriverError(RuntimeError):
    """A call that CUDA's driver refuses."""


def get_build_version():
    """The version of CUDA that kernels are made for, as 1000 * major + 10 * minor."""
    from .runtime import runtimeGetVersion

    return runtimeGetVersion()


__all__ = ["CUDADriverError", "driverGetVersion", "get_build_version"]
__getattr__ = getter(__name__)
