"""numba.cuda.cudadrv.error: errors that programs catch."""

from numbus.cuda import CudaSupportError

__name__ = "numba.cuda.cudadrv.error"


class CudaDriverError(Exception):
    """An error of the driver; Numbus raises RuntimeError."""


class NvvmError(Exception):
    """An error of NVVM, which is not used."""


__all__ = ["CudaDriverError", "CudaSupportError", "NvvmError"]
