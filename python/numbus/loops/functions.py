"""Functions of the program's that are numbers of numbers: which they are, and what they read."""

import ast
import builtins
import inspect
import math
import sys
import types

import numpy

from .. import _core
from . import numbers, select

_DEEPEST = 6  # functions that call functions

_sources = {}  # by the code of a function, rewritten or not: the source of its module
_trees = {}  # by the same: its tree, once it was asked for


class Called:
    """A function as it is now: its tree, and what the names in it that are not its own stand for.

    Two are equal where one code serves for both.
    """

    def __init__(self, tree, code, fixed, defaults):
        self.tree, self.fixed, self.defaults = tree, fixed, defaults
        self.name = code.co_name
        self.parameters = code.co_varnames[: code.co_argcount]
        self.names = sorted(code.co_varnames)
        known = [sorted(of.items(), key=lambda item: item[0]) for of in (fixed, defaults)]
        self.calls_itself = ("self",) in fixed.values()
        self._key = id(tree), *map(tuple, known)

    def __eq__(self, other):
        return type(other) is Called and self._key == other._key

    def __hash__(self):
        return hash(self._key)


def note(code, source):
    """Notes in which source a function stands."""
    _sources[code] = source


def follow(rewritten, plain):
    """Notes that a code is that of a function whose source is known."""
    _sources[rewritten] = _sources[plain]


def _tree(code):
    """The tree of a function whose statements are numbered, or None."""
    if code not in _trees:
        _trees[code] = None
        try:
            module = ast.parse(_sources[code])
        except (KeyError, SyntaxError):
            return None
        place = code.co_name, code.co_firstlineno
        found = [
            n
            for n in ast.walk(module)
            if isinstance(n, ast.FunctionDef) and (n.name, n.lineno) == place
        ]
        if len(found) == 1 and not found[0].decorator_list and not _is_mangled(found[0]):
            tree = _trees[code] = found[0]
            select.number(tree)
            tree.reads = _reads(tree, code.co_varnames)
    return _trees[code]


def called(function, changing, depth=0):
    """What a function of the program's is for the compiler, or None.

    changing: a dict of globals, the names in it that the loop assigns to, and all such names.
    """
    code = _core.running_code(function)
    if depth > _DEEPEST or not _is_plain(function, code):
        return None
    tree = _tree(code)
    if tree is None:
        return None
    fixed = {}
    for name, attribute in tree.reads:
        found = _find(function, code, name)
        if name in code.co_freevars:
            if name in changing[2]:  # a cell has one name in all functions
                found = None
        elif function.__globals__ is changing[0] and name in changing[1]:
            found = None
        if attribute is not None:
            name = f"{name}.{attribute}"
            of_module = issubclass(type(found), types.ModuleType)
            found = vars(found).get(attribute) if of_module else None
        fixed[name] = _describe(found, function, changing, depth)
    given = function.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(given) : code.co_argcount]
    defaults = {n: _describe(v, function, changing, depth) for n, v in zip(names, given)}
    return Called(tree, code, fixed, defaults)


def _is_mangled(tree):
    """Whether a name means another one where the function stands in a class."""
    names = (getattr(n, "attr", getattr(n, "id", None)) for n in ast.walk(tree))
    return any(select.is_mangled(n) for n in names if isinstance(n, str))


def _reads(tree, own):
    """(name, None), (name, attribute) of all names in a function that are not its own."""
    found = set()
    for n in ast.walk(tree):
        if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name):
            found.add((n.value.id, n.attr))
        elif isinstance(n, ast.Name):
            found.add((n.id, None))
    return [of for of in found if of[0] not in own]


_OTHER_KINDS = (
    inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR | inspect.CO_COROUTINE
    | inspect.CO_ITERABLE_COROUTINE | inspect.CO_ASYNC_GENERATOR
)  # fmt: skip


def _is_plain(function, code):
    return not (
        code.co_flags & _OTHER_KINDS
        or code.co_kwonlyargcount
        or code.co_cellvars
        or len(function.__defaults__ or ()) > code.co_argcount
    )


def _find(function, code, name):
    if name in code.co_freevars:
        try:
            return function.__closure__[code.co_freevars.index(name)].cell_contents
        except ValueError:  # nothing yet
            return None
    return function.__globals__.get(name, getattr(builtins, name, None))


def _describe(value, function, changing, depth):
    """("number", kind, text), ("call", name), ("function", Called), ("self",) for the function
    itself, or "o".
    """
    kind = {int: "i", float: "f", bool: "b"}.get(type(value))
    if kind is not None:
        try:
            return ("number", kind, numbers.constant(value).text)
        except numbers.Unsupported:
            return "o"
    known = numbers.known_function(value)
    if known is not None:
        return ("call", known)
    if value is function:
        return ("self",)
    if type(value) is types.FunctionType:
        found = called(value, changing, depth + 1)
        return "o" if found is None else ("function", found)
    return "o"


def note_known():
    """Notes functions of Python's, of NumPy's and ours that are known by what they are."""
    of = {"": builtins, "math": math, "numpy": numpy, "numbus": sys.modules["numbus"]}
    for name in numbers.KNOWN:
        module, _, short = name.rpartition(".")
        numbers.note_function(getattr(of[module], short), name)
