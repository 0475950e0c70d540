"""C functions that a program has by ctypes, and linked ones, as the core is told of them."""

import ctypes

import numpy

Function = ctypes._CFuncPtr
# Flags of ctypes that change what a call does: that Python's lock is held, that errno is kept.
_PYTHON, _ERRNO = 4, 8 | 16
_POINTER = type(ctypes.POINTER(ctypes.c_int))
_KINDS = {"?": "b", "f": "f", "d": "f"} | dict.fromkeys("bhilq", "i") | dict.fromkeys("BHILQ", "u")


class Linked:
    """A function of code that kernels are linked with (cuda/_link.py)."""


def linked(function, dtype_number):
    """The text of such a function (frontend/foreign.cpp)."""
    words = ["external", function.name, function.abi, str(function.number)]
    return " ".join(words + function.codes(dtype_number))


def gives_buffer(value):
    """Whether it is the from_buffer of a cffi.FFI, which in a kernel means an array's address."""
    of = getattr(value, "__self__", None)
    named = getattr(value, "__name__", None) == "from_buffer"
    return named and type(of).__module__.partition(".")[0] in ("cffi", "_cffi_backend")


def described(function, dtype_number):
    """The text of a ctypes function: its address, name and types (frontend/foreign.cpp).
    dtype_number: the core's number of an element type.

    Where it cannot be called, a text that says why.
    """
    name = getattr(function, "__name__", "function")
    try:
        if function.argtypes is None:
            raise TypeError("it has no argtypes")
        if function._flags_ & _PYTHON:
            raise TypeError("it needs Python's lock")
        if function._flags_ & _ERRNO:
            raise TypeError("it keeps errno")
        if getattr(function, "errcheck", None) is not None:
            raise TypeError("it has an errcheck")
        held = (function._objects or {}).values()
        if any(type(v).__name__ == "CThunkObject" for v in held):
            raise TypeError("it is a Python function that C calls")
        result = "v" if function.restype is None else _code(function.restype, dtype_number)
        if result.startswith("p"):
            raise TypeError(f"it returns {function.restype.__name__}")
        codes = [_code(t, dtype_number) for t in function.argtypes]
    except TypeError as error:
        why = f"the C function '{name}': {error}"
        return f"unsupported not yet: {why}; argtypes and restype of numbers"
    address = ctypes.cast(function, ctypes.c_void_p).value
    if not address:
        return f"unsupported the C function '{name}' has no address"
    return " ".join(["foreign", str(address), name, result, *codes])


def _code(t, dtype_number):
    """ "n" and the number of a number's type; "p", of a pointer also the type's it points to."""
    if t is ctypes.c_void_p:
        return "p"
    if isinstance(t, _POINTER):
        to = _code(t._type_, dtype_number)
        return "p" + to[1:] if to.startswith("n") else _refuse(t)
    kind = _KINDS.get(getattr(t, "_type_", None)) if isinstance(t, type) else None
    # Subclasses convert arguments and results in their own way.
    if kind is None or t.__base__ is not ctypes._SimpleCData:
        return _refuse(t)
    size = ctypes.sizeof(t)
    return f"n{dtype_number(numpy.dtype(f'{kind}{size}'))}"


def _refuse(t):
    raise TypeError(f"the type {getattr(t, '__name__', t)}")
