"""Functions that C calls: cfunc, and arrays over the pointers that they are given."""

import ctypes
import functools

import numpy

from .. import _core
from . import types
from ._dispatch import flags, jit, resolver
from ._resolve import name_object

_NUMBERS = {
    "bool": ctypes.c_bool,
    "int8": ctypes.c_int8,
    "int16": ctypes.c_int16,
    "int32": ctypes.c_int32,
    "int64": ctypes.c_int64,
    "uint8": ctypes.c_uint8,
    "uint16": ctypes.c_uint16,
    "uint32": ctypes.c_uint32,
    "uint64": ctypes.c_uint64,
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
}


def _of_c(t):
    """ctypes's type for one of ours."""
    if t is None or t.tag == "none":
        return None
    if t.tag == "pointer":
        return ctypes.POINTER(_of_c(t.items[0]))
    if t.tag == "number" and t.dtype in _NUMBERS:
        return _NUMBERS[t.dtype]
    raise NotImplementedError(
        f"[cfunc] not yet: a function that C calls with this type; got {t!r}; expected numbers but "
        "complex ones, and CPointer of such"
    )


class _Memory:
    """What a pointer leads to, as NumPy reads it."""

    def __init__(self, address, dtype, shape, strides=None):
        self.__array_interface__ = {
            "version": 3,
            "data": (address, False),
            "shape": shape,
            "strides": strides,
            "typestr": numpy.dtype(dtype).str,
        }


def _address(pointer):
    if isinstance(pointer, int):
        return pointer
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0


class CFunc:
    """A compiled function that C calls: its `address`, and the same as a `ctypes` function.

    No Python is on the way, and its lock is not needed. What the function raises is written to
    stderr, as sys.unraisablehook does, and it returns zero then.
    """

    def __init__(self, function, signature, options):
        functools.update_wrapper(self, function)
        arguments, result = types.signature(signature)
        kind = ctypes.CFUNCTYPE(_of_c(result), *map(_of_c, arguments))
        inside = [types.Array(t.items[0], 1, "C") if t.tag == "pointer" else t for t in arguments]
        returned = types._ALL["none"] if result is None else result
        self._compiled = jit(returned(*inside), **options)(function)
        how = flags(options, ("parallel", "fastmath", "boundscheck", "debug"))
        how["python_errors"] = options.get("error_model", "python") == "python"
        self.address = _core.c_function(
            resolver(self._compiled), how, function.__name__, inside, returned
        )
        self.ctypes = kind(self.address)
        self.native_name = f"cfunc.{function.__module__}.{function.__qualname__}"

    def _kernel_function(self):
        return self._compiled._kernel_function()

    def inspect_llvm(self):
        """The optimised LLVM IR of the compiled function."""
        return "\n".join(self._compiled.inspect_llvm().values())

    def __repr__(self):
        return f"<numbus.cfunc {self.__wrapped__.__qualname__}>"


def cfunc(signature, **options):
    """Compiles a function for one signature, for C to call: @cfunc('float64(CPointer(float64))').

    Options are those of jit. Raises NotImplementedError for types that are neither numbers nor
    pointers to such.
    """

    def decorate(function):
        return CFunc(function, signature, options)

    return decorate


def carray(ptr, shape, dtype=None):
    """The array of a shape in C order at a pointer of ctypes, or, with a dtype, at an address."""
    return _array(ptr, shape, dtype, "C")


def farray(ptr, shape, dtype=None):
    """The array of a shape in Fortran order at a pointer of ctypes, or at an address."""
    return _array(ptr, shape, dtype, "F")


def _array(ptr, shape, dtype, order):
    if dtype is None:
        if not hasattr(ptr, "contents"):
            raise TypeError(
                f"[carray] nothing says what lies at the pointer; got {type(ptr).__name__}; "
                "expected a dtype, or a pointer of ctypes"
            )
        dtype = numpy.dtype(type(ptr)._type_)
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    flat = numpy.asarray(_Memory(_address(ptr), dtype, (int(numpy.prod(shape)),)))
    return flat.reshape(shape, order=order)


name_object(carray, "pointers.carray")
name_object(farray, "pointers.farray")
