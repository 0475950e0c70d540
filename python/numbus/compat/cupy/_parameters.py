"""The arguments of ElementwiseKernel and ReductionKernel: their declarations, types and layout."""

import numpy

import numbus
from numbus import _core
from numbus.core.operands import SUPPORTED, to_ndarray

from ...core.dtypes import kind_of


class Parameter:
    """One declaration such as 'raw float32 x': `dtype` is None where `type` is a placeholder."""

    def __init__(self, text, what, output):
        words = text.split()
        self.raw = self.non_const = False
        while len(words) > 2 and words[0] in ("raw", "_non_const", "const"):
            self.raw |= words[0] == "raw"
            self.non_const |= words[0] == "_non_const"
            words.pop(0)
        if len(words) != 2 or not words[1].isidentifier():
            raise ValueError(
                f"[{what}] no declaration of an argument; got {text.strip()!r}; expected such as "
                "'float32 x', 'T x' or 'raw T x'"
            )
        self.type, self.name = words
        self.writable = output or self.non_const
        if self.name in ("i", "n") or self.name.startswith("_"):
            raise ValueError(
                f"[{what}] an argument with a name that means something else; got {self.name!r}; "
                "expected a name other than i, n and those with an underscore in front"
            )
        self.dtype = None
        if len(self.type) == 1:
            return
        try:
            self.dtype = numpy.dtype(self.type)
        except TypeError:
            self.dtype = None
        if self.dtype not in SUPPORTED:
            raise ValueError(
                f"[{what}] no type of an argument; got {self.type!r}; expected a placeholder of "
                "one letter, or a dtype such as float32"
            )


def parameters(text, what, output):
    """The declarations in a text, separated by commas."""
    return [Parameter(part, what, output) for part in text.split(",") if part.strip()]


def check_names(params, what):
    """Raises ValueError where two arguments have one name."""
    names = [p.name for p in params]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(
                f"[{what}] two arguments of one name; got {name!r} twice; expected different names"
            )


def argument(a, what):
    """An argument as a Numbus array on the device, or a number."""
    if isinstance(a, _core.generic):
        a = a._array()
    if isinstance(a, (numpy.ndarray, _core.ndarray)):
        if not isinstance(a, _core.ndarray):
            a = to_ndarray(a)
        return _core.to_device(a, _core.get_device())
    if isinstance(a, (bool, int, float, complex, numpy.generic)):
        return a
    if hasattr(a, "__cuda_array_interface__") or hasattr(a, "__dlpack__"):
        return numbus.asarray(a)
    raise TypeError(
        f"[{what}] an argument of a type that kernels do not take; got {type(a).__name__}; "
        "expected an array or a number"
    )


def decide_types(params, args, what):
    """(dtype of each argument, placeholders to dtypes' names).

    An argument that is given as an array has to have its declared dtype; a placeholder stands for
    the dtype of the first array declared with it, else of the first number. Outputs that are not
    given are None among `args`. Raises TypeError.
    """
    bound = {}
    for p, a in zip(params, args):
        if not isinstance(a, _core.ndarray):
            continue
        wanted = p.dtype if p.dtype is not None else bound.setdefault(p.type, a.dtype)
        if a.dtype != wanted:
            raise TypeError(
                f"[{what}] argument {p.name} has another type; got {a.dtype}; expected {wanted}"
            )
    for p, a in zip(params, args):
        if p.dtype is None and a is not None and p.type not in bound:
            bound[p.type] = numpy.asarray(a).dtype
    for p in params:
        if p.dtype is None and p.type not in bound:
            raise TypeError(
                f"[{what}] the type {p.type} of {p.name} is not known; got no argument of it; "
                f"expected the array {p.name} among the arguments, or a dtype in its place"
            )
    dtypes = [p.dtype if p.dtype is not None else bound[p.type] for p in params]
    return dtypes, {name: dtype.name for name, dtype in bound.items()}


def number(value, dtype):
    """A number as one of the dtype, converted as C does."""
    if type(value) is dtype.type:
        return value
    found = numpy.asarray(value)
    if found.dtype == object:
        raise OverflowError(
            f"[kernel] a number of more than 64 bits; got {value}; expected one of {dtype}"
        )
    if dtype.kind != "c" and found.dtype.kind == "c":
        raise TypeError(
            f"[kernel] a complex number for a real one; got {value}; expected one of {dtype}"
        )
    if kind_of(found.dtype) in "fc":
        with numpy.errstate(all="ignore"):
            return found.astype(dtype)[()]
    return found.astype(dtype)[()]


def flat_raw(a, writable):
    """(a raw argument as a 1-d array in C order, whether that is a copy to bring back)."""
    if a.flags["C_CONTIGUOUS"]:
        return a.reshape((-1,)), False
    return a.copy().reshape((-1,)), writable


def overlapping(a, b):
    """Whether two arrays may share memory otherwise than element by element."""
    if a is b or a._storage != b._storage:
        return False
    return not (
        a._offset == b._offset
        and a.shape == b.shape
        and a.strides == b.strides
        and a.dtype == b.dtype
    )


def unravel(indent, position, extents, prefix):
    """Lines that split a position in C order into prefix0, prefix1, …"""
    lines = []
    if len(extents) == 1:
        return [f"{indent}{prefix}0 = {position}"]
    lines.append(f"{indent}{prefix}_rest = {position}")
    for d in reversed(range(1, len(extents))):
        lines.append(f"{indent}{prefix}{d} = {prefix}_rest % {extents[d]}")
        lines.append(f"{indent}{prefix}_rest = {prefix}_rest // {extents[d]}")
    lines.append(f"{indent}{prefix}0 = {prefix}_rest")
    return lines
