"""What the translator computes with: expressions as Python text, constants, names, and questions
about trees."""

import operator

import numpy

from . import types

COMPARE = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
_FLOAT = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
_WHOLE = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
}


def zero(t):
    """The text of a type's zero."""
    return "False" if t == "bool" else f"{t}(0)"


class Value:
    """An expression as Python text, with C's type of it; `known` is a constant's NumPy scalar."""

    __slots__ = ("known", "text", "type")

    def __init__(self, text, type, known=None):
        self.text, self.type, self.known = text, type, known


def constant(t, number):
    """The Value of a number, converted as C does."""
    if types.kind(t) in "iu" and isinstance(number, int):
        bits = numpy.dtype(t).itemsize * 8
        number &= (1 << bits) - 1
        if types.kind(t) == "i" and number >> (bits - 1):
            number -= 1 << bits
    with numpy.errstate(all="ignore"):
        known = numpy.asarray(number).astype(t)[()]
    if t == "bool":
        return Value(str(bool(known)), t, known)
    plain = known.item()
    return Value(f"{t}({plain!r})" if plain == plain else f"{t}(nan)", t, known)


def folded(op, t, a, b):
    """The constant `a op b` of two NumPy scalars of type t, or None where it is left to run."""
    if op in ("==", "!=", "<", ">", "<=", ">="):
        return constant("bool", bool(COMPARE[op](a, b)))
    if types.kind(t) == "f":
        with numpy.errstate(all="ignore"):
            return constant(t, _FLOAT[op](a, b)) if op in _FLOAT else None
    a, b = int(a), int(b)
    if op in "/%":
        if not b:
            return None
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return constant(t, quotient if op == "/" else a - quotient * b)
    if op in ("<<", ">>") and not 0 <= b < numpy.dtype(t).itemsize * 8:
        return None
    return constant(t, _WHOLE[op](a, b))


class Name:
    """What a C name stands for: a number, an array (`sizes`), a raw argument or an array that a
    function got (`raw`), or a pointer to one number (`pointer`).
    """

    def __init__(self, text, type, writable=True, sizes=None, raw=False, why="a constant",
                 pointer=False):  # fmt: skip
        self.text, self.type, self.writable = text, type, writable
        self.sizes, self.raw, self.why, self.pointer = sizes, raw, why, pointer
        self.rank = None  # of the kernel's own raw arguments


class Array:
    """An array as an argument of a function."""

    def __init__(self, text, type, writable):
        self.text, self.type, self.writable = text, type, writable


class Lvalue:
    """A variable that a function gets the address of, or a reference to."""

    def __init__(self, text, type):
        self.text, self.type = text, type


def names_in(tree):
    """The names of variables that a tree or a list of trees mentions."""
    if isinstance(tree, (list, tuple)):
        return set().union(*[names_in(t) for t in tree]) if tree else set()
    if not hasattr(tree, "kind") or not hasattr(tree, "at"):
        return set()
    found = {tree.name} if tree.kind == "name" else set()
    return found.union(*[names_in(v) for v in vars(tree).values()])


def members_in(tree):
    """The members such as 'shape' that a tree or a list of trees asks for."""
    if isinstance(tree, (list, tuple)):
        return set().union(*[members_in(t) for t in tree]) if tree else set()
    if not hasattr(tree, "kind") or not hasattr(tree, "at"):
        return set()
    found = {tree.name} if tree.kind == "member" else set()
    return found.union(*[members_in(v) for v in vars(tree).values()])


def has(tree, *kinds):
    """Whether a tree or a list of trees holds a node of these kinds."""
    if isinstance(tree, (list, tuple)):
        return any(has(t, *kinds) for t in tree)
    if not hasattr(tree, "kind") or not hasattr(tree, "at"):
        return False
    return tree.kind in kinds or any(has(v, *kinds) for v in vars(tree).values())
