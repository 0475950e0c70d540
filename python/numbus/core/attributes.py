"""Attributes and shape methods of ndarray and generic, over the primitives of the core."""

import numpy

from .. import _core
from .._core import generic, ndarray
from . import array_type as _types
from .errors import ForeignDtype, as_order, message
from .fallback import make
from .host import on_host
from .operands import SUPPORTED, as_dtype, as_generic, to_ndarray
from .quick import quick

_Type = type
_PLAIN = (ndarray, _types.ndarray, numpy.ndarray)
_core_astype = ndarray.astype
_core_view = ndarray.view


_SHORT = {"C": 0, "CONTIGUOUS": 0, "F": 1, "FORTRAN": 1, "O": 2, "W": 3, "A": 4, "X": 5}


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
        name = self._NAMES[_SHORT[name]] if name in _SHORT else name
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
    """Makes the array read-only, or an array that owns its memory writeable again.

    align and uic can only be set to what they are: True and False (ValueError otherwise).
    """
    if align is not None and not align:
        raise ValueError(message("setflags", "arrays are always aligned", "align=False", "True"))
    if uic:
        raise ValueError(message("setflags", "no array to write back to", "uic=True", "False"))
    if write is None:
        return
    if write and not self._writeable and not self._owns:
        raise ValueError(message("setflags", "read-only view", "write=True", "an owner of memory"))
    self._set_writeable(bool(write))


@quick("flatten")
def flatten(self, order="C"):
    """A copy flattened to one axis."""
    flat = self.ravel(order)
    return flat.copy() if flat._storage == self._storage else flat


@quick("astype")
def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
    """The elements converted to `dtype`; TypeError if `casting` forbids it."""
    try:
        return _core_astype(self, dtype, order, casting, bool(copy))
    except TypeError:
        as_dtype("astype", dtype)  # what only NumPy has goes to NumPy
        raise


@quick("view")
def view(self, dtype=None, type=None):
    """A view of the same memory, with elements of `dtype` if given. type: numpy.ndarray or one of
    its subclasses, whose view NumPy makes, as those of structured types, text, dates and bytes in
    another order; these only where the memory is the host's (TypeError).
    """
    if isinstance(dtype, _Type) and issubclass(dtype, _PLAIN):
        dtype, type = None, dtype
    if type is not None and not any([type is kind for kind in _PLAIN]):
        if not isinstance(type, _Type) or not issubclass(type, numpy.ndarray):
            raise ValueError(message("view", "no array type", repr(type), "a subclass of ndarray"))
        raise ForeignDtype(message("view", "a type of NumPy's", type.__name__, "an ndarray"))
    if dtype is not None and numpy.dtype(dtype) not in SUPPORTED:
        if not on_host(self):
            expected = "one that Numbus has, or to_numpy()"
            raise TypeError(message("view", "a dtype of NumPy's on a GPU", dtype, expected))
        as_dtype("view", dtype)
    return _core_view(self, dtype)


def _assignable(name):
    """A property of the core that may also be assigned to: `a.real = x` copies into the view."""
    get = getattr(ndarray, name)

    def assign(self, value):
        if name == "imag" and self.dtype.kind != "c":
            raise TypeError(message("imag", "array is real", self.dtype, "a complex dtype"))
        part = get.__get__(self)
        _core.copyto(part, value if type(value) is generic else to_ndarray(value))

    return property(get.__get__, _core.composed(assign), doc=get.__doc__)


def to_numpy(self):
    """The values as a NumPy array; libraries that ask for this method need not go through elements.

    Returns a numpy.ndarray of the same shape and dtype. On a CPU it is the array's own memory
    where that is possible, on a GPU a copy.
    """
    return numpy.asarray(self)


# --- generic --------------------------------------------------------------------------------------


def generic_getitem(self, index):
    """`x[()]` is the value itself, `x[...]` a 0-d array, `x[None]` an array with more axes."""
    if type(index) is tuple and not index:
        return self
    return to_ndarray(self)[index]


def generic_setitem(self, index, value):
    """`x[...] = value`, for libraries that have arrays without axes instead of numbers, which can
    be changed; TypeError in all other programs.
    """
    array = to_ndarray(self)  # a copy, whose value the number has from now on
    _core.set_generic(self, array)
    array[index] = value


def generic_astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
    """The value converted to `dtype`."""
    result = astype(to_ndarray(self), dtype, order, casting, subok, copy)
    return as_generic(result) if type(result) is ndarray else result[()]


def generic_copy(self, order="C"):
    """Another number of the same value."""
    as_order("copy", order)
    return as_generic(to_ndarray(self))


def generic_transpose(self, *axes):
    """The value itself, which has no axes."""
    to_ndarray(self).transpose(*axes)
    return self


def _generic_flags(self):
    flags = Flags(to_ndarray(self))
    flags.writeable = False
    return flags


def _generic_method(function, name):
    def method(self, *args, **kwargs):
        return function(to_ndarray(self), *args, **kwargs)

    method.__name__ = name
    method.__doc__ = function.__doc__
    return method


def attach():
    """Puts everything above on the classes of the core."""
    for function in (flatten, astype, view, setflags, to_numpy):
        made = _core.composed(function) if hasattr(function, "quick") else function
        if function in (astype, view):
            real = getattr(numpy.ndarray, function.__name__)
            made = _core.composed(function, make(f"numpy.ndarray.{function.__name__}", real))
        setattr(ndarray, function.__name__, made)
    ndarray.real, ndarray.imag = _assignable("real"), _assignable("imag")
    ndarray.flags = property(Flags, doc="Layout and access.")
    for name, value in (("shape", ()), ("strides", ()), ("ndim", 0), ("size", 1), ("base", None)):
        setattr(generic, name, value)
    generic.itemsize = generic.nbytes = property(lambda self: self.dtype.itemsize)
    generic.T = property(lambda self: self)
    generic.flags = property(_generic_flags)
    generic.astype = generic_astype
    generic.__getitem__, generic.__setitem__ = generic_getitem, generic_setitem
    # With __getitem__ alone Python takes a type for a sequence, and iter() would accept a number.
    generic.__iter__ = None
    generic.copy = generic_copy
    generic.transpose = generic_transpose
    for name in ("reshape", "ravel", "flatten", "view"):
        setattr(generic, name, _generic_method(getattr(ndarray, name), name))
