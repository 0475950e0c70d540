"""`a.flat`: the elements in C order, on the host."""

import numpy

from .. import _core
from .._core import ndarray
from .errors import message
from .host import writing
from .indexing import plain


@_core.composed
def _flat_elements(a, index):
    result = numpy.asarray(a).flat[plain(index)]
    return _core.from_numpy(result, "take") if isinstance(result, numpy.ndarray) else result


class Flat:
    """`a.flat`: the elements in C order, to read, assign and iterate over."""

    __slots__ = ("_it", "base")

    def __init__(self, a):
        self.base = a
        self._it = None

    def _iterator(self):
        if self._it is None:
            self._it = numpy.asarray(self.base).flat
        return self._it

    index = property(lambda self: self._iterator().index, doc="Position of the next element.")
    coords = property(lambda self: self._iterator().coords, doc="Indices of the next element.")

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._iterator())

    def __len__(self):
        return self.base.size

    def __getitem__(self, index):
        return _flat_elements(self.base, index)

    def __setitem__(self, index, value):
        with writing(self.base) as real:
            real.flat[plain(index)] = numpy.asarray(value) if type(value) is ndarray else value

    def __array__(self, dtype=None, copy=None):
        if copy is False and not self.base.flags.c_contiguous:
            found = f"strides {self.base.strides}"
            raise ValueError(message("flat", "unable to avoid a copy", found, "C order"))
        return numpy.array(numpy.asarray(self.base).reshape(-1), dtype, copy=copy)

    def copy(self):
        """The elements as a 1-D array."""
        return self.base.flatten()

    def __eq__(self, other):
        return self.copy() == other

    def __ne__(self, other):
        return self.copy() != other

    __hash__ = None
