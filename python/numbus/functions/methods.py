"""Methods of ndarray and generic that are composed in Python, attached to the
classes of the core.
"""

import math
import operator

import numpy

from .. import _core
from .._core import generic, ndarray
from ..core import attributes, protocols, ufuncs
from ..core.dtypes import kind_of
from ..core.errors import as_shape, message
from ..core.fallback import make
from ..core.flat import Flat
from ..core.host import on_host, writing
from ..core.operands import copy_to_order, to_ndarray, to_numpy
from ..core.quick import quick
from . import (
    cumulative,
    elementwise,
    manipulation,
    matrices,
    products,
    reductions,
    repeating,
    selection,
    sorting,
)

_BOTH = (ndarray, generic)


@quick("tobytes")
def tobytes(self, order="C"):
    """The bytes of the elements in the given order."""
    return to_numpy(self).tobytes(order)


@quick("conj")
def conj(self):
    """Complex conjugate, element-wise; a real array itself."""
    return self if self.dtype.kind != "c" else ufuncs.UFUNCS["conjugate"](self)


def deepcopy(self, _memo):
    """A copy with the same layout."""
    return copy_to_order(self, "K")


def contains(self, item):
    """Whether any element equals `item`."""
    return bool(reductions.any(self == item))


def format_array(self, spec):
    """Format of a 0-d array's value, or of the text of any other array (empty spec only)."""
    with _core.constants():
        return format(numpy.asarray(self), spec)


def _text(form):
    """A method that gives `form` of the elements, which no program sees."""

    def method(self):
        with _core.constants():
            return form(to_numpy(self))

    return method


def format_generic(self, spec):
    with _core.constants():
        return format(to_numpy(self), spec)


def _wants_no_ufunc(x):
    return getattr(type(x), "__array_ufunc__", False) is None


def divmod_of(self, other):
    return NotImplemented if _wants_no_ufunc(other) else elementwise.divmod(self, other)


def rdivmod_of(self, other):
    return NotImplemented if _wants_no_ufunc(other) else elementwise.divmod(other, self)


def round_of(self, ndigits=None):
    """round(x): an int for a generic without digits, as with NumPy's scalars."""
    if ndigits is None and kind_of(self.dtype) in "fiu":
        return round(self.item())
    return self.round(0 if ndigits is None else ndigits)


def _view_method(name, counted=True):
    """A method that NumPy runs on the zero-copy view, in place where it works in place."""
    real = getattr(numpy.ndarray, name)
    on_view = make(f"numpy.ndarray.{name}", real, counted)

    def method(self, *args, **kwargs):
        return on_view(to_ndarray(self), *args, **kwargs)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = real.__doc__
    method.counted = counted
    return method


def compress(self, condition, axis=None, out=None):
    """The slices along `axis` where the condition holds."""
    return selection.compress(condition, self, axis, out)


def choose(self, choices, out=None, mode="raise"):
    """For each element the choice that it names by its number; as numbus.choose()."""
    return selection.choose(self, choices, out, mode)


def resize(self, *new_shape, refcheck=True):
    """Changes the shape in place: elements as they lie in memory, zeros after the last, or fewer.

    Views keep the elements that they had, so that no reference stands in the way (`refcheck`).
    Raises ValueError for an array that is itself a view, whose elements do not lie in one piece, or
    that is read-only, and for negative extents.
    """
    if new_shape in ((), (None,)):
        return
    shape = as_shape("resize", new_shape[0] if len(new_shape) == 1 else new_shape)
    if shape == self.shape:
        return
    if not (self.flags.c_contiguous or self.flags.f_contiguous):
        raise ValueError(message("resize", "elements in several pieces", self.strides, "one piece"))
    size = math.prod(shape)
    if size == self.size and self.flags.c_contiguous:
        self.shape = shape
        return
    if not self.flags.owndata or self.base is not None or not self.flags.writeable:
        raise ValueError(
            message("resize", "a view or read-only", self.shape, "an array of its own")
        )
    order = "C" if self.flags.c_contiguous else "F"  # in which the elements lie, and will lie
    line = self.ravel(order)
    longer = _core.full((size,), 0, self.dtype)
    longer[: self.size] = line[:size]
    self._become(longer.reshape(shape, order=order).copy(order))


def _attach(name, function):
    method = _core.composed(function)
    for kind in _BOTH:
        setattr(kind, name, method)


def attach(namespace):
    """Puts everything above on the classes of the core; called once, at import of `namespace`."""
    attributes.attach()
    for module, names in (
        (reductions, "sum prod min max any all mean std var argmin argmax"),
        (manipulation, "squeeze swapaxes"),
        (matrices, "diagonal trace"),
        (selection, "nonzero take clip put"),
        (sorting, "argsort argpartition searchsorted"),
        (cumulative, "cumsum cumprod"),
        (repeating, "repeat"),
        (elementwise, "round"),
        (products, "dot"),
    ):
        for name in names.split():
            _attach(name, getattr(module, name))
    _attach("sort", sorting.sort_in_place)
    _attach("partition", sorting.partition_in_place)
    for name in "byteswap dump dumps tofile getfield setfield".split():
        setattr(ndarray, name, _view_method(name, counted=False))
    for function in (tobytes, conj, compress, choose):
        _attach(function.__name__, function)
    for kind in _BOTH:
        kind.conjugate = conj
        kind.__divmod__, kind.__rdivmod__ = divmod_of, rdivmod_of
        kind.mT = property(manipulation.matrix_transpose)
    ufuncs.attach_method("accumulate", cumulative.accumulate)
    ufuncs.attach_method("reduceat", cumulative.reduceat)
    protocols.attach(namespace)
    _attach_array()
    _attach_generic()


@_core.composed
@quick("set_flat")
def _set_flat(self, value):
    with writing(self) as real:
        real.flat = to_numpy(value)


def _set_state(self, state):
    real = numpy.ndarray(0)
    real.__setstate__(state)
    self._become(_core.from_numpy(real, "__setstate__"))


def _ctypes(self):
    if not on_host(self):
        raise AttributeError(message("ctypes", "memory not on the host", self._device, "the CPU"))
    return numpy.asarray(self).ctypes


def _attach_array():
    ndarray.resize = resize
    ndarray.__setstate__ = _set_state
    ndarray.flat = property(Flat, _set_flat, doc="The elements in C order, on the host.")
    ndarray.ctypes = property(_ctypes)
    ndarray.__copy__ = lambda self: copy_to_order(self, "K")
    ndarray.__deepcopy__ = deepcopy
    ndarray.__contains__ = contains
    ndarray.__repr__ = _text(repr)
    ndarray.__str__ = _text(str)
    ndarray.__format__ = format_array


def _attach_generic():
    generic.tolist = generic.item
    generic.__copy__ = attributes.generic_copy
    generic.__deepcopy__ = lambda self, memo: self.copy()
    generic.__repr__ = _text(repr)
    generic.__str__ = _text(str)
    generic.__format__ = format_generic
    generic.__round__ = round_of
    generic.__trunc__ = lambda self: int(self.item())
    generic.__floor__ = lambda self: operator.index(numpy.floor(self.item()).astype(int))
    generic.__ceil__ = lambda self: operator.index(numpy.ceil(self.item()).astype(int))
    for name in ("is_integer", "as_integer_ratio", "hex", "bit_count"):
        setattr(generic, name, _scalar_method(name))
    # What gives arrays gives ours.
    names = "reshape ravel flatten repeat nonzero cumsum cumprod argsort to_device".split()
    for kind in _core.scalar_types:
        for name in (*names, "__getitem__", "__iter__"):
            setattr(kind, name, getattr(generic, name))


def _scalar_method(name):
    def method(self, *args):
        return getattr(to_numpy(self), name)(*args)

    method.__name__ = name
    return method
