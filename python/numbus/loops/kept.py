"""Compiled loops, and those of earlier runs: by their text and the types of what they compute with,
so that nothing of what compiles loops is loaded, and no tree is read, where they are on disk.

Kept are loops without arrays of NumPy's and Numbus's.
"""

import ast
import marshal
import os
import sys

from . import functions, heads, marks
from .native import _kept


class Code:
    """A compiled loop for certain types."""

    def __init__(self, call, node, loops, words, is_deep, text):
        self._call, self._nodes = call, loops
        self.direct = None  # the same for arrays of NumPy's and Numbus's, where it takes these
        self.loops = [(n.at, n.target, heads.over(n)) for n in loops]
        self.lines = {n.at: n.lineno for n in ast.walk(node) if hasattr(n, "at")}
        self.words = words  # numbers for ranges in the heads of loops
        self.is_deep = is_deep  # whether a function in it calls itself
        self.text = text  # lines of the functions in the kernel language

    def __call__(self, *args):
        return self._call(*args)


# What tells code that tests have made otherwise from that of programs.
made_by = [""]


def show(this, text):
    """Prints the functions that a loop has become, where that is asked for."""
    if os.environ.get("NUMBUS_LOOPS_PRINT"):
        print(f"# {this.file}:{this.line}", *text, sep="\n", file=sys.stderr)


def find(this, held):
    """The code of a loop for these types that is on disk, or the reason why there is none; None
    where neither is known.
    """
    key = _key(this, held.entry, held.fixed)
    found = key and _kept.load(key)
    if not found:
        return None
    found = marshal.loads(found)
    if type(found) is str:
        return found
    stored, ats, words, is_deep, text = found
    call = _kept.code(stored)
    if call is None:
        return None
    show(this, text)
    if not this.is_marked:  # a file that was moved, or whose mark has gone
        marks.note(this.file, this.text[1])
    nodes = _loops_at(this.node)
    return Code(call, this.node, [nodes[at] for at in ats], words, is_deep, text)


def keep(this, entry, fixed, code, stored):
    """Keeps a loop on disk; stored: what its code is known by there, or None."""
    key = _key(this, entry, fixed)
    if stored is None or key is None:
        return
    nodes = _loops_at(this.node)
    ats = [n.at for n in code._nodes]
    if all(nodes.get(n.at) is n for n in code._nodes):
        _kept.store(key, marshal.dumps((stored, ats, code.words, code.is_deep, code.text)))
        if _kept.load(key):
            marks.note(this.file, this.text[1])


def keep_reason(this, entry, fixed, why):
    """Keeps why a loop cannot be compiled for these types."""
    key = _key(this, entry, fixed)
    if key is not None:
        _kept.store(key, marshal.dumps(why))


def _loops_at(node):
    kinds = ast.For, ast.While
    return {n.at: n for n in ast.walk(node) if isinstance(n, kinds) and hasattr(n, "at")}


class _NotKept(Exception):
    """What is not known by its text."""


def _key(this, entry, fixed):
    """What a loop is known by, or None."""
    if made_by[0] is None:
        return None
    known = {n: f for n, f in fixed.items() if n not in "@&"}  # of parts of arrays
    try:
        parts = (
            _identity(), made_by[0], this.text, this.is_for, list(this.names),
            sorted(this.made_names), list(entry.items()),
            [(n, _described(f)) for n, f in known.items()],
        )  # fmt: skip
    except _NotKept:
        return None
    return repr(parts).encode("utf-8", "backslashreplace")


def _described(of):
    """What a name stands for, in words, numbers and tuples of them."""
    if type(of) is functions.Called:
        read = [(n, _described(f)) for n, f in sorted(of.fixed.items())]
        given = [(n, _described(f)) for n, f in sorted(of.defaults.items())]
        about = of.name, of.first, of.attributes, of.parameters, of.names
        return (ast.dump(of.tree), read, given, *about)
    if type(of) is tuple:
        if of[0] == "array" and of[6] not in ("list", "grows", "bools", "items"):
            raise _NotKept
        return tuple(map(_described, of))
    if of is None or type(of) in (str, int, bool):
        return of
    raise _NotKept


_identities = []


def _identity():
    """What tells versions of Python, and of what compiles loops, apart."""
    if not _identities:
        package = os.path.dirname(os.path.dirname(__file__))
        found = []
        for folder in ("loops", "kernels"):
            with os.scandir(os.path.join(package, folder)) as entries:
                files = [(e.name, e.stat()) for e in entries if e.name.endswith(".py")]
            found += [(name, s.st_size, s.st_mtime_ns) for name, s in sorted(files)]
        _identities.append((sys.version, found))
    return _identities[0]
