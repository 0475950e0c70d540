"""Every way in which a compiled function may differ from CPython, and what it has to give instead.

The oracle runs programs with these operators and functions in place of Python's own. There are at
most ten entries, and nothing outside of this file excuses a difference.
"""

from __future__ import annotations

import gc
import math
import operator
from collections import Counter
from collections.abc import ItemsView, KeysView, ValuesView
from types import MappingProxyType

import numpy as np

ALLOWED = {
    "int64": "Python's int is int64: sums, products, powers and shifts that leave it wrap as "
    "NumPy's int64 does, and / divides the float64s nearest to the operands.",
    "powers": "An int to a negative power that is no literal, and a negative number to a "
    "fractional one, are a ValueError: the type cannot depend on the operands' values.",
    "infinite": "Python's complex numbers give infinities and NaN where CPython raises "
    "OverflowError (**), and functions of math where it raises 'math domain error' or 'math range "
    "error'.",
    "to int": "int(), math.floor and their like of a finite float that int64 cannot hold are an "
    "OverflowError; one stored in an array of integers that cannot hold it becomes what NumPy's "
    "astype gives, as int() does in kernels, where nothing is raised.",
    "narrow": "A Python int that meets a number of NumPy's too narrow for it wraps, and so does "
    "any integer that is stored or made an item of an array, where NumPy raises OverflowError: a "
    "test of every index and count would cost more than the arithmetic. One that is known while "
    "compiling raises as NumPy's does.",
    "one type": "What may be one of several numbers (min of an int and a float, x or 1, a name, an "
    "item of a list, a result) has their common type (one_type.py): 1.0 for 1, and Python's float "
    "for one of its floats and a float32, unless the former is a constant that float32 holds. "
    "Where extents decide how many axes an array has (np.cross of two vectors in the plane, which "
    "NumPy means to drop) there is an error, and no verdict; np.polyval of no coefficients has the "
    "type that some would give it. A dict that is written with a key twice has a type that "
    "holds the value that is dropped, too.",
    "float32": "Functions of math stay in float32 and float16 for NumPy's numbers of these types, "
    "where CPython computes float64: kernels would be many times slower. Squares in var and std of "
    "float16 are summed in float32, where NumPy's leave float16.",
    "empty lists": "A list keeps the type of its items when it has none left: np.array of it has "
    "that dtype, where CPython's has forgotten it and NumPy's is float64.",
    "open": "IEEE 754, CPython and NumPy leave open which sign a NaN has, which of two zeros "
    "minimum, maximum and their like give and np.sort puts first, what np.searchsorted finds in "
    "what is not sorted, where sorted and list.sort put NaN, what becomes of a "
    "float beyond an integer (in np.arange a count of 2**63), whether a NaN is an item of a list "
    "or tuple (CPython asks for the object), and how complex numbers with a NaN part are ordered "
    "(NumPy's numbers and arrays differ), what a loop over a dict goes on with that was given "
    "other keys meanwhile, but not more or fewer (a RuntimeError), what a mask that lies in the "
    "array written to picks, np.exp2 of complex numbers with large real parts (NumPy's is exact to "
    "as many digits less as these have), and expm1 of a complex infinity (NumPy has NaN for a "
    "zero imaginary part): a program that asks has no verdict.",
    "kernels": "In kernels of cuda.jit, division by zero, negative shift counts and "
    "negative powers of integers raise nothing: integers give 0 (the whole part of a power) and "
    "floats IEEE's result, as NumPy's numbers do; and a product of floats that is added to a "
    "number or taken from it is not rounded (fused multiply-add), as CUDA's compilers have it.",
}

TOP = 1 << 63


def overflows_on_the_way(name, function, args, value) -> bool:
    """Whether NumPy's value is no number, because of what it computes first ("float32", "open")."""
    if np.isfinite(value).all() if not isinstance(value, (tuple, list)) else True:
        return False
    if name == "expm1":
        return np.iscomplexobj(value)
    given = getattr(function, "__self__", None)
    given = given if isinstance(given, np.ndarray) else args[0] if args else None
    if name not in ("var", "std", "nanvar", "nanstd") or not hasattr(given, "dtype"):
        return False
    return given.dtype == np.float16 and bool(np.isfinite(given).any())


class NoVerdict(Exception):
    """Nothing follows from this program: it hangs on rounding, or CPython itself refuses it."""


def wrapped(value):
    """A Python int as int64; anything else as it is."""
    if type(value) is int and not -TOP <= value < TOP:
        return (value + TOP) % (2 * TOP) - TOP
    return value


def python_ints(a, b):
    return isinstance(a, int) and isinstance(b, int)


def divide(a, b):
    if python_ints(a, b) and b != 0:
        return float(a) / float(b)
    return a / b


def power(a, b):
    if type(b) is int and b == 2 and isinstance(a, np.ndarray) and a.dtype == bool and a.ndim:
        # int64, where a ** 2 of a 2 that is known while compiling is an array of int8.
        raise NoVerdict("types hang on what is decided while compiling")
    if python_ints(a, b):
        if b < 0:
            raise ValueError("Integers to negative integer powers are not allowed.")
        return wrapped(pow(int(a), int(b), 2 * TOP))
    try:
        if isinstance(value := a**b, complex) and not isinstance(value, np.generic):
            if not isinstance(a, complex) and not isinstance(b, complex):
                raise ValueError("a negative number to a fractional power is complex in Python")
        return value
    except OverflowError:
        with np.errstate(all="ignore"):
            if isinstance(a, complex) or isinstance(b, complex):
                return complex(np.complex128(a) ** np.complex128(b))
        raise


def literal_power(a, b):
    if isinstance(a, np.ndarray) and a.dtype == bool:
        return a**b
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


# What NumPy says of the operations that wrapped: of numbers that are known while compiling,
# compiled functions say the same ("narrow").
WRAPPED: set[str] = set()


def narrowed(function, a, b):
    """An operation of which NumPy says that one operand, a Python int, does not fit."""
    try:
        return function(a, b)
    except OverflowError as error:
        if "out of bounds for" not in str(error) or np.ndarray in (type(a), type(b)):
            raise
        WRAPPED.add(str(error))
        with np.errstate(all="ignore"):
            if type(a) is int:
                return function(np.asarray(a).astype(b.dtype)[()], b)
            return function(a, np.asarray(b).astype(a.dtype)[()])


def binary(name, a, b):
    return wrapped(narrowed(OPERATORS[name], a, b))


def in_place(name, a, b):
    """a op= b: what has no memory of its own to change is the operator's result."""
    if isinstance(a, (np.ndarray, list, dict, set)):
        return narrowed(IN_PLACE[name], a, b)
    return binary(name, a, b)


ALIASES = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "atan2": "arctan2",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "pow": "power",
    "degrees": "rad2deg",
    "radians": "deg2rad",
}
# Functions of math that give integers, or float64 for any float.
EXACT_MATH = "floor ceil trunc gcd lcm isqrt comb perm factorial nextafter ulp".split()


def _ieee(name, args):
    """NumPy's function of that name for numbers that math's refuses."""
    alias = ALIASES
    with np.errstate(all="ignore"):
        if name == "log" and len(args) == 2:
            return float(np.log(np.float64(args[0])) / np.log(np.float64(args[1])))
        return float(getattr(np, alias.get(name, name))(*map(np.float64, args)))


def narrow_math(function, args):
    """What a function of math gives for NumPy's short floats; None for other numbers."""
    name = function.__name__
    alias = ALIASES.get(name, name)
    floats = args[:1] if name == "ldexp" else args
    short = all(isinstance(a, (np.float16, np.float32)) for a in floats)
    if not short or name in EXACT_MATH or name.startswith("is"):
        return None
    with np.errstate(all="ignore"):
        if name == "remainder":  # NumPy's function of that name is Python's %
            kind = np.result_type(*args).type
            try:
                return kind(function(*map(float, args)))
            except ValueError:  # "infinite"
                return kind(math.nan)
        if name == "frexp":  # the exponent is Python's
            mantissa, exponent = np.frexp(*args)
            return mantissa, int(exponent)
        if hasattr(np, alias):
            return getattr(np, alias)(*args)
        if name in ("erf", "erfc", "gamma", "lgamma"):
            try:
                return type(args[0])(function(*map(float, args)))
            except OverflowError:
                return type(args[0])(math.copysign(math.inf, args[0]))
    return None


ONE_OF_TWO = (np.minimum, np.maximum, np.fmin, np.fmax)
EXTREMES = (np.max, np.min, np.amax, np.amin, np.nanmax, np.nanmin)
# Which of two zeros these put first, NumPy's own versions do not agree on.
ORDERS = "sort partition unique union1d intersect1d setdiff1d median nanmedian".split()
SIGNS = (np.signbit, np.copysign, math.copysign)


def has_both_zeros(a) -> bool:
    """Whether an array has zeros of both signs, in its real or imaginary parts."""
    if a.dtype.kind not in "fc":
        return False
    return any(
        0 < np.signbit(part[part == 0]).mean() < 1 for part in (a.real, a.imag) if (part == 0).any()
    )


def is_open(function, args, keywords) -> bool:
    """Whether what a call gives is left open: the sign of a NaN, one of two zeros, an order."""
    items = args[0] if function is sorted else getattr(function, "__self__", None)
    if isinstance(items, (list, tuple, np.ndarray)) and function.__name__ in ("sorted", "sort"):
        if function is sorted or isinstance(items, list):
            return any(map(is_nan, items))
    if isinstance(items, (list, tuple)) and function.__name__ in ("index", "count", "remove"):
        return any(map(is_nan, args))
    if function in SIGNS:
        return bool(np.isnan(args[-1]).any())
    if function.__name__ == "searchsorted":
        a = np.asarray(items if isinstance(items, np.ndarray) else args[0])
        return not np.array_equal(a, np.sort(a), equal_nan=a.dtype.kind in "fc")
    if function.__name__ in ORDERS and "kind" not in keywords:
        arrays = [items] if isinstance(items, np.ndarray) else args
        flat = [np.ravel(a) for a in arrays if isinstance(a, (list, np.ndarray))]
        return bool(flat) and has_both_zeros(np.concatenate(flat))
    if isinstance(items, np.ndarray) and function.__name__ in ("min", "max"):
        return has_both_zeros(items)
    if function in EXTREMES and np.asarray(args[0]).dtype.kind in "fc":
        return has_both_zeros(np.asarray(args[0]))
    if function in ONE_OF_TWO and len(args) > 1:
        a, b = map(np.asarray, args[:2])
        if a.dtype.kind in "fc" or b.dtype.kind in "fc":
            signs = [np.signbit(np.real(v)) + 2 * np.signbit(np.imag(v)) for v in (a, b)]
            return bool(((a == 0) & (b == 0) & (signs[0] != signs[1])).any())
    return False


def ordered(value):
    """An operand of <, <=, > or >=."""
    if isinstance(value, (complex, np.complexfloating)) and value != value:
        raise NoVerdict("the order of a complex number with a NaN part")
    return value


def is_nan(value) -> bool:
    return isinstance(value, (float, complex, np.inexact)) and value != value


def identified(value):
    """The left operand of `in`."""
    if is_nan(value):
        raise NoVerdict("a NaN among the items of a list or tuple")
    return value


def guarded(iterable):
    """What a loop goes over."""
    if not isinstance(iterable, (dict, KeysView, ValuesView, ItemsView)):
        return iterable
    return _unless_other_keys(iterable)


CHANGES = Counter()  # how often dicts that are looped over got or lost a key, by identity


def note_keys(of):
    """A dict has got or lost a key."""
    if id(of) in CHANGES:
        CHANGES[id(of)] += 1


def _unless_other_keys(iterable):
    of = getattr(iterable, "mapping", iterable)
    if isinstance(of, MappingProxyType):  # of a view: the dict itself is not to be had
        of = gc.get_referents(of)[0]
    keys, items = list(of), iter(iterable)
    CHANGES[id(of)] += 0
    changes = CHANGES[id(of)]
    while True:
        now = list(of)
        if len(now) == len(keys) and CHANGES[id(of)] != changes:
            raise NoVerdict("other keys of a dict that a loop goes over")
        if len(now) == len(keys) and not all(a is b for a, b in zip(keys, now, strict=True)):
            raise NoVerdict("other keys of a dict that a loop goes over")
        try:
            item = next(items)
        except StopIteration:
            return
        yield item


def equated(value):
    """An operand of == or !=."""
    if isinstance(value, (list, tuple)):
        for v in value:
            identified(equated(v))
    return value


def uncountable(args) -> bool:
    """Whether np.arange of this has 2**63 numbers: NumPy raises only for more of them."""
    ends = [a for a in args if isinstance(a, (int, float, np.number)) and np.isreal(a)]
    if not any(isinstance(a, (float, np.floating)) for a in ends):
        return False
    start, stop, step = {1: (0, *ends, 1), 2: (*ends, 1)}.get(len(ends), ends[:3])
    with np.errstate(all="ignore"):
        return bool(np.ceil((np.float64(stop) - np.float64(start)) / np.float64(step)) == TOP)


def call_narrowed(function, args, keywords):
    """A call of NumPy's with a Python int beyond the type that it is to have."""
    numbers = (np.ndarray, np.generic)
    types = [a.dtype for a in (*args, *keywords.values()) if isinstance(a, numbers)]
    types += [keywords.get("dtype")] + [a for a in args if isinstance(a, type)]
    if isinstance(function, type):
        types.append(function)
    for t in types:
        if t is None or np.dtype(t).kind not in "iu":
            continue

        def fit(a, t=t):
            if isinstance(a, (list, tuple)):
                return type(a)(map(fit, a))
            if type(a) is float and isinstance(function, type):
                a = wrapped(int(a))  # that it is finite has been asked before
            item = function is np.array and isinstance(a, (float, np.integer, np.floating))
            if item and not isinstance(a, np.integer) and not abs(a) < TOP:
                raise NoVerdict("a float beyond an integer")
            return np.asarray(a).astype(t)[()] if item or type(a) is int else a

        return function(*map(fit, args), **{k: fit(v) for k, v in keywords.items()})
    raise OverflowError(f"{function} of {args}")


UNFIT = ("out of bounds for", "cannot convert float", "too large to convert to C")


def same_memory(a, b) -> bool:
    return a.ctypes.data == b.ctypes.data and a.strides == b.strides and a.shape == b.shape


def store(value, target, key):
    """target[key] = value"""
    if isinstance(value, (float, np.floating)) and isinstance(target, np.ndarray):
        if target.dtype.kind in "iu" and not abs(value) < TOP:
            raise RuntimeWarning("invalid value encountered in cast")
    mask = isinstance(key, np.ndarray) and key.dtype == bool and isinstance(target, np.ndarray)
    if mask and np.may_share_memory(key, target) and not same_memory(key, target):
        raise NoVerdict("NumPy writes into the mask that it reads")  # "open"
    try:
        target[key] = value
    except (OverflowError, ValueError) as error:
        if not any(text in str(error) for text in UNFIT):
            raise
        target[key] = np.asarray(value).astype(target.dtype)


def raised_only_outside_of_kernels(error) -> bool:
    """Whether kernels go on where this error of Python's own numbers ends a function."""
    texts = ("negative shift count", "to a fractional power", "negative integer powers")
    texts += ("Numerical result out of range", *UNFIT)
    return isinstance(error, ZeroDivisionError) or any(t in str(error) for t in texts)


def holds(dtype, number) -> bool:
    """Whether a float or complex type holds this number of Python's exactly."""
    with np.errstate(all="ignore"):
        held = np.asarray(number).astype(dtype).item()
    return held == number or number != number


def joined(values, constants=()):
    """The type that a variable has that may hold any of these numbers, as a function.

    `constants` says which of them stand in the program as constants. Only these may be rounded to
    NumPy's short floats, and are not changed by that: other numbers of Python's keep their digits.
    """
    kinds = {type(v) for v in values}
    if len(kinds) == 1:
        return lambda v: v
    if all(k in (bool, int, float, complex) for k in kinds):
        return max(kinds, key=(bool, int, float, complex).index)
    found = np.result_type(*values)
    inexact = any(isinstance(v, np.inexact) for v in values)
    for k, v in enumerate(values):
        own = not isinstance(v, (np.generic, bool))
        exact = k < len(constants) and constants[k] and holds(found, v)
        if own and inexact and found.name not in ("float64", "complex128") and not exact:
            return complex if found.kind == "c" else float
    if int in kinds and found.kind in "iu" and found.itemsize < 8:
        found = np.dtype(np.int64)

    def convert(v):
        with np.errstate(all="ignore"):
            return np.asarray(v).astype(found)[()]

    return convert


def of_both(value, all_, constants=()):
    """A value of an expression that may have one of several, with the type that holds them all."""
    if any(v is None for v in all_):  # which has no type to hold
        kept = [k for k, v in enumerate(all_) if v is not None]
        constants = [constants[k] for k in kept if k < len(constants)]
        all_ = [all_[k] for k in kept]
        if value is None or not all_:
            return value
    if not all(isinstance(v, (bool, int, float, complex, np.generic)) for v in all_):
        return value
    return joined(all_, constants)(value)


def cancel(weights) -> bool:
    """Whether rounding decides if the sum of these is zero."""
    if weights is None or not np.size(weights):
        return False
    w = np.asarray(weights).astype(complex)
    with np.errstate(all="ignore"):
        return bool(abs(w.sum()) <= 1e-6 * np.abs(w).sum())


def without_order(function, args, keywords) -> bool:
    """Whether Python's complex numbers are to be ordered, be it that there is one alone."""
    name = getattr(function, "__name__", "")
    if (name != "sort" and function not in (sorted, min, max)) or keywords.get("key") is not None:
        return False
    items = getattr(function, "__self__", None) if name == "sort" else args[0] if args else None
    return isinstance(items, (list, tuple)) and any(type(v) is complex for v in items)


def call(function, args, keywords):
    """A call as compiled functions have to make it."""
    if without_order(function, args, keywords):
        raise TypeError("'<' not supported between instances of 'complex' and 'complex'")
    if function is np.polyval and len(args) == 2 and not np.size(args[0]):
        p, x = map(np.asarray, args)
        return np.zeros(x.shape, np.result_type(p.dtype, x.dtype))[()]
    if function is np.cross and all(np.shape(a)[-1:] == (2,) for a in args[:2]):
        raise NoVerdict("the number of axes hangs on extents")
    if function is np.average and cancel(keywords.get("weights")):
        raise NoVerdict("weights that cancel out")
    if (
        function is np.exp2
        and np.iscomplexobj(args[0])
        and np.size(args[0])
        and np.abs(np.real(args[0])).max() > 8
    ):
        raise NoVerdict("NumPy's exp2 of a complex number, which loses digits")
    if function is np.arange and uncountable(args):
        raise NoVerdict("a float beyond an integer")
    if getattr(function, "__module__", "") == "math" and not keywords:
        if any(isinstance(a, np.complexfloating) for a in args):
            raise TypeError("must be real number, not complex")  # NumPy drops the imaginary part
        found = narrow_math(function, args)
        if found is not None:
            return found
    if function in (pow, operator.pow) and len(args) == 2:
        return wrapped(narrowed(power, *args))
    whole = function in (int, round, math.floor, math.ceil, math.trunc)
    try:
        value = function(*args, **keywords)
        # floor and ceil make floats of NumPy's integers.
        rounds = (math.floor, math.ceil)
        floats = (float, np.floating, np.integer) if function in rounds else (float, np.floating)
        if whole and isinstance(args[0], floats) and wrapped(value) is not value:
            raise OverflowError("too large to convert to C long")
        return wrapped(value)
    except (ValueError, OverflowError) as error:
        if type(error) is OverflowError:
            arrays = isinstance(function, np.ufunc) and any(type(a) is np.ndarray for a in args)
            if ("out of bounds for" in str(error) and not arrays) or function is np.array:
                return call_narrowed(function, args, keywords)
        if whole:
            raise
        module = getattr(function, "__module__", None)
        real = all(isinstance(a, (int, float, np.number, np.bool_)) for a in args)
        if module == "math" and real and hasattr(np, function.__name__.lstrip("a")):
            return _ieee(function.__name__, args)
        if module == "math" and real and function.__name__ in ("atan2", "asin", "acos", "pow"):
            return _ieee(function.__name__, args)
        if module == "math" and real and isinstance(error, OverflowError):
            if function.__name__ in ("gamma", "lgamma"):
                return math.copysign(math.inf, args[0])
        if module == "cmath":
            with np.errstate(all="ignore"):
                name = function.__name__
                alias = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}
                return complex(getattr(np, alias.get(name, name))(np.complex128(args[0])))
        raise
