"""cupy.cuda.runtime: the calls of CUDA's runtime that scripts make, on Numbus's devices."""

import ctypes
import re

import numpy

import numbus.cuda
from numbus import _core
from numbus.core import devices as _devices

from ..._missing import getter
from ._queries import (  # noqa: F401 (public here)
    CUDARuntimeError,
    deviceGetPCIBusId,
    memGetInfo,
    properties,
)
from .device import check, count, get_device_id
from .memory import at_address, host_view

__name__ = "cupy.cuda.runtime"

is_hip = False
CUDART_VERSION = 12000

memcpyHostToHost, memcpyHostToDevice, memcpyDeviceToHost = 0, 1, 2
memcpyDeviceToDevice, memcpyDefault = 3, 4
hostAllocDefault, hostAllocPortable, hostAllocMapped, hostAllocWriteCombined = 0, 1, 2, 4
memAttachGlobal, memAttachHost, memAttachSingle = 1, 2, 4
streamDefault, streamNonBlocking, streamLegacy, streamPerThread = 0, 1, 1, 2
eventDefault, eventBlockingSync, eventDisableTiming, eventInterprocess = 0, 1, 2, 4
deviceAttributeComputeCapabilityMajor = cudaDevAttrComputeCapabilityMajor = 75
deviceAttributeComputeCapabilityMinor = cudaDevAttrComputeCapabilityMinor = 76
cudaDevAttrMaxThreadsPerBlock, cudaDevAttrWarpSize, cudaDevAttrMultiProcessorCount = 1, 10, 16
cudaDevAttrMaxSharedMemoryPerBlock = 8


def getDeviceCount():
    """The number of devices: GPUs, or the CPU that stands in for one."""
    return count()


def getDevice():
    """The number of the device in use."""
    return get_device_id()


def setDevice(device):
    """Makes a device the one of new arrays."""
    check(int(device))
    if _core.is_default_gpu():
        _devices.device(f"cuda:{int(device)}")


def deviceSynchronize():
    """Waits for all work, and raises what kernels have noted."""
    numbus.cuda.synchronize()


def getDeviceProperties(device):
    """A dict by CUDA's names: name (bytes), totalGlobalMem, multiProcessorCount, major, …"""
    check(int(device))
    p = properties()
    major, minor = p["compute_capability"]
    return {
        "name": p["name"].encode(),
        "totalGlobalMem": p.get("total_memory") or _core.memory_stats(_core.get_device())["limit"],
        "sharedMemPerBlock": p["MAX_SHARED_MEMORY_PER_BLOCK"],
        "warpSize": p["WARP_SIZE"],
        "maxThreadsPerBlock": p["MAX_THREADS_PER_BLOCK"],
        "maxThreadsDim": (p["MAX_THREADS_PER_BLOCK"], p["MAX_THREADS_PER_BLOCK"], 64),
        "maxGridSize": (2**31 - 1, 65535, 65535),
        "multiProcessorCount": p["MULTIPROCESSOR_COUNT"],
        "major": major,
        "minor": minor,
        "integrated": int(not _core.is_default_gpu()),
        "canMapHostMemory": 1,
        "unifiedAddressing": 1,
        "concurrentKernels": 1,
    }


def deviceGetAttribute(attrib, device):
    """One property by its number; raises CUDARuntimeError for those that are not known."""
    p = getDeviceProperties(device)
    known = {75: "major", 76: "minor", 1: "maxThreadsPerBlock", 10: "warpSize"}
    known |= {16: "multiProcessorCount", 8: "sharedMemPerBlock"}
    if attrib not in known:
        raise CUDARuntimeError("deviceGetAttribute", 1, attrib, f"one of {sorted(known)}")
    return p[known[attrib]]


def deviceCanAccessPeer(device, peer):
    """Whether one device reaches the memory of another."""
    return int(device != peer and check(device) != check(peer))


def deviceEnablePeerAccess(peer):
    """Copies between devices need nothing enabled."""
    check(peer)


def runtimeGetVersion():
    """The version of CUDA that kernels are made for, as 1000 * major + 10 * minor."""
    major, minor = numbus.cuda.runtime.get_version()
    return 1000 * major + 10 * minor


def driverGetVersion():
    """The driver's version of CUDA, as 1000 * major + 10 * minor; 0 without a driver."""
    found = re.search(r"CUDA (\d+)\.(\d+)", _core.cuda_info()) if _core.is_default_gpu() else None
    return 1000 * int(found[1]) + 10 * int(found[2]) if found else 0


# Memory, by address. What is allocated here lives until it is freed here.
_held = {}


def _hold(array):
    """The address of an array's bytes; the array is kept until freed."""
    address = (
        array._pointer if isinstance(array, _core.ndarray) else array.__array_interface__["data"][0]
    )
    _held[address] = array
    return address


def _release(what, ptr):
    if ptr and _held.pop(int(ptr), None) is None:
        raise CUDARuntimeError(what, 1, hex(int(ptr)), "an address that was allocated here")


def malloc(size):
    """The address of `size` new bytes of the device."""
    return _hold(_core.empty((max(1, int(size)),), numpy.dtype(numpy.uint8)))


def mallocManaged(size, flags=memAttachGlobal):
    """The address of `size` new bytes that the host and the device see."""
    return _hold(numbus.cuda.managed_array(max(1, int(size)), numpy.uint8))


def mallocAsync(size, stream=0):
    """malloc."""
    return malloc(size)


def free(ptr):
    """Gives back what malloc gave."""
    _release("free", ptr)


def freeAsync(ptr, stream=0):
    """free."""
    _release("freeAsync", ptr)


def hostAlloc(size, flags=0):
    """The address of `size` new pinned bytes of the host; mapped ones for hostAllocMapped."""
    make = numbus.cuda.mapped_array if flags & hostAllocMapped else numbus.cuda.pinned_array
    return _hold(make(max(1, int(size)), numpy.uint8))


def freeHost(ptr):
    """Gives back what hostAlloc gave."""
    _release("freeHost", ptr)


def hostGetDevicePointer(ptr, flags=0):
    """The address by which kernels reach memory of hostAlloc: the same one."""
    if flags:
        raise CUDARuntimeError("hostGetDevicePointer", 1, f"flags={flags}", "0")
    return int(ptr)


_registered = {}


def hostRegister(ptr, size, flags=0):
    """Pins memory of the host until hostUnregister; maps it for hostRegisterMapped (2)."""
    make = numbus.cuda.mapped if flags & 2 else numbus.cuda.pinned
    block = make(host_view(int(ptr), int(size)))
    block.__enter__()
    _registered[int(ptr)] = block


def hostUnregister(ptr):
    """Undoes hostRegister."""
    block = _registered.pop(int(ptr), None)
    if block is None:
        raise CUDARuntimeError("hostUnregister", 1, hex(int(ptr)), "an address of hostRegister")
    block.__exit__(None, None, None)


def _on_host(kind, side):
    """Whether an address is the host's: side 0 for the target, 1 for the source."""
    if not _core.is_default_gpu():
        return True
    return kind in ((0, 2), (0, 1))[side]


def _view(address, size, host):
    return host_view(address, size) if host else at_address(address, size)


def memcpy(dst, src, size, kind=memcpyDefault):
    """Copies `size` bytes between addresses; kind: memcpyHostToDevice and so on.

    Done when it returns. On a GPU the kind has to say where the addresses lie.
    """
    if size < 0 or not 0 <= kind <= 4:
        raise CUDARuntimeError("memcpy", 1, f"{size} bytes, kind {kind}", "0 or more, kind 0 to 4")
    if kind == memcpyDefault and _core.is_default_gpu():
        raise CUDARuntimeError("memcpy", 1, "memcpyDefault", "memcpyHostToDevice or another kind")
    _core.synchronize()
    if not size:
        return
    dst, src = int(dst), int(src)
    host_dst, host_src = _on_host(kind, 0), _on_host(kind, 1)
    if host_dst and host_src:
        ctypes.memmove(dst, src, size)
        return
    source, target = _view(src, size, host_src), _view(dst, size, host_dst)
    if host_dst:
        target[...] = numpy.asarray(source)
    else:
        target[...] = source
    _core.synchronize()


def memcpyAsync(dst, src, size, kind, stream=0):
    """memcpy."""
    memcpy(dst, src, size, kind)


def memcpyPeer(dst, dst_device, src, src_device, size):
    """memcpy between devices."""
    memcpy(dst, src, size, memcpyDeviceToDevice)


def memset(ptr, value, size):
    """Sets `size` bytes of the device to a value."""
    _core.synchronize()
    if size:
        _view(int(ptr), size, not _core.is_default_gpu())[...] = value & 255
        _core.synchronize()


def memsetAsync(ptr, value, size, stream=0):
    """memset."""
    memset(ptr, value, size)


def memPrefetchAsync(ptr, size, device, stream=0):
    """A hint: nothing to do."""


def memAdvise(ptr, size, advice, device):
    """A hint: nothing to do."""


# Streams and events by handle: numbers of objects that live until they are destroyed.
_objects = {}


def _object(handle):
    if int(handle) == 0:
        from .stream import Stream

        return Stream.null
    try:
        return _objects[int(handle)]
    except KeyError:
        raise CUDARuntimeError("runtime", 1, f"handle {handle}", "one made here") from None


def _handle(thing):
    _objects[id(thing)] = thing
    return id(thing)


def streamCreate():
    """The handle of a new stream."""
    from .stream import Stream

    return _handle(Stream())


def streamCreateWithFlags(flags):
    """streamCreate; flag 1: a stream that does not wait for the null stream."""
    from .stream import Stream

    return _handle(Stream(non_blocking=bool(flags & 1)))


def streamDestroy(stream):
    """Forgets a stream."""
    _objects.pop(int(stream), None)


def streamSynchronize(stream):
    """Waits for the work of a stream."""
    _object(stream).synchronize()


def streamQuery(stream):
    """0 where the work of a stream is done, else 600."""
    return 0 if _object(stream).done else 600


def streamWaitEvent(stream, event, flags=0):
    """Lets a stream's work from now on wait for an event."""
    _object(stream).wait_event(_object(event))


def eventCreate():
    """The handle of a new event."""
    from .stream import Event

    return _handle(Event())


def eventCreateWithFlags(flags):
    """The handle of a new event; flags: eventDisableTiming."""
    from .stream import Event

    return _handle(Event(disable_timing=bool(flags & eventDisableTiming)))


def eventDestroy(event):
    """Forgets an event."""
    _objects.pop(int(event), None)


def eventRecord(event, stream=0):
    """Marks this point of a stream."""
    _object(event).record(_object(stream))


def eventSynchronize(event):
    """Waits for an event."""
    _object(event).synchronize()


def eventQuery(event):
    """0 where an event has happened, else 600."""
    return 0 if _object(event).done else 600


def eventElapsedTime(start, end):
    """Milliseconds between two events."""
    from .stream import get_elapsed_time

    return get_elapsed_time(_object(start), _object(end))


def profilerStart():
    """For profilers; does nothing."""


def profilerStop():
    """For profilers; does nothing."""


__getattr__ = getter(__name__)
