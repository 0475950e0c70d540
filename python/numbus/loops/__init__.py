"""Hot loops of a user's module as native code, without a word in the source: see docs/loops.md."""

import ast
import importlib
import os
import re
import sys
import warnings

from . import loop, sources, trees

__all__ = [
    "are_wanted", "compiled", "install", "is_enabled", "may_have_loops", "of_scipy",
    "report_lines", "rewrite_cells",
]  # fmt: skip


def is_enabled():
    """Whether loops of modules that are loaded from now on are compiled."""
    return loop.State.enabled


def are_wanted():
    """Whether loops are compiled if no option is given: yes, unless NUMBUS_LOOPS is 0."""
    return os.environ.get("NUMBUS_LOOPS", "1") != "0"


def install(reports=False):
    """Has loops of modules that are loaded from now on compiled, and what SciPy calls; reports:
    there will be a report of it.
    """
    loop.install(reports)
    if "scipy" in sys.modules:
        of_scipy().adapt_loaded()


def of_scipy():
    """The module that adapts those of SciPy's that call functions of a program."""
    return importlib.import_module("numbus.loops.callbacks")


def report_lines():
    """What was compiled, and of loops that took time and were not, why."""
    adapted = sys.modules.get("numbus.loops.callbacks")
    return [*loop.report_lines(), *(adapted.report_lines() if adapted else [])]


def may_have_loops(source):
    """Whether a module's text has a word that begins a loop, or SciPy may call its functions."""
    text = source if isinstance(source, bytes) else source.encode("utf-8", "replace")
    return re.search(rb"\b(for|while|scipy)\b", text) is not None


def rewrite_cells(shell):
    """Has loops in the cells of an IPython session compiled from now on."""
    of = type(shell.compile)
    if hasattr(of, "rewrites_loops"):
        return

    class Compiler(of):
        rewrites_loops = True

        def __call__(self, source, filename, symbol, *args, **kwargs):
            plain = super().__call__(source, filename, symbol, *args, **kwargs)
            if symbol != "exec" or not isinstance(source, ast.Module) or not is_enabled():
                return plain
            import linecache  # which scripts do not need

            lines = "".join(linecache.getlines(filename))
            return compiled(trees.copied(source), lines, filename, plain, self.flags)

    shell.compile.__class__ = Compiler


def compiled(tree, source, file, plain, flags=0):
    """The code of a module with its loops in the form of rewrite.py; `plain` where that fails.

    flags: those of compile().
    """
    from .rewrite import NotMatched, Rewriter, linked, nested

    for code in nested(plain):
        sources.note(code, source)
    try:
        rewriter = Rewriter(source, file)
        tree = rewriter.visit(tree)
        if not rewriter.count:
            return plain
        with warnings.catch_warnings():  # each was told by the plain code, and lines have copies
            warnings.simplefilter("ignore")
            code = compile(tree, file, "exec", flags, dont_inherit=True)
        return linked(code, plain)
    except (SyntaxError, RecursionError, NotMatched):  # such as those nested too deeply
        return plain
