"""Every way in which a compiled function may differ from CPython, and what it has to give instead.

The oracle runs programs with these operators and functions in place of Python's own. There are at
most ten entries, and nothing outside of this file excuses a difference.
"""

from __future__ import annotations

import cmath
import math
import operator

import numpy as np

ALLOWED = {
    "int64": "Python's int is int64: sums, products, powers and shifts that leave it wrap as "
    "NumPy's int64 does, and / divides the float64s nearest to the operands.",
    "negative power": "An int to a negative power that is no literal is a ValueError, as in NumPy: "
    "its type cannot depend on the exponent's value.",
    "infinite": "Python's floats give infinities and NaN where CPython raises OverflowError (**) "
    "and functions of math where it raises 'math domain error' or 'math range error'.",
    "to int": "int(), math.floor and their like of a float that int64 cannot hold give what "
    "NumPy's astype(np.int64) gives, not OverflowError or ValueError.",
    "kernel division": "In kernels of cuda.jit, division by zero raises nothing: integers give 0 "
    "and floats IEEE's result, as NumPy's numbers do.",
}

TOP = 1 << 63


def wrapped(value):
    """A Python int as int64; anything else as it is."""
    if type(value) is int and not -TOP <= value < TOP:
        return (value + TOP) % (2 * TOP) - TOP
    return value


def int64(value):
    """What NumPy's conversion makes of a float that has no int64."""
    if value != value or not -float(TOP) <= value < float(TOP):
        return -TOP
    return int(value)


def python_ints(a, b):
    return isinstance(a, int) and isinstance(b, int)


def divide(a, b):
    if python_ints(a, b) and b != 0:
        return float(a) / float(b)
    return a / b


def power(a, b):
    if python_ints(a, b):
        if b < 0:
            raise ValueError("Integers to negative integer powers are not allowed.")
        return wrapped(pow(int(a), int(b), 2 * TOP))
    try:
        return a**b
    except OverflowError:
        with np.errstate(all="ignore"):
            if isinstance(a, complex) or isinstance(b, complex):
                return complex(np.complex128(a) ** np.complex128(b))
            return float(np.float64(a) ** np.float64(b))


def literal_power(a, b):
    return float(a) ** b if python_ints(a, b) and b < 0 else power(a, b)


def left_shift(a, b):
    if python_ints(a, b) and b >= 0:
        return wrapped(int(a) << int(b)) if b < 64 else 0
    return a << b


OPERATORS = {
    "Div": divide,
    "Pow": power,
    "PowLiteral": literal_power,
    "LShift": left_shift,
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "RShift": operator.rshift,
    "BitOr": operator.or_,
    "BitXor": operator.xor,
    "BitAnd": operator.and_,
    "MatMult": operator.matmul,
}
IN_PLACE = {
    "Add": operator.iadd,
    "Sub": operator.isub,
    "Mult": operator.imul,
    "Div": operator.itruediv,
    "FloorDiv": operator.ifloordiv,
    "Mod": operator.imod,
    "Pow": operator.ipow,
    "LShift": operator.ilshift,
    "RShift": operator.irshift,
    "BitOr": operator.ior,
    "BitXor": operator.ixor,
    "BitAnd": operator.iand,
    "MatMult": operator.imatmul,
}


def binary(name, a, b):
    return wrapped(OPERATORS[name](a, b))


def in_place(name, a, b):
    """a op= b: what has no memory of its own to change is the operator's result."""
    if isinstance(a, (np.ndarray, list)):
        return IN_PLACE[name](a, b)
    return binary(name, a, b)


def _ieee(name, args):
    """NumPy's function of that name for numbers that math's refuses."""
    alias = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2",
             "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "pow": "power"}  # fmt: skip
    with np.errstate(all="ignore"):
        if name == "log" and len(args) == 2:
            return float(np.log(np.float64(args[0])) / np.log(np.float64(args[1])))
        return float(getattr(np, alias.get(name, name))(*map(np.float64, args)))


_TO_INT = {math.floor: math.floor, math.ceil: math.ceil, math.trunc: math.trunc, int: int}


def call(function, args, keywords):
    """A call as compiled functions have to make it."""
    try:
        return wrapped(function(*args, **keywords))
    except (ValueError, OverflowError):
        if function in (int, round, math.floor, math.ceil, math.trunc):
            if len(args) == 1 and isinstance(args[0], (float, np.floating)):
                return int64(float(args[0]))
            raise
        if function is pow and len(args) == 2:
            return power(*args)
        module = getattr(function, "__module__", None)
        real = all(isinstance(a, (int, float, np.number, np.bool_)) for a in args)
        if module == "math" and real and hasattr(np, function.__name__.lstrip("a")):
            return _ieee(function.__name__, args)
        if module == "math" and real and function.__name__ in ("atan2", "asin", "acos", "pow"):
            return _ieee(function.__name__, args)
        if module == "cmath":
            with np.errstate(all="ignore"):
                name = function.__name__
                alias = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}
                return complex(getattr(np, alias.get(name, name))(np.complex128(args[0])))
        raise


__all__ = ["ALLOWED", "binary", "call", "cmath", "in_place", "int64", "power", "wrapped"]
