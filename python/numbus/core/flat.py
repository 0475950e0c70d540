"""`a.flat`: the elements in C order, on the host."""

import numpy

from .. import _core
from .._core import ndarray
from .errors import message
from .host import writing
from .indexing import plain


class Flat(_core.flatiter):
    """`a.flat`: the elements in C order, to read, assign and iterate over.

    The core has what a CPU's memory answers; what follows is all else.
    """

    __slots__ = ("_host",)

    @property
    def coords(self):
        """Indices of the next element."""
        return tuple([int(k) for k in numpy.unravel_index(self.index, self.base.shape)])

    def _elsewhere(self, at):
        """An element of an array that lies on a device: of a copy that is made once."""
        if _core.watching():
            return self.base.reshape(-1)[at]
        if not hasattr(self, "_host"):
            self._host = numpy.asarray(self.base).reshape(-1)
        return self._host[at]

    @_core.composed
    def _get(self, index):
        result = numpy.asarray(self.base).flat[plain(index)]
        return _core.from_numpy(result, "take") if isinstance(result, numpy.ndarray) else result

    def _set(self, index, value):
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
