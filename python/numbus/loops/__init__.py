"""Hot loops of a user's module as native code, without a word in the source: see docs/loops.md."""

import re
import warnings

from . import run
from .run import install, report_lines

__all__ = ["compiled", "install", "is_enabled", "may_have_loops", "report_lines"]


def is_enabled():
    """Whether loops of modules that are loaded from now on are compiled."""
    return run.State.enabled


def may_have_loops(source):
    """Whether a module's text has a word that begins a loop."""
    text = source if isinstance(source, bytes) else source.encode("utf-8", "replace")
    return re.search(rb"\b(for|while)\b", text) is not None


def compiled(tree, source, file, plain):
    """The code of a module with its loops in the form of rewrite.py; `plain` where that fails."""
    from .rewrite import NotMatched, Rewriter, linked

    try:
        rewriter = Rewriter(source, file)
        tree = rewriter.visit(tree)
        with warnings.catch_warnings():  # each was told by the plain code, and lines have copies
            warnings.simplefilter("ignore")
            code = compile(tree, file, "exec", dont_inherit=True)
        return linked(code, plain, rewriter.functions)
    except (SyntaxError, RecursionError, NotMatched):  # nested too deeply
        return plain
