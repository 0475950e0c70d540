"""The memory of arrays as NumPy sees it: itself on a CPU, a copy of it on a GPU.

Whatever writes into an array through NumPy goes through `writing` or `Views`, which bring a copy's
elements back to the device.
"""

import contextlib
import functools

import numpy

from .. import _core


def on_host(a):
    """Whether NumPy can see the very memory of `a`."""
    return a._device == "cpu"


def runs_on_host(a):
    """Whether its device's work is code of the host, as it is for tests with fenced memory, too."""
    return a._device in ("cpu", "fenced")


def reading(a):
    """The elements of `a` as a NumPy array, not to be written to."""
    return numpy.asarray(a)


@contextlib.contextmanager
def writing(a, fresh=False):
    """A NumPy array to write into; at the end of the block `a` has its elements.

    fresh: everything will be written, so nothing need be read. On an error, too, what has been
    written so far is kept, as it is on a CPU.
    """
    if on_host(a):
        yield numpy.asarray(a)
        return
    if not a._writeable:
        yield numpy.asarray(a)  # read-only: NumPy raises at the first write
        return
    if fresh:
        real = numpy.empty(a.shape, a.dtype)
        yield real
        _core.store(a, real)
        return
    real = numpy.array(numpy.asarray(a), order="K")
    try:
        yield real
    finally:
        _core.store(a, real)


class Views:
    """What NumPy is given for the arrays in one call, by the id of the NumPy array."""

    def __init__(self):
        self._given = {}

    def give(self, a):
        """The NumPy array that stands for `a`; on a GPU a copy that may be written to."""
        real = numpy.asarray(a)
        before = None
        if not on_host(a) and a._writeable:
            before, real = real, numpy.array(real, order="K")
        self._given[id(real)] = (real, a, before)
        return real

    def keep(self, out):
        """Has the NumPy arrays that a caller gave for results, one or a tuple of them, stay as they
        are.
        """
        for real in out if isinstance(out, tuple) else (out,):
            if isinstance(real, numpy.ndarray):
                self._given[id(real)] = real, real, None

    def array_of(self, real):
        """The array that `real` stands for, or None."""
        found = self._given.get(id(real))
        return found[1] if found else None

    def shares(self, real):
        """Whether `real` is a view of something given."""
        return any([numpy.may_share_memory(real, view) for view, _, _ in self._given.values()])

    def finish(self):
        """Brings back what NumPy wrote into copies."""
        for real, a, before in self._given.values():
            if before is not None and not _same_bits(before, real):
                _core.store(a, real)


def _same_bits(x, y):
    if x.dtype.kind == "c":
        return _same_bits(x.real, y.real) and _same_bits(x.imag, y.imag)
    unsigned = f"u{x.dtype.itemsize}"
    return bool((x.view(unsigned) == y.view(unsigned)).all())


def same_memory(a, b):
    """Whether two arrays may share memory."""
    if a._storage == b._storage:
        return True
    return on_host(a) and on_host(b) and numpy.may_share_memory(numpy.asarray(a), numpy.asarray(b))


def about_memory(function, otherwise):
    """NumPy's question about the memory of two arrays, which is asked of their addresses where the
    host cannot read them, and `otherwise` of the arrays.
    """

    @functools.wraps(function)
    def ask(a, b, /, max_work=None):
        if not isinstance(a, _core.ndarray) or not isinstance(b, _core.ndarray):
            return otherwise(a, b, max_work)
        if on_host(a) and on_host(b):
            return otherwise(a, b, max_work)
        if a._device != b._device:
            return False
        one = a._storage == b._storage  # whose address may be another one later
        parts = [_Layout(x, _FIRST + x._offset if one else x._pointer) for x in (a, b)]
        return function(*[numpy.asarray(x) for x in parts], max_work)

    ask.counted = False
    return ask


_FIRST = 1 << 32  # an address for the beginning of a storage, which is not read


class _Layout:
    """An array's shape and strides at an address, for NumPy to compare with others."""

    def __init__(self, a, address):
        self.__array_interface__ = {
            "version": 3,
            "data": (address, False),
            "shape": a.shape,
            "strides": a.strides,
            "typestr": f"|V{a.itemsize}",
        }
