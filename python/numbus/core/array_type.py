"""The name `ndarray` as users see it: true for Numbus arrays and for real NumPy arrays alike."""

import copyreg
import os
from operator import attrgetter

import numpy

from .. import _core


class _NdarrayType(type):
    """Answers isinstance, construction and subclassing on behalf of `_core.ndarray`."""

    def __new__(mcls, name, bases, namespace, **kwargs):
        if bases:
            # A user's subclass lives in NumPy: subclasses override hooks that only NumPy calls.
            real = tuple([numpy.ndarray if base is ndarray else base for base in bases])
            return type(name, real, namespace, **kwargs)
        return super().__new__(mcls, name, bases, namespace, **kwargs)

    def __init__(cls, name, bases, namespace, **_kwargs):
        super().__init__(name, bases, namespace)

    def __instancecheck__(cls, x):
        return isinstance(x, (_core.ndarray, numpy.ndarray))

    def __subclasscheck__(cls, other):
        return other is cls or issubclass(other, (_core.ndarray, numpy.ndarray))

    def __call__(
        cls, shape, dtype=float, buffer=None, offset=0, strides=None, order=None, memptr=None
    ):
        from .operands import SUPPORTED

        # CuPy's third argument is a pointer, which makes the array over its memory itself.
        over = getattr(buffer if memptr is None else memptr, "_array_over", None)
        if over is not None:
            return over(shape, dtype, strides, order)
        real = numpy.ndarray(shape, dtype, buffer, offset, strides, order)
        return _core.from_numpy(real) if real.dtype in SUPPORTED else real

    def __getattr__(cls, name):
        return getattr(_core.ndarray, name)

    def __dir__(cls):
        return dir(_core.ndarray)

    def __repr__(cls):
        return repr(numpy.ndarray)  # as print(type(a)) of tutorials shows it

    def __eq__(cls, other):
        return other is cls or other is _core.ndarray

    def __hash__(cls):
        return hash(_core.ndarray)

    def __getitem__(cls, parameters):
        return numpy.ndarray[parameters]


class ndarray(metaclass=_NdarrayType):
    """An array; `isinstance(x, ndarray)` holds for Numbus arrays and for numpy.ndarray."""

    __slots__ = ()

    def __new__(cls, *args, **kwargs):
        # Called by name, as subclasses do: they are NumPy's (above).
        if cls is ndarray:
            return ndarray(*args, **kwargs)
        return numpy.ndarray.__new__(cls, *args, **kwargs)


# NumPy's scalars of these dtypes are Python's float and complex, too. Libraries that follow the
# array API standard take such for numbers without dtype and device: for them these classes stand.
_ABSTRACT = {numpy.float64: numpy.floating, numpy.complex128: numpy.complexfloating}
_standard = False


def is_standard_asked():
    """Whether SciPy is told to take arrays of any library: numbers are arrays then from the start,
    as those of before would be refused beside arrays.
    """
    return bool(os.environ.get("SCIPY_ARRAY_API"))


def follow_standard(on=True):
    """Has numbers be `generic` from now on, and no instances of Python's number types. Returns
    what was so before.
    """
    global _standard
    before, _standard = _standard, on
    _core.keep_generics(on)
    return before


def _class_of(self):
    found = self.dtype.type
    return _ABSTRACT.get(found, found) if _standard else found


def describe_scalars():
    """Lets `isinstance(x, np.floating)`, `np.bool_`, `float`, `numbers.Number` … accept `generic`
    by dtype.

    isinstance asks an object for `__class__` when its type does not match; a generic answers
    with the NumPy scalar type of its dtype. A type object refuses to have its own `__class__`
    replaced by assignment, so the property goes into the type's dictionary; the assignment after
    it makes Python forget what it has cached about the type.
    """
    if "__class__" in vars(_core.generic):
        return
    import gc

    for referent in gc.get_referents(vars(_core.generic)):
        if type(referent) is dict:
            referent["__class__"] = property(_class_of)
            _core.generic.__array_priority__ = 1000.0
    # The types of numbers read out of arrays bear NumPy's names, and are pickled as NumPy's types.
    copyreg.pickle(_core.scalar_type, lambda kind: (attrgetter("type"), (numpy.dtype(kind),)))
