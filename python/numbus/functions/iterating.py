"""nditer: NumPy's iterator over several arrays, whose operands and values are arrays of ours."""

import numpy

from .. import _core
from .._core import ndarray
from ..core.given import settled
from ..core.host import Views
from ..core.operands import SUPPORTED, unwrap

__all__ = ["nditer"]


def _may_write(op_flags):
    """Whether flags of operands, words or lists of words, let one be written to."""
    if isinstance(op_flags, (tuple, list)):
        return any(map(_may_write, op_flags))
    return op_flags in ("readwrite", "writeonly")


def _ours(x):
    """A value of NumPy's, or a tuple of them, as one of ours."""
    if type(x) is numpy.ndarray:
        return _core.from_numpy(x) if x.dtype in SUPPORTED else x
    return tuple(map(_ours, x)) if type(x) is tuple else x


class nditer:
    """An iterator over arrays that broadcast, with the arguments and attributes of numpy.nditer.

    Values are arrays without axes (of one axis with 'external_loop'), views of the operands where
    they lie on a CPU. What is written into operands of a GPU is there when the iterator ends, or is
    closed; with buffers, as in NumPy, that takes `with`.
    """

    def __init__(
        self,
        op,
        flags=None,
        op_flags=None,
        op_dtypes=None,
        order="K",
        casting="safe",
        op_axes=None,
        itershape=None,
        buffersize=0,
    ):
        views = Views()
        if type(op) is ndarray:
            given = views.give(op)
        else:
            given = settled(unwrap(op if isinstance(op, (tuple, list)) else (op,), views))
        if flags is op_flags is op_dtypes is op_axes is itershape is None:
            named = None
        else:
            optional = {"flags": flags, "op_flags": op_flags, "op_dtypes": op_dtypes}
            optional |= {"op_axes": op_axes, "itershape": itershape}
            named = {name: value for name, value in optional.items() if value is not None}
        # As much of it as is said: reading keywords takes NumPy longer than all else.
        if named is None and order == "K" and casting == "safe" and buffersize == 0:
            real = numpy.nditer(given)
        else:
            named = named or {}
            real = numpy.nditer(given, order=order, casting=casting, buffersize=buffersize, **named)
        writes = op_flags is not None and _may_write(op_flags)
        if type(op) is not ndarray:
            writes = writes or any([x is None for x in given])
        own = self.__dict__  # this type sets attributes of the iterator
        own["_views"], own["_real"], own["_writes"] = views, real, writes

    def _values(self, x):
        """Values of NumPy's as ours; where they may be written to, over the same memory."""
        if not self._writes:
            return _ours(x)
        before = _core.set_device("cpu")
        try:
            return _ours(x)
        finally:
            _core.set_device(before)

    def __iter__(self):
        return self

    def __next__(self):
        try:
            return self._values(next(self._real))
        except StopIteration:
            self._views.finish()
            raise

    def iternext(self):
        """Goes one step on; whether there is a value."""
        more = self._real.iternext()
        if not more:
            self._views.finish()
        return more

    def close(self):
        """Writes back what buffers, and copies of a GPU's operands, hold."""
        self._real.close()
        self._views.finish()

    def __enter__(self):
        self._real.__enter__()
        return self

    def __exit__(self, *error):
        self._real.__exit__(*error)
        self._views.finish()

    def __len__(self):
        return len(self._real)

    def __getitem__(self, index):
        return self._values(self._real[index])

    def __setitem__(self, index, value):
        self._real[index] = numpy.asarray(value) if type(value) is ndarray else value

    def copy(self):
        """Another iterator in the same state, over the same operands."""
        made = object.__new__(nditer)
        made._real, made._views = self._real.copy(), self._views
        made._writes = self._writes
        return made

    __copy__ = copy

    @property
    def operands(self):
        """The arrays that are iterated over."""
        given = self._views.array_of
        return tuple([_ours(x) if given(x) is None else given(x) for x in self._real.operands])

    @property
    def value(self):
        """The current value, or a tuple of one for each operand."""
        return self._values(self._real.value)

    @property
    def itviews(self):
        """Views of the operands as they are iterated over."""
        return self._values(tuple(self._real.itviews))

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._real, name)

    def __setattr__(self, name, value):
        if name in ("multi_index", "index", "iterindex", "iterrange"):
            setattr(self._real, name, value)
        else:
            object.__setattr__(self, name, value)
