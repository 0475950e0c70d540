"""Questions about element types, with bfloat16 among them.

NumPy's type for it is that of ml_dtypes, whose kind is "V" and which NumPy promotes with no type of
other floats. The rules here are those of the core (src/base/dtype.h): with booleans and integers of
8 bits it stays, as in ml_dtypes; with float16 and longer integers the result is that of float32,
which holds all its values; Python's numbers are weak.
"""

import ml_dtypes
import numpy

bfloat16 = ml_dtypes.bfloat16
BFLOAT16 = numpy.dtype(bfloat16)
_KEEPS = frozenset(map(numpy.dtype, ("bool", "int8", "uint8")))
_SINGLE = numpy.dtype("float32")
_RANK = {"b": 0, "u": 1, "i": 2, "f": 3, "c": 4}
_WEAK = (bool, int, float, complex)


def kind_of(dtype):
    """The kind of a dtype: `dtype.kind`, and "f" of bfloat16."""
    return "f" if dtype == BFLOAT16 else dtype.kind


def is_half(dtype):
    """Whether numbers of the dtype are stored in 16 bits and computed in float32."""
    return dtype == BFLOAT16 or dtype == numpy.float16


def promote_types(type1, type2):
    """The smallest dtype to which two can be cast without loss: NumPy's, and with bfloat16."""
    a, b = numpy.dtype(type1), numpy.dtype(type2)
    if a != BFLOAT16:
        a, b = b, a
    if a != BFLOAT16:
        return numpy.promote_types(b, a)
    if b == BFLOAT16 or b in _KEEPS:
        return BFLOAT16
    return numpy.promote_types(b, _SINGLE)


def _type_of(x):
    """The dtype of what has one or is one; a number of Python's as it is."""
    if isinstance(x, (type, str)) or x is None:
        return numpy.dtype(x)
    found = getattr(x, "dtype", None)
    return found if isinstance(found, numpy.dtype) else x


def result_type(*arrays_and_dtypes):
    """The dtype that arrays, numbers and dtypes have in common: NumPy's, and with bfloat16."""
    given = [_type_of(x) for x in arrays_and_dtypes]
    if BFLOAT16 not in given:
        return numpy.result_type(*given)
    found, weak = None, []
    for t in given:
        if isinstance(t, numpy.dtype):
            found = t if found is None else promote_types(found, t)
        else:
            weak.append(t)
    if found != BFLOAT16:
        return numpy.result_type(found, *weak)
    return numpy.dtype("complex64") if any([type(x) is complex for x in weak]) else found


def can_cast(from_, to, casting="safe"):
    """Whether a cast is allowed under the rule `casting`: NumPy's answer, and with bfloat16, which
    stands with the floats.
    """
    target = numpy.dtype(to)
    source = from_ if isinstance(from_, type) else getattr(from_, "dtype", from_)
    if isinstance(source, _WEAK):
        return numpy.can_cast(from_, to, casting)  # which refuses them
    source = numpy.dtype(source)
    if BFLOAT16 not in (source, target):
        return numpy.can_cast(source, target, casting)
    if casting == "unsafe" or source == target:
        return True
    if casting == "same_kind":
        ranks = [_RANK.get(kind_of(t), -1) for t in (source, target)]
        return -1 not in ranks and ranks[0] <= ranks[1]
    return casting == "safe" and promote_types(source, target) == target


class finfo(numpy.finfo):
    """Limits of a floating-point dtype: NumPy's object, or that of ml_dtypes for bfloat16."""

    def __new__(cls, dtype):
        t = getattr(dtype, "dtype", dtype)
        if t is bfloat16 or (isinstance(t, (str, numpy.dtype)) and numpy.dtype(t) == BFLOAT16):
            return ml_dtypes.finfo(bfloat16)
        return numpy.finfo(dtype)


def isdtype(dtype, kind):
    """Whether a dtype is one of a kind, or of several, of the array API standard's: NumPy's answer,
    and of bfloat16, which is "real floating" and "numeric".
    """
    if numpy.dtype(dtype) != BFLOAT16:
        return numpy.isdtype(dtype, kind)
    kinds = kind if isinstance(kind, tuple) else (kind,)
    named = [k for k in kinds if isinstance(k, str)]
    if named:
        numpy.isdtype(_SINGLE, tuple(named))  # which refuses other words
    return any(
        [k in ("real floating", "numeric") if isinstance(k, str) else numpy.dtype(k) == BFLOAT16
         for k in kinds]
    )  # fmt: skip


# As which names compiled functions know them (src/frontend).
kind_of._kernel_name, is_half._kernel_name = "numbus kind_of", "numbus is_half"
for _known in (result_type, promote_types, can_cast, finfo):
    _known._kernel_name = f"np.{_known.__name__}"
