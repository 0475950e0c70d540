"""Functions of the program's that are numbers of numbers: which they are, and what they read."""

import ast
import builtins
import math
import types

from .. import _loops
from . import methods, numbers, select, sources

DEEPEST = 300  # calls of a function in itself, which CPython has a limit for
_DEEPEST = 6  # functions that call functions

_last = [None, None]  # the source that was parsed last, and its tree
_trees = {}  # by the same: its tree, once it was asked for


class Called:
    """A function as it is now: its tree, and what the names in it that are not its own stand for.

    Two are equal where one code serves for both. first, attributes: of a method the name of the
    argument that is the object, and what it reads of that, which is given to it in its place.
    """

    def __init__(self, tree, code, fixed, defaults, first=None, attributes=()):
        self.tree, self.fixed, self.defaults = tree, fixed, defaults
        self.name = code.co_name
        self.first, self.attributes = first, attributes
        self.parameters = code.co_varnames[first is not None : code.co_argcount]
        self.names = sorted({*code.co_varnames} - {first})
        known = [sorted(of.items(), key=lambda item: item[0]) for of in (fixed, defaults)]
        self.calls_itself = ("self",) in fixed.values()
        self._key = id(tree), attributes, *map(tuple, known)

    def __eq__(self, other):
        return type(other) is Called and self._key == other._key

    def __hash__(self):
        return hash(self._key)


def _tree(code):
    """The tree of a function whose statements are numbered, or None."""
    if code not in _trees:
        _trees[code] = None
        module = _parsed(sources.of(code))
        tree = None if module is None else _definition(module, code)
        if tree is not None and not tree.decorator_list and not _is_mangled(tree):
            _trees[code] = tree
            select.number(tree)
            tree.reads = _reads(tree, code.co_varnames)
    return _trees[code]


def _parsed(source):
    """The tree of a module; that of the last one is kept."""
    if source is None:
        return None
    if _last[0] is not source:
        try:
            _last[:] = source, ast.parse(source)
        except SyntaxError:
            return None
    return _last[1]


def _definition(module, code):
    """Where a function is defined, also one by lambda, or None."""
    if code.co_name == "<lambda>":
        return _lambda(module, code)
    place = code.co_name, code.co_firstlineno
    found = [
        n
        for n in ast.walk(module)
        if isinstance(n, ast.FunctionDef) and (n.name, n.lineno) == place
    ]
    return found[0] if len(found) == 1 else None


def _lambda(module, code):
    """The innermost lambda that has all places of a code, as a definition."""
    places = [p for p in code.co_positions() if None not in p and (p[0], p[2]) != (p[1], p[3])]
    names = list(code.co_varnames[: code.co_argcount])
    found = []
    for n in ast.walk(module):
        if isinstance(n, ast.Lambda) and [a.arg for a in n.args.args] == names and places:
            of = n.body
            first, last = (of.lineno, of.col_offset), (of.end_lineno, of.end_col_offset)
            if all(first <= (p[0], p[2]) and (p[1], p[3]) <= last for p in places):
                found.append((first, n))
    if not found:
        return None
    first, n = max(found, key=lambda x: x[0])
    if [of for of, _ in found].count(first) > 1:
        return None
    body = ast.copy_location(ast.Return(n.body), n.body)
    made = ast.FunctionDef("<lambda>", n.args, [body], [])
    return ast.copy_location(made, n)


def called(function, changing, depth=0, owner=None):
    """What a function of the program's is for the compiler, or None.

    changing: a dict of globals, the names in it that the loop assigns to, and all such names.
    owner: the object that it is a method of.
    """
    code = _loops.running_code(function)
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
    if owner is None:
        return Called(tree, code, fixed, defaults)
    first = code.co_varnames[0] if code.co_argcount else None
    found = first and methods.attributes(tree, first)
    if found is None or first in names:
        return None
    attributes = set()
    for name in found:
        inner = methods.of_object(owner, name)
        if inner is None:
            attributes.add(name)
            continue
        of = None if inner is function else called(inner, changing, depth + 1, owner)
        fixed[f"{first}.{name}"] = "o" if of is None else ("method", of)
        attributes |= set(of.attributes if of else ())
    return Called(tree, code, fixed, defaults, first, tuple(sorted(attributes)))


def reads(code):
    """(name, attribute or None) of what a function reads that is known."""
    return _trees[code].reads


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


# Of `inspect`, which takes milliseconds to load: CO_VARARGS, CO_VARKEYWORDS, CO_GENERATOR,
# CO_COROUTINE, CO_ITERABLE_COROUTINE, CO_ASYNC_GENERATOR.
_OTHER_KINDS = 0x04 | 0x08 | 0x20 | 0x80 | 0x100 | 0x200


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


def note_known(**modules):
    """Notes functions of Python's, and of these modules, that are known by what they are."""
    of = {"": builtins, "math": math, **modules}
    for name in numbers.KNOWN:
        module, _, short = name.rpartition(".")
        if module in of:
            numbers.note_function(getattr(of[module], short), name)
