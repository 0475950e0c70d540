"""The smaller names of numba.cuda: hints for caches, argument wrappers, what the device can do."""

from ..functions.creation import asarray
from ..kernels._dispatch import njit
from . import _host

__all__ = [
    "CudaSupportError",
    "In",
    "InOut",
    "KernelRuntimeError",
    "Out",
    "cuda_error",
    "from_cuda_array_interface",
    "implementation",
    "initialize",
    "is_bfloat16_supported",
    "is_float16_supported",
    "is_fp8_supported",
    "ldca",
    "ldcg",
    "ldcs",
    "ldcv",
    "ldlu",
    "literal_unroll",
    "runtime",
    "stcg",
    "stcs",
    "stwb",
    "stwt",
]

implementation = "Numbus"


class CudaSupportError(RuntimeError):
    """There is no GPU that can be used."""


class KernelRuntimeError(RuntimeError):
    """For programs that catch it: kernels raise the exceptions that stand in them."""


def _load(name, what):
    def load(array, index):
        return array[index]

    load.__doc__ = f"{name}(array, index): the element, {what}: a hint, and a plain load here."
    load.__qualname__ = name
    return njit(load)


def _store(name, what):
    def store(array, index, value):
        array[index] = value

    store.__doc__ = f"{name}(array, index, value): stores, {what}: a hint, and a plain store here."
    store.__qualname__ = name
    return njit(store)


ldca = _load("ldca", "cached at all levels")
ldcg = _load("ldcg", "cached in level 2")
ldcs = _load("ldcs", "used once")
ldlu = _load("ldlu", "used for the last time")
ldcv = _load("ldcv", "read anew")
stwb = _store("stwb", "written back at all levels")
stcg = _store("stcg", "cached in level 2")
stcs = _store("stcs", "used once")
stwt = _store("stwt", "written through")


@njit
def literal_unroll(items):
    """The tuple: loops over tuples are unrolled anyway."""
    return items


def In(ary):
    """An argument that a kernel reads: a copy on the device, not copied back."""
    return _host.to_device(ary)


def Out(ary):
    """An argument that a kernel writes: it is copied back where that is so anyway."""
    return ary


InOut = Out


def from_cuda_array_interface(desc, owner=None, sync=True):
    """The array that a __cuda_array_interface__ describes; no copy where it is on the GPU."""

    class Described:
        __cuda_array_interface__ = desc
        holds = owner

    return asarray(Described())


def initialize():
    """The driver is loaded when it is needed: nothing to do."""


def cuda_error():
    """Why CUDA could not be initialised; None where it could."""
    return None if _host._memory.is_available() else _host._memory.reason()


def is_float16_supported():
    """Whether float16 can be computed with."""
    return True


def is_bfloat16_supported():
    """Whether bfloat16 can be computed with."""
    return True


def is_fp8_supported():
    """Whether 8-bit floats can be computed with: not yet."""
    return False


class _Runtime:
    """CUDA's runtime library is not used: PTX goes to the driver."""

    def get_version(self):
        """(major, minor) of the PTX that is made for."""
        return 12, 0

    def is_supported_version(self):
        """Whether the version is supported."""
        return True


runtime = _Runtime()
