"""numba.cuda.cudadrv.devicearray: the array of devices, which is Numbus's."""

from numbus.cuda import DeviceNDArray, is_cuda_array

from .._missing import missing

__name__ = "numba.cuda.cudadrv.devicearray"
DeviceNDArrayBase = DeviceNDArray


def is_cuda_ndarray(obj):
    """Whether it is an array of a device."""
    return is_cuda_array(obj)


def __getattr__(name):
    return missing(__name__, name)
