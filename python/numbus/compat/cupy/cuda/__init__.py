"""cupy.cuda: devices, streams, events and memory, over numbus.cuda.

Without a GPU the CPU stands in for one: device 0.
"""

# ruff: noqa: F401 – names for users
import importlib as _importlib

from ..._missing import missing as _missing
from . import device, memory, pinned_memory, runtime, stream
from .device import Device, get_device_id
from .memory import (
    ManagedMemory,
    Memory,
    MemoryAsync,
    MemoryAsyncPool,
    MemoryPointer,
    MemoryPool,
    UnownedMemory,
    alloc,
    get_allocator,
    malloc_async,
    malloc_managed,
    set_allocator,
    using_allocator,
)
from .pinned_memory import (
    PinnedMemory,
    PinnedMemoryPointer,
    PinnedMemoryPool,
    alloc_pinned_memory,
    set_pinned_memory_allocator,
)
from .stream import Event, ExternalStream, Stream, get_current_stream, get_elapsed_time

__name__ = "cupy.cuda"

_SUBMODULES = frozenset("compiler driver function nvtx profiler".split())


def is_available():
    """Whether there is a device for kernels: always, as the CPU stands in for a missing GPU."""
    return True


def get_local_runtime_version():
    """The version of CUDA that kernels are made for, as 1000 * major + 10 * minor."""
    return runtime.runtimeGetVersion()


def get_cuda_path():
    """None: no CUDA toolkit is needed."""
    return None


get_nvcc_path = get_rocm_path = get_hipcc_path = get_cuda_path


def __getattr__(name):
    if name in _SUBMODULES:
        return _importlib.import_module(f"{__package__}.{name}")
    if name in ("Function", "Module"):
        return getattr(_importlib.import_module(f"{__package__}.function"), name)
    if name == "profile":
        from .profiler import profile

        return profile
    return _missing("cupy.cuda", name)
