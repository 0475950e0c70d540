"""cupy.cuda.pinned_memory: pinned memory of the host, over numbus.cuda.pinned_array."""

import numpy

import numbus.cuda

from ..._missing import getter

__name__ = "cupy.cuda.pinned_memory"


class PinnedMemory:
    """`size` bytes of pinned memory of the host: `ptr`, `size`."""

    def __init__(self, size, flags=0):
        self._array = numpy.asarray(numbus.cuda.mapped_array(int(size), numpy.uint8))
        self.size = int(size)
        self.ptr = self._array.__array_interface__["data"][0]

    def __int__(self):
        return self.ptr


class PinnedMemoryPointer(numpy.ndarray):
    """An address inside of a PinnedMemory, with a buffer for numpy.frombuffer: `ptr`, `mem`."""

    def __new__(cls, mem, offset):
        made = mem._array[offset:].view(cls)
        made.mem, made._offset, made.ptr = mem, offset, mem.ptr + offset
        return made

    def __int__(self):
        return self.ptr

    def size(self):
        """The bytes from here to the memory's end."""
        return self.nbytes

    def __add__(self, offset):
        return PinnedMemoryPointer(self.mem, self._offset + offset)

    __radd__ = __add__

    def __sub__(self, offset):
        return PinnedMemoryPointer(self.mem, self._offset - offset)

    def __repr__(self):
        return f"<PinnedMemoryPointer {self.ptr:#x}, {self.nbytes} bytes>"


class PinnedMemoryPool:
    """A pool of pinned memory: freed memory goes back at once, nothing is kept."""

    def __init__(self, allocator=None):
        pass

    def malloc(self, size):
        """A PinnedMemoryPointer to `size` new bytes."""
        return alloc_pinned_memory(size)

    def free_all_blocks(self):
        """Nothing is kept."""

    def n_free_blocks(self):
        """0: nothing is kept."""
        return 0


_default_pool = PinnedMemoryPool()


def default_pool():
    """The pool of pinned memory."""
    return _default_pool


def alloc_pinned_memory(size):
    """A PinnedMemoryPointer to `size` new bytes."""
    return PinnedMemoryPointer(PinnedMemory(size), 0)


def set_pinned_memory_allocator(allocator=None):
    """Nothing to set: pinned memory comes from the driver."""


__getattr__ = getter(__name__)
