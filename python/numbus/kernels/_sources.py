"""The source of a function, as a tree."""

import ast
import inspect
import linecache
import sys
import textwrap
import types as python_types

from ._errors import CompileError
from ._made import sources

__all__ = ["parse"]


def _lines(code):
    """The lines of a function as its bytecode tells them, which is faster than reading tokens."""
    return _file_lines(code)[code.co_firstlineno - 1 : _last_line(code)]


def _file_lines(code):
    """All lines of the file of a function."""
    linecache.checkcache(code.co_filename)
    return linecache.getlines(code.co_filename) or sources.get(code.co_filename, [])


def _command_lines(code):
    """All lines of `python -c`, where a function is one of its; else None."""
    argv = sys.orig_argv
    if code.co_filename != "<string>" or "-c" not in argv[:-1]:
        return None
    text = argv[argv.index("-c") + 1]
    try:
        todo = [compile(text, "<string>", "exec")]
    except SyntaxError:
        return None
    while todo:
        c = todo.pop()
        todo += [k for k in c.co_consts if isinstance(k, python_types.CodeType)]
        if c == code:  # not one of the same name and lines that exec() has made
            return text.splitlines(True)
    return None


def _last_line(code):
    """The last line that an instruction of a function, or of one in it, stands for."""
    last = max([code.co_firstlineno, *(end for _, end, _, _ in code.co_positions() if end)])
    inner = [_last_line(k) for k in code.co_consts if isinstance(k, python_types.CodeType)]
    return max([last, *inner])


def _at_line(first, text):
    """The tree of a text that begins at a line of its file: empty lines before it have the parser
    count as the file does, which is quicker than to go over the tree.
    """
    return ast.parse("\n" * (first - 1) + text)


def parse(function):
    """The function's definition as Python's `ast` sees it, at its lines in its file."""
    code = function.__code__
    lines, first, tree = _lines(code), code.co_firstlineno, None
    if lines:
        try:
            tree = _at_line(first, textwrap.dedent("".join(lines)))
        except SyntaxError:
            lines = None  # what no bytecode stands for belongs to it, too
    command = None if lines else _command_lines(code)
    if command:
        lines = command[first - 1 : _last_line(code)]
    if not lines:
        try:
            lines, first = inspect.getsourcelines(function)
        except (OSError, TypeError):
            raise CompileError(
                f"the source of '{function.__name__}' is not available",
                None,
                function,
                "define it in a file or a notebook cell, not with exec()",
            ) from None
    dedented = textwrap.dedent("".join(lines))
    indent = len(lines[0]) - len(lines[0].lstrip())
    try:
        tree = tree or _at_line(first, dedented)
    except SyntaxError:
        # A lambda cut out of the middle of an expression: it is found in all of the file.
        if code.co_name == "<lambda>":
            tree = _parsed("".join(command or _file_lines(code)))
            indent = 0
        if tree is None:
            raise CompileError(
                f"the source of '{function.__name__}' cannot be read", None, function
            ) from None
    for node in ast.walk(tree) if indent else ():
        if hasattr(node, "col_offset"):
            node.col_offset += indent
            node.end_col_offset += indent
    # The name it was written under: __name__ may have been changed.
    if code.co_name == "<lambda>":
        found = [n for n in ast.walk(tree) if isinstance(n, ast.Lambda)]
        same = [n for n in found if n.lineno == code.co_firstlineno]
        same = [n for n in same if len(n.args.args) == code.co_argcount]
        # The innermost one around all of its instructions.
        same = [n for n in same if _encloses(n.body, code)][-1:] or same
        if len(same) != 1 and len({ast.dump(n) for n in same}) != 1:
            raise CompileError(
                "several lambdas stand on one line", None, function, "give each a line of its own"
            )
        return same[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            return node
    raise CompileError(f"the source of '{function.__name__}' is not a function's", None, function)


def _encloses(node, code):
    """Whether all instructions of a function stand for parts of an expression."""
    begin, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    parts = [p for p in code.co_positions() if None not in p and p[2] < p[3]]
    return bool(parts) and all(
        begin <= (line, column) and (last, until) <= end for line, last, column, until in parts
    )


def _parsed(text):
    try:
        return ast.parse(text)
    except SyntaxError:
        return None
