"""Methods of ndarray and generic that are composed in Python, attached to the
classes of the core.
"""

import operator

import numpy

from . import (
    _core,
    _elementwise,
    _joining,
    _linear,
    _manipulation,
    _protocols,
    _reductions,
    _selection,
    _ufuncs,
)
from ._convert import copy_to_order, to_ndarray, to_numpy
from ._core import generic, ndarray
from ._errors import message
from ._fallback import make, record

_BOTH = (ndarray, generic)
_core_astype = {kind: kind.astype for kind in _BOTH}
_core_copy = ndarray.copy
_core_ravel = ndarray.ravel
_core_view = ndarray.view
_core_reshape = ndarray.reshape
_Type = type


def copy(self, order="C"):
    """A copy, C-contiguous unless `order` says otherwise."""
    return _core_copy(self) if order == "C" else copy_to_order(self, order)


def ravel(self, order="C"):
    """The array flattened to one axis, a view where strides allow."""
    return _core_ravel(self) if order == "C" else _manipulation.ravel(self, order)


def reshape(self, *shape, order="C", copy=None):
    """The array with another shape of the same size, a view where strides allow."""
    if order == "C" and copy is None:
        return _core_reshape(self, *shape)
    shape = shape[0] if len(shape) == 1 else shape
    return _manipulation.reshape(self, shape, order, copy=copy)


def view(self, dtype=None, type=None):
    """A view of the same memory, with elements of `dtype` if given."""
    if isinstance(dtype, _Type) and issubclass(dtype, numpy.ndarray):
        dtype, type = None, dtype
    if type is not None and issubclass(type, numpy.ndarray) and type is not numpy.ndarray:
        record("numpy.ndarray.view")
        real = numpy.asarray(self)
        return real.view(type) if dtype is None else real.view(dtype, type)
    return _core_view(self) if dtype is None else _core_view(self, numpy.dtype(dtype))


def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
    """The elements converted to `dtype`. TypeError if `casting` forbids it."""
    if dtype.__class__ is not numpy.dtype:
        dtype = numpy.dtype(dtype)
    if casting != "unsafe" and not numpy.can_cast(self.dtype, dtype, casting):
        raise TypeError(
            message("astype", "cannot cast", f"{self.dtype} to {dtype}", f"casting={casting!r}")
        )
    result = _core_astype[type(self)](self, dtype, copy=copy)
    return result if order == "K" or type(self) is generic else _ordered(result, order, self)


def _ordered(result, order, source):
    if (order == "F" and not result.flags.f_contiguous) or (
        order == "C" and not result.flags.c_contiguous
    ):
        return copy_to_order(result, order)
    return result


def flatten(self, order="C"):
    """A copy flattened to one axis."""
    result = ravel(to_ndarray(self), order)
    return result.copy()


def tolist(self):
    """The elements as nested lists of Python numbers."""
    return to_numpy(self).tolist()


def tobytes(self, order="C"):
    """The bytes of the elements in the given order."""
    return to_numpy(self).tobytes(order)


def nonzero(self):
    """The indices of the elements that are not zero: a tuple of arrays, one per axis."""
    return _selection.nonzero(self)


def dot(self, b, out=None):
    """`dot(self, b)`."""
    return _linear.dot(self, b, out)


def conj(self):
    """Complex conjugate, element-wise; a real array itself."""
    return self if self.dtype.kind != "c" else _ufuncs.UFUNCS["conjugate"](self)


def deepcopy(self, memo):
    """A copy with the same layout."""
    return copy_to_order(self, "K")


def contains(self, item):
    """Whether any element equals `item`."""
    return bool(_reductions.any(self == item))


def format_array(self, spec):
    """Format of a 0-d array's value, or of the text of any other array (empty spec only)."""
    return format(numpy.asarray(self), spec)


def divmod_of(self, other):
    return _ufuncs.divmod(self, other)


def rdivmod_of(self, other):
    return _ufuncs.divmod(other, self)


def round_of(self, ndigits=None):
    """round(x): an int for a generic without digits, as with NumPy's scalars."""
    if ndigits is None and self.dtype.kind in "fiu":
        return round(self.item())
    return self.round(0 if ndigits is None else ndigits)


def _module_method(module, name):
    """A method that calls the module's function with the array first."""
    function = getattr(module, name)

    def method(self, *args, **kwargs):
        return function(self, *args, **kwargs)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = function.__doc__
    return method


def _view_method(name, counted=True):
    """A method that NumPy runs on the zero-copy view, in place where it works in place."""
    real = getattr(numpy.ndarray, name)
    on_view = make(f"numpy.ndarray.{name}", real, counted)

    def method(self, *args, **kwargs):
        return on_view(to_ndarray(self), *args, **kwargs)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = real.__doc__
    return method


def take(self, indices, axis=None, out=None, mode="raise"):
    """The elements at `indices` along `axis` (None: flattened)."""
    return _selection.take(self, indices, axis, out, mode)


def clip(self, min=None, max=None, out=None, **kwargs):
    """The elements limited to [min, max]."""
    return _selection.clip(self, min, max, out, **kwargs)


def compress(self, condition, axis=None, out=None):
    """The slices along `axis` where the condition holds."""
    return _selection.compress(condition, self, axis, out)


def setter(name):
    """A property of the core that may also be assigned to: `a.real = x` copies into the view."""
    get = getattr(ndarray, name)

    def assign(self, value):
        part = getattr(self, name)
        if name == "imag" and self.dtype.kind != "c":
            raise TypeError(message("imag", "array has no imaginary part", self.dtype, "complex"))
        _core.copyto(part, value if type(value) in _BOTH else to_ndarray(value))

    return property(get.__get__, assign)


def attach():
    """Puts everything above on the classes of the core; called once, at import."""
    for name in "sum prod min max any all mean std var argmin argmax".split():
        for kind in _BOTH:
            setattr(kind, name, getattr(_reductions, name))
    for module, names in (
        (_manipulation, "diagonal squeeze swapaxes trace"),
        (_joining, "repeat"),
        (_elementwise, "round"),
    ):
        for name in names.split():
            for kind in _BOTH:
                setattr(kind, name, _module_method(module, name))
    for (
        name
    ) in "cumsum cumprod sort argsort partition argpartition searchsorted choose put".split():
        for kind in _BOTH:
            setattr(kind, name, _view_method(name))
    for name in "byteswap dump dumps tofile getfield setfield setflags".split():
        setattr(ndarray, name, _view_method(name, counted=False))
    for function in (flatten, tolist, tobytes, nonzero, dot, conj, take, clip, compress, astype):
        for kind in _BOTH:
            setattr(kind, function.__name__, function)
    for function in (copy, ravel, reshape, view):
        setattr(ndarray, function.__name__, function)
    for kind in _BOTH:
        kind.conjugate = conj
        kind.__divmod__, kind.__rdivmod__ = divmod_of, rdivmod_of
        kind.mT = property(_manipulation.matrix_transpose)
    for name in ("real", "imag"):
        setattr(ndarray, name, setter(name))
    _protocols.attach()
    _attach_array()
    _attach_generic()


def _flat(self):
    return numpy.asarray(self).flat


def _set_flat(self, value):
    numpy.asarray(self).flat = to_numpy(value)


def _attach_array():
    ndarray.flat = property(_flat, _set_flat, doc="An iterator over the elements, on the host.")
    ndarray.ctypes = property(lambda self: numpy.asarray(self).ctypes)
    ndarray.__copy__ = lambda self: copy_to_order(self, "K")
    ndarray.__deepcopy__ = deepcopy
    ndarray.__contains__ = contains
    ndarray.__repr__ = lambda self: repr(numpy.asarray(self))
    ndarray.__str__ = lambda self: str(numpy.asarray(self))
    ndarray.__format__ = format_array


def _attach_generic():
    generic.__copy__ = lambda self: self
    generic.__deepcopy__ = lambda self, memo: self
    generic.__repr__ = lambda self: repr(to_numpy(self))
    generic.__str__ = lambda self: str(to_numpy(self))
    generic.__format__ = lambda self, spec: format(to_numpy(self), spec)
    generic.__round__ = round_of
    generic.__trunc__ = lambda self: int(self.item())
    generic.__floor__ = lambda self: operator.index(numpy.floor(self.item()).astype(int))
    generic.__ceil__ = lambda self: operator.index(numpy.ceil(self.item()).astype(int))
    for name in ("is_integer", "as_integer_ratio", "hex", "bit_count"):
        setattr(generic, name, _scalar_method(name))


def _scalar_method(name):
    def method(self, *args):
        return getattr(to_numpy(self), name)(*args)

    method.__name__ = name
    return method
