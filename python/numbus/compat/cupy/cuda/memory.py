"""cupy.cuda.memory: pointers into arrays' memory, and the pool's figures.

All memory of arrays comes from Numbus's pool; allocators are taken, and arrays do not ask them.
"""

import contextlib
import ctypes

import numpy

import numbus
import numbus.cuda
from numbus import _core

from ..._missing import getter
from .device import get_device_id

__name__ = "cupy.cuda.memory"


class OutOfMemoryError(MemoryError):
    """The device has no memory left."""


class BaseMemory:
    """A stretch of memory: `ptr`, `size` in bytes, `device_id`. Held by a uint8 array."""

    def __init__(self, array, owner=None):
        self._array, self._owner = array, owner
        self.size, self.device_id = array.nbytes, get_device_id()
        self.ptr = array._pointer if array.nbytes else 0

    def __int__(self):
        return self.ptr


class Memory(BaseMemory):
    """`size` bytes of the device."""

    def __init__(self, size):
        super().__init__(_core.empty((int(size),), numpy.dtype(numpy.uint8)))


class MemoryAsync(Memory):
    """Memory: allocation is ordered with the stream's work anyway."""

    def __init__(self, size, stream=None):
        super().__init__(size)


class ManagedMemory(BaseMemory):
    """`size` bytes that the host and the device see."""

    def __init__(self, size):
        made = numbus.cuda.managed_array(int(size), numpy.uint8)
        super().__init__(numbus.cuda.as_cuda_array(made), made)

    def prefetch(self, stream, *, device_id=None):
        """A hint: nothing to do."""

    def advise(self, advise, dev):
        """A hint: nothing to do."""


class UnownedMemory(BaseMemory):
    """Memory that others have allocated: `size` bytes from `ptr`; `owner` is kept alive."""

    def __init__(self, ptr, size, owner, device_id=-1):
        super().__init__(at_address(int(ptr), int(size), owner), owner)


def host_view(address, size, owner=None):
    """A NumPy array over bytes of the host, which keeps their owner alive."""
    memory = (ctypes.c_uint8 * size).from_address(address)
    memory.owner = owner
    return numpy.frombuffer(memory, numpy.uint8)


def at_address(address, size, owner=None):
    """A uint8 array over `size` bytes that lie where kernels can reach them."""
    if not size:
        return _core.empty((0,), numpy.dtype(numpy.uint8))
    if not _core.is_default_gpu():
        return _core.from_numpy(host_view(address, size, owner))
    return numbus.asarray(_DeviceBytes(address, size, owner))


class _DeviceBytes:
    """Bytes on a GPU, by address, as other libraries export them."""

    def __init__(self, address, size, owner):
        self.owner = owner
        self.__cuda_array_interface__ = {
            "shape": (size,),
            "typestr": "|u1",
            "data": (address, False),
            "strides": None,
            "version": 3,
        }


class MemoryPointer:
    """An address inside of a Memory: `ptr`; adding a number moves it."""

    def __init__(self, mem, offset):
        if not 0 <= offset <= mem.size:
            raise ValueError(
                f"[MemoryPointer] the offset leaves the memory; got {offset}; expected 0 to "
                f"{mem.size}"
            )
        self.mem, self._offset = mem, int(offset)
        self.device_id, self.ptr = mem.device_id, mem.ptr + int(offset)

    @classmethod
    def of(cls, array):
        """The pointer to an array's first element."""
        made = cls.__new__(cls)
        made.mem = _ArrayMemory(array)
        made._offset, made.device_id = 0, get_device_id()
        made.ptr = made.mem.ptr
        return made

    def __add__(self, offset):
        return MemoryPointer(self.mem, self._offset + offset)

    __radd__ = __add__

    def __sub__(self, offset):
        return MemoryPointer(self.mem, self._offset - offset)

    def __int__(self):
        return self.ptr

    def _part(self, size):
        """The array over `size` bytes from here."""
        if not 0 <= size <= self.mem.size - self._offset:
            raise ValueError(
                f"[MemoryPointer] the memory ends before; got {size} bytes; expected at most "
                f"{self.mem.size - self._offset}"
            )
        return self.mem._array[self._offset : self._offset + size]

    def _array_over(self, shape, dtype, strides=None, order="C"):
        """The array that lies here, for cupy.ndarray(shape, dtype, memptr)."""
        dtype = numpy.dtype(dtype)
        shape = tuple(shape) if isinstance(shape, (tuple, list)) else (int(shape),)
        count = int(numpy.prod(shape, dtype=int))
        flat = self._part(count * dtype.itemsize).view(dtype)
        if strides is not None:
            return _core.as_strided(flat, shape, tuple(strides))
        return flat.reshape(shape[::-1]).T if order == "F" else flat.reshape(shape)

    def copy_from_host(self, mem, size):
        """Copies `size` bytes from an address of the host (an int or a ctypes pointer)."""
        self._part(size)[...] = host_view(_address(mem), size)
        _core.synchronize()

    def copy_from_device(self, src, size):
        """Copies `size` bytes from another MemoryPointer."""
        self._part(size)[...] = src._part(size)

    def copy_from(self, mem, size):
        """Copies `size` bytes from a MemoryPointer or an address of the host."""
        if isinstance(mem, MemoryPointer):
            self.copy_from_device(mem, size)
        else:
            self.copy_from_host(mem, size)

    def copy_to_host(self, mem, size):
        """Copies `size` bytes to an address of the host."""
        host_view(_address(mem), size)[...] = numpy.asarray(self._part(size))

    def memset(self, value, size):
        """Sets `size` bytes to a value."""
        self._part(size)[...] = value & 255

    def copy_from_host_async(self, mem, size, stream=None):
        """copy_from_host."""
        self.copy_from_host(mem, size)

    def copy_from_device_async(self, src, size, stream=None):
        """copy_from_device."""
        self.copy_from_device(src, size)

    def copy_from_async(self, mem, size, stream=None):
        """copy_from."""
        self.copy_from(mem, size)

    def copy_to_host_async(self, mem, size, stream=None):
        """copy_to_host."""
        self.copy_to_host(mem, size)

    def memset_async(self, value, size, stream=None):
        """memset."""
        self.memset(value, size)


class _ArrayMemory:
    """The memory of an array as it lies; its bytes are known where the array is contiguous."""

    def __init__(self, array):
        self._whole = array
        self.size, self.device_id = array.nbytes, get_device_id()
        array = array if isinstance(array, _core.ndarray) else array._array()
        self.ptr = array._pointer if array.nbytes else 0

    @property
    def _array(self):
        return self._whole.reshape(-1).view(numpy.uint8)

    def __int__(self):
        return self.ptr


def _address(mem):
    """The address that an int or a ctypes pointer stands for."""
    return mem if isinstance(mem, int) else ctypes.cast(mem, ctypes.c_void_p).value


def alloc(size):
    """A MemoryPointer to `size` new bytes of the device."""
    return MemoryPointer(Memory(size), 0)


def malloc_managed(size):
    """A MemoryPointer to `size` new bytes that the host and the device see."""
    return MemoryPointer(ManagedMemory(size), 0)


malloc_async = alloc


class MemoryPool:
    """Numbus's pool of the device's memory: its figures, its limit, giving back what is unused.

    There is one pool for a device, whatever objects of this class there are.
    """

    def __init__(self, allocator=None):
        self._name = _core.get_device()

    def _stats(self):
        _core.synchronize()
        return _core.memory_stats(self._name)

    def malloc(self, size):
        """A MemoryPointer to `size` new bytes."""
        return alloc(size)

    def used_bytes(self):
        """Bytes that arrays hold."""
        return self._stats()["used_bytes"]

    def free_bytes(self):
        """Bytes that are kept for later arrays."""
        return self._stats()["pooled_bytes"]

    def total_bytes(self):
        """used_bytes + free_bytes."""
        stats = self._stats()
        return stats["used_bytes"] + stats["pooled_bytes"]

    def n_free_blocks(self):
        """1 where bytes are kept for later arrays, else 0: the pool counts bytes, not blocks."""
        return int(self.free_bytes() > 0)

    def free_all_blocks(self, stream=None):
        """Gives what is kept for later arrays back to the system."""
        _core.synchronize()
        _core.trim(self._name)

    free_all_free = free_all_blocks

    def set_limit(self, size=None, fraction=None):
        """Bounds the bytes that arrays take, by a size or a fraction of all; 0 for no bound."""
        if (size is None) == (fraction is None):
            raise ValueError("[set_limit] one of size and fraction is needed; got both or none; "
                             "expected one")  # fmt: skip
        if fraction is not None:
            if not 0 <= fraction <= 1:
                raise ValueError(f"[set_limit] not a fraction; got {fraction}; expected 0 to 1")
            _core.set_memory_limit(self._name, 0)
            size = int(self._stats()["limit"] * fraction)
        if size < 0:
            raise ValueError(f"[set_limit] a negative size; got {size}; expected 0 or more")
        _core.set_memory_limit(self._name, int(size))

    def get_limit(self):
        """The bound in bytes; that of the memory itself where none is set."""
        return self._stats()["limit"]


MemoryAsyncPool = MemoryPool
_default_pool = None


def default_pool():
    """The pool of the device in use."""
    global _default_pool
    if _default_pool is None or _default_pool._name != _core.get_device():
        _default_pool = MemoryPool()
    return _default_pool


_allocator = alloc


def set_allocator(allocator=None):
    """Keeps the allocator for get_allocator; arrays take their memory from Numbus's pool."""
    global _allocator
    _allocator = allocator or alloc


def get_allocator():
    """The allocator that was set."""
    return _allocator


@contextlib.contextmanager
def using_allocator(allocator=None):
    """set_allocator while a block lasts."""
    before = get_allocator()
    set_allocator(allocator)
    try:
        yield
    finally:
        set_allocator(before)


__getattr__ = getter(__name__)
