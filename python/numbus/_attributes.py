"""Attributes and shape methods of ndarray and generic, over the primitives of the core."""

import operator

import numpy

from . import _core, _manipulation
from ._convert import SUPPORTED, as_generic, copy_to_order, is_order, to_ndarray
from ._core import generic, ndarray
from ._errors import message
from ._fallback import record

_Type = type


class Flags:
    """The flags of an array, by attribute or by NumPy's names in square brackets."""

    __slots__ = ("_array",)
    _NAMES = (
        "C_CONTIGUOUS",
        "F_CONTIGUOUS",
        "OWNDATA",
        "WRITEABLE",
        "ALIGNED",
        "WRITEBACKIFCOPY",
    )
    _SHORT = {"C": 0, "CONTIGUOUS": 0, "F": 1, "FORTRAN": 1, "O": 2, "W": 3, "A": 4, "X": 5}

    def __init__(self, array):
        self._array = array

    c_contiguous = property(lambda self: self._array._contiguous[0])
    f_contiguous = property(lambda self: self._array._contiguous[1])
    contiguous, fortran = c_contiguous, f_contiguous
    owndata = property(lambda self: self._array._owns)
    aligned = property(lambda self: True)
    writebackifcopy = property(lambda self: False)
    fnc = property(lambda self: self.f_contiguous and not self.c_contiguous)
    forc = property(lambda self: self.f_contiguous or self.c_contiguous)
    behaved = property(lambda self: self.writeable)
    carray = property(lambda self: self.writeable and self.c_contiguous)
    farray = property(lambda self: self.writeable and self.fnc)

    @property
    def writeable(self):
        """Whether elements may be assigned to."""
        return self._array._writeable

    @writeable.setter
    def writeable(self, value):
        setflags(self._array, write=value)

    @property
    def num(self):
        """The flags as NumPy's bits."""
        return sum(bit for bit, on in zip((1, 2, 4, 0x400, 0x100, 0x2000), self._values()) if on)

    def _values(self):
        return [getattr(self, name.lower()) for name in self._NAMES]

    def __getitem__(self, name):
        name = self._NAMES[self._SHORT[name]] if name in self._SHORT else name
        if name in self._NAMES or name in ("FNC", "FORC", "BEHAVED", "CARRAY", "FARRAY"):
            return getattr(self, name.lower())
        raise KeyError(message("flags", "unknown flag", repr(name), ", ".join(self._NAMES)))

    def __setitem__(self, name, value):
        if name not in ("WRITEABLE", "W"):
            raise ValueError(message("flags", "flag cannot be set", repr(name), "'WRITEABLE'"))
        self.writeable = value

    def __eq__(self, other):
        return self._values() == [getattr(other, name.lower()) for name in self._NAMES]

    __hash__ = None

    def __repr__(self):
        lines = [f"  {name} : {on}" for name, on in zip(self._NAMES, self._values())]
        return "\n".join(lines) + "\n"


def setflags(self, write=None, align=None, uic=None):
    """Makes the array read-only, or an array that owns its memory writeable again."""
    if write is None:
        return
    if write and not self._writeable and not self._owns:
        raise ValueError(message("setflags", "read-only view", "write=True", "an owner of memory"))
    self._set_writeable(bool(write))


def reshape(self, *shape, order="C", copy=None):
    """The array with another shape of the same size, a view where strides allow."""
    if len(shape) == 1 and not isinstance(shape[0], int):
        (shape,) = shape
        if not isinstance(shape, (tuple, list)):
            shape = (operator.index(shape),) if hasattr(shape, "__index__") else tuple(shape)
    if order == "C" and copy is None:
        return self._reshape(shape)
    return _manipulation.reshape(self, tuple(shape), order, copy=copy)


def transpose(self, *axes):
    """A view with the axes permuted, reversed by default."""
    if not axes or axes == (None,):
        return self._transpose()
    if len(axes) == 1 and not isinstance(axes[0], int):
        (axes,) = axes
    return _manipulation.transpose(self, tuple(axes))


def ravel(self, order="C"):
    """The array flattened to one axis, a view where strides allow."""
    return self._reshape((self.size,)) if order == "C" else _manipulation.ravel(self, order)


def copy(self, order="C"):
    """A copy, C-contiguous unless `order` says otherwise."""
    if order == "C":
        return self._copy() if self._masked else self._copy(None, True)
    return copy_to_order(self, order)


def flatten(self, order="C"):
    """A copy flattened to one axis."""
    flat = ravel(self, order)
    return flat._copy() if flat._storage == self._storage else flat


def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
    """The elements converted to `dtype`; TypeError if `casting` forbids it."""
    if dtype.__class__ is not numpy.dtype:
        dtype = numpy.dtype(dtype)
    if casting != "unsafe" and not numpy.can_cast(self.dtype, dtype, casting):
        raise TypeError(
            message("astype", "cannot cast", f"{self.dtype} to {dtype}", f"casting={casting!r}")
        )
    if dtype not in SUPPORTED:
        record("numpy.ndarray.astype")
        return numpy.asarray(self).astype(dtype)
    if not copy and dtype == self.dtype and is_order(self, order):
        return self
    result = self._copy(dtype)
    return result if is_order(result, order) else copy_to_order(result, order)


def view(self, dtype=None, type=None):
    """A view of the same memory, with elements of `dtype` if given."""
    if isinstance(dtype, _Type) and issubclass(dtype, numpy.ndarray):
        dtype, type = None, dtype
    if type is not None and issubclass(type, numpy.ndarray) and type is not numpy.ndarray:
        record("numpy.ndarray.view")
        real = numpy.asarray(self)
        return real.view(type) if dtype is None else real.view(dtype, type)
    return self._view(None) if dtype is None else self._view(numpy.dtype(dtype))


def _real(self):
    return self._part(False) if self.dtype.kind == "c" else self


def _imag(self):
    if self.dtype.kind == "c":
        return self._part(True)
    return _core.broadcast_to(_core.full((), 0, self.dtype), self.shape)


def _set_part(part):
    def assign(self, value):
        if part is _imag and self.dtype.kind != "c":
            raise TypeError(message("imag", "array is real", self.dtype, "a complex dtype"))
        _core.copyto(part(self), value if type(value) is generic else to_ndarray(value))

    return assign


def _base(self):
    if self._owns:
        return None
    return numpy.asarray(self).base


def iterate(self):
    """An iterator over the first axis."""
    if self.ndim == 0:
        raise TypeError(message("iter", "iteration over a 0-d array", "0-d", "1-d or more"))
    return (self[i] for i in range(self.shape[0]))


# --- generic ---------------------------------------------------------------------------------------


def generic_getitem(self, index):
    """`x[()]` is the value itself, `x[...]` a 0-d array, `x[None]` an array with more axes."""
    if index == ():
        return self
    items = index if isinstance(index, tuple) else (index,)
    if any([item is not None and item is not Ellipsis for item in items]):
        raise IndexError(
            message("getitem", "invalid index to a scalar", repr(index), "(), ..., None")
        )
    return to_ndarray(self)[index]


def generic_astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
    """The value converted to `dtype`."""
    result = astype(to_ndarray(self), dtype, order, casting)
    return as_generic(result) if type(result) is ndarray else result[()]


def _generic_part(imaginary):
    def part(self):
        if self.dtype.kind == "c":
            return as_generic(to_ndarray(self)._part(imaginary))
        return _core.full((), 0, self.dtype)[()] if imaginary else self

    return part


def _generic_flags(self):
    flags = Flags(to_ndarray(self))
    flags.writeable = False
    return flags


def _generic_method(function):
    def method(self, *args, **kwargs):
        return function(to_ndarray(self), *args, **kwargs)

    method.__name__ = function.__name__
    method.__doc__ = function.__doc__
    return method


def attach():
    """Puts everything above on the classes of the core."""
    for function in (reshape, transpose, ravel, copy, flatten, astype, view, setflags):
        setattr(ndarray, function.__name__, function)
    ndarray.T = property(lambda self: self._transpose(), doc="The transpose: a view.")
    ndarray.real = property(_real, _set_part(_real), doc="The real part: a view.")
    ndarray.imag = property(_imag, _set_part(_imag), doc="The imaginary part: a view.")
    ndarray.flags = property(Flags, doc="Layout and access.")
    ndarray.base = property(_base, doc="What owns the memory, or None for the array itself.")
    ndarray.__iter__ = iterate
    for name, value in (("shape", ()), ("strides", ()), ("ndim", 0), ("size", 1), ("base", None)):
        setattr(generic, name, value)
    generic.itemsize = generic.nbytes = property(lambda self: self.dtype.itemsize)
    generic.T = property(lambda self: self)
    generic.real, generic.imag = property(_generic_part(False)), property(_generic_part(True))
    generic.flags = property(_generic_flags)
    generic.astype = generic_astype
    generic.__getitem__ = generic_getitem
    generic.copy = lambda self, order="C": self
    generic.transpose = lambda self, *axes: self
    for function in (reshape, ravel, flatten, view):
        setattr(generic, function.__name__, _generic_method(function))
