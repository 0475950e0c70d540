"""Declared signatures: which one takes the arguments of a call, and how they are converted."""

import numpy

from .. import _core
from ..core import dtypes

ARRAYS = (numpy.ndarray, _core.ndarray)
# Python's numbers that a type's own constructor converts as astype does; the first is its equal.
_EASY = {"float64": (float, int), "complex128": (complex, float, int), "int64": (int,)}


def kind(a):
    """What decides about an argument: its type, and for arrays dtype, axes and order."""
    if isinstance(a, ARRAYS):
        flags = a.flags
        return a.dtype, a.ndim, bool(flags["C_CONTIGUOUS"]), bool(flags["F_CONTIGUOUS"])
    if isinstance(a, tuple):
        return tuple([kind(item) for item in a])
    return getattr(a, "_type", None) or type(a)


def _dtype(a):
    if isinstance(a, (bool, int, float, complex)):
        return numpy.asarray(type(a)(0)).dtype
    return a.dtype if isinstance(a, (numpy.generic, _core.generic)) else None


def distance(a, t):
    """How far an argument is from a declared type: 0 for the type itself; None where it cannot be
    converted. Numbers are converted to any type but from complex to real; arrays are not.
    """
    if t.tag == "number":
        have, want = _dtype(a), numpy.dtype(t.dtype)
        if have is None or (have.kind == "c" and want.kind != "c"):
            return None
        if have == want:
            return 0
        if dtypes.can_cast(have, want, "safe"):
            return 1
        return 2 if dtypes.can_cast(have, want, "same_kind") else 4
    if t.tag == "array":
        if not isinstance(a, ARRAYS) or a.dtype != t.dtype or a.ndim != t.ndim:
            return None
        order = {"C": "C_CONTIGUOUS", "F": "F_CONTIGUOUS"}.get(t.layout)
        return 0 if order is None or a.flags[order] else None
    if t.tag == "tuple":
        if not isinstance(a, tuple) or len(a) != len(t.items):
            return None
        parts = [distance(item, part) for item, part in zip(a, t.items)]
        return None if any(p is None for p in parts) else sum(parts)
    if t.tag == "str":
        return 0 if type(a) is str else None
    if t.tag in ("dict", "list"):
        return 0 if getattr(a, "_type", None) == t else None
    if t.tag == "object":
        return 0 if getattr(a, "_numba_type_", None) == t else None
    return 0 if t.tag == "none" and a is None else None


def converter(t):
    """The function that makes an argument one of a declared type, or None where none is needed."""
    if t.tag != "number":
        return None
    dtype = numpy.dtype(t.dtype)
    scalar = dtype.type
    easy = _EASY.get(t.dtype, ())

    def convert(a):
        if type(a) is scalar:
            return a
        if type(a) in easy and (type(a) is not int or -(2**63) <= a < 2**63):
            return scalar(a)
        with numpy.errstate(all="ignore"):
            return numpy.asarray(a).astype(dtype)[()]

    return convert


def answer(t):
    """The function that makes a result Python's number of a declared type; None for what is no
    number."""
    convert = converter(t)
    if convert is None:
        return None
    own = _EASY.get(t.dtype, (None,))[0]
    return lambda a: a if type(a) is own else convert(a).item()


class Declared:
    """The signatures that a function was declared with."""

    def __init__(self):
        self.signatures = []  # (argument types, result type or None)
        self._known = {}

    def add(self, arguments, result):
        self.signatures.append((tuple(arguments), result))
        self._known.clear()

    def fit(self, name, args):
        """(the arguments, converted; what converts the result, or None) for a call.

        Raises TypeError where no signature takes the arguments.
        """
        key = tuple([kind(a) for a in args])
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._choose(name, args)
        converters, result = known
        return [a if c is None else c(a) for c, a in zip(converters, args)], result

    def _choose(self, name, args):
        best = None
        for arguments, result in self.signatures:
            if len(arguments) != len(args):
                continue
            parts = [distance(a, t) for a, t in zip(args, arguments)]
            if not any(p is None for p in parts) and (best is None or sum(parts) < best[0]):
                best = sum(parts), arguments, result
        if best is None:
            got = ", ".join(
                f"array({a.dtype}, {a.ndim}d)" if isinstance(a, ARRAYS) else type(a).__name__
                for a in args
            )
            expected = " or ".join(f"({', '.join(map(repr, a))})" for a, _ in self.signatures)
            raise TypeError(
                f"[{name}] no matching signature among those declared; got ({got}); expected "
                f"{expected}"
            )
        _, arguments, result = best
        return [converter(t) for t in arguments], answer(result) if result is not None else None
