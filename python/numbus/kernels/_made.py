"""Functions made of text, whose source the compiler finds."""

import builtins
import itertools
import linecache

_numbers = itertools.count()
sources = {}  # the lines of each file, which stay when linecache is cleared


def make(name, lines, **names):
    """The Python function that the lines define; `names` are its globals.

    Its source stays known to `inspect`, from where the compiler reads it. `name` may be one that a
    user has chosen: where the lines mean something else by it, the function gets another one.
    """
    free = name
    while free in names or hasattr(builtins, free):
        free += "_"
    if free != name:
        head = f"def {name}("
        lines = [f"def {free}(" + x[len(head) :] if x.startswith(head) else x for x in lines]
        name = free
    file = f"<numbus {name} {next(_numbers)}>"
    text = "\n".join(lines) + "\n"
    sources[file] = text.splitlines(True)
    linecache.cache[file] = (len(text), None, sources[file], file)
    exec(compile(text, file, "exec"), names)
    return names[name]
