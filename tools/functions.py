"""Prints how many functions there are, of which kind, under how many names, and what does the work.

    python tools/functions.py           # the tables
    python tools/functions.py --list    # the same, each number with its names

Nothing is kept by hand: the names are those of the installed NumPy and of Numbus' own namespaces,
the kinds come from the registry, and what does the work is found by looking at the objects under
those names, at the source of their bodies, and at what the compiler of functions answers when a
function asks it for them.
"""

import argparse
import ast
import functools
import inspect
import itertools
import linecache
import os
import sys
import textwrap
import types

import numbus
import numpy
from numbus import _core
from numbus.core import fallback, host, operands
from numbus.functions import registry
from numbus.kernels import CompileError, UnsupportedError, _library, _resolve, njit

PACKAGE = os.path.dirname(numbus.__file__) + os.sep
# What hands the elements of arrays to NumPy. Any other function of NumPy's that is called with an
# array of ours comes back through the protocols, where it is counted.
CROSSINGS = (
    host.reading,
    host.writing,
    host.Views,
    operands.to_numpy,
    operands.library,
    numpy.asarray,
    numpy.array,
)
# Modules that convert operands: using them does not make a body one that computes on the host.
CONVERSIONS = tuple([f"/core/{m}.py" for m in "operands fallback host errors devices".split()])

# What a name can be, in the order in which the table shows it.
WORKERS = {
    "core": "ours: an operation of the core's",
    "registered": "ours: registered",
    "other": "ours: another body",
    "by": "  of ours, with a step that NumPy does, uncounted",
    "partly": "  of ours, with a counted fallback for some operands",
    "fallback": "NumPy, a counted fallback",
    "NumPy": "NumPy on the host, uncounted",
    "none": "not there",
}
# The rows whose names are all of a namespace; "by" and "partly" are among those of ours.
WHOLE = ("core", "registered", "other", "fallback", "NumPy", "none")
OURS = ("core", "registered", "other")


# --- What a body uses -------------------------------------------------------------------------


def body_of(value):
    """The Python function that does what users call, without the adapters around it."""
    while not hasattr(value, "counted"):
        inner = getattr(value, "__wrapped__", None)
        if not isinstance(inner, (types.FunctionType, _core.Composed)):
            break
        value = inner
    return getattr(value, "body", value)  # of a function with the keywords of ufuncs


def is_ours(body):
    """Whether a function of Python's stands in our package."""
    return isinstance(body, types.FunctionType) and body.__code__.co_filename.startswith(PACKAGE)


@functools.cache
def public_bodies():
    """The bodies of what has a name of its own: they are looked at under that name only."""
    ours = [getattr(numbus, name, None) for name in dir(numpy) if not name.startswith("_")]
    return frozenset(
        {body_of(v) for v in ours if isinstance(body_of(v), types.FunctionType)}
        | set(registry.BODIES)
    )


def dotted(node):
    """("numpy", "asarray") for the node of numpy.asarray; None for other expressions."""
    if isinstance(node, ast.Name):
        return (node.id,)
    before = dotted(node.value) if isinstance(node, ast.Attribute) else None
    return before and (*before, node.attr)


def outside(function, path):
    """What a dotted name in a function's source stands for; None where only a call would tell."""
    closure = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    first, *rest = path
    try:
        value = closure[first].cell_contents if first in closure else function.__globals__[first]
    except (KeyError, ValueError):
        return None
    for name in rest:
        value = getattr(value, name, None)
    return value


def names_of(function):
    """(dotted name, what it stands for) of each name outside of it that a function's source has."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function.__code__)))
    except (OSError, SyntaxError):  # a lambda inside of an expression, or generated code
        return
    for node in ast.walk(tree):
        path = dotted(node) if isinstance(node, (ast.Name, ast.Attribute)) else None
        value = outside(function, path) if path else None
        if value is not None:
            yield ".".join(path), value


@functools.cache
def uses(function):
    """{(what, name)} of what a body uses, itself or by helpers without a name of their own.

    what: "by" (hands elements to NumPy), "partly" (a counted fallback), "element" or "line" (loops
    of these kinds).
    """
    found, seen, waiting = set(), set(), [function]
    while waiting:
        f = waiting.pop()
        if f in seen:
            continue
        seen.add(f)
        for name, value in names_of(f):
            if isinstance(value, registry.Loops):
                found.add((value._kind, name))
            elif value is fallback.call or value is fallback.record:
                found.add(("partly", name))
            elif any([value is crossing for crossing in CROSSINGS]):
                found.add(("by", name))
            elif hasattr(value, "counted"):
                found.add(("partly" if value.counted else "by", name))
            else:
                body = body_of(value)
                helper = is_ours(body) and body not in public_bodies()
                if helper and not body.__code__.co_filename.endswith(CONVERSIONS):
                    waiting.append(body)
    return frozenset(found)


def workers(value):
    """Who does the work of what stands under a name: some keys of WORKERS."""
    if value is None:
        return {"none"}
    if isinstance(value, fallback.Ufunc):
        return {"fallback"}
    body = body_of(value.fget if isinstance(value, property) else value)
    if hasattr(body, "counted"):
        return {"fallback" if body.counted else "NumPy"}
    if is_ours(body):
        inside = {what for what, _ in uses(body)} & {"by", "partly"}
        if hasattr(getattr(value, "__wrapped__", None), "few"):
            inside.add("by")
        return {"registered" if body in registry.BODIES else "other", *inside}
    if isinstance(value, _core.ufunc) or type(value).__module__ == "nanobind":
        return {"core"}
    return {"NumPy"}


# --- Compiled functions -----------------------------------------------------------------------

_sources = itertools.count()


def compiles(expression, missing):
    """Whether compiled functions know what an expression asks for; `missing` is what the error says
    if they do not. Without its arguments hardly any call gets as far as generating code.
    """
    file = f"<functions {next(_sources)}>"
    lines = ["def f():\n", f"    return {expression}\n"]
    linecache.cache[file] = len("".join(lines)), None, lines, file
    space = {"np": numpy, "special": _special()}
    exec(compile("".join(lines), file, "exec"), space)
    try:
        njit(space["f"])()
    except (UnsupportedError, CompileError) as e:
        return not any([text in str(e).splitlines()[0] for text in missing])
    except Exception:
        return True
    return True


def in_njit(prefix, name):
    call = f"{prefix}{name}"
    return compiles(f"{call}()", (f"not yet in compiled functions: {call}", "mean nothing in"))


def method_in_njit(name):
    later = f"not yet in compiled functions: .{name}() of arrays"
    return compiles(f"np.ones(3).{name}()", (f"has no method '{name}'", later, "mean nothing in"))


def _special():
    try:
        import scipy.special
    except ImportError:
        return None
    return scipy.special


def second_bodies(known):
    """{where: names} of NumPy's functions that have one body for array calls and another one for
    compiled functions: in kernels/library, or in the compiler itself.

    known: those that compiled functions have.
    """
    found = {"kernels/library": [], "the compiler (C++)": []}
    for name in known:
        canonical = _resolve.name_of(getattr(numpy, name))
        row = registry.ROWS.get(canonical)
        one_source = row is not None and row.compiled
        operation = isinstance(getattr(numbus, name), _core.ufunc)
        if one_source or operation or not workers(getattr(numbus, name)) & set(OURS):
            continue
        library = canonical in _library._files()
        found["kernels/library" if library else "the compiler (C++)"].append(name)
    return found


# --- The tables -------------------------------------------------------------------------------


def registered():
    """{line of the table: names} of what the registry and the tables of the core hold."""
    rows = list(registry.BODIES.values())
    plain = [r for r in rows if r.kind == "composed"]
    loops = {r.name: {what for what, _ in uses(r.body)} for r in plain}
    return {
        "registered functions, a body each": [r.name for r in rows],
        "  primitive": [r.name for r in rows if r.kind == "primitive"],
        "  element": [r.name for r in rows if r.kind == "element"],
        "  line": [r.name for r in rows if r.kind == "line"],
        "  composed": [r.name for r in plain],
        "    with loops over elements": [n for n, found in loops.items() if "element" in found],
        "    with loops over lines": [n for n, found in loops.items() if "line" in found],
        "  that compiled functions have from the same body": [r.name for r in rows if r.compiled],
        "names of registered functions": list(registry.ROWS),
        "elementwise operations (ops.def)": [row["name"] for row in _core.table()],
        "routines (routines.def)": list(_core.routine_names()),
    }


ADDED = ("expm1x",)  # to NumPy's own module, by numexpr


def functions_of(module, of=None):
    """The public functions of a module, or of a class, by name: neither types nor constants."""
    every = [name for name in dir(of or module) if not name.startswith("_") and name not in ADDED]
    return [
        name
        for name in every
        if callable(getattr(of or module, name, None))
        and not isinstance(getattr(of or module, name), type)
    ]


def namespaces():
    """{column: {worker: names}}: of NumPy's functions, those of its modules, methods, CuPy's."""
    from numbus.compat import cupy
    from numbus.compat.cupyx.scipy import special

    columns = {}

    def column(title, names, ours):
        columns[title] = {w: [] for w in WORKERS}
        for name in names:
            for w in workers(getattr(ours, name, None)):
                columns[title][w].append(name)

    column("numpy", functions_of(numpy), numbus)
    column("linalg", functions_of(numpy.linalg), numbus.linalg)
    column("fft", functions_of(numpy.fft), numbus.fft)
    column("methods", functions_of(numpy.ndarray), numbus.ndarray)
    column("cupy", functions_of(cupy), cupy)
    column("special", functions_of(special), special)
    return columns


def compiled(columns):
    """{column: names} of those that compiled functions have; no column for CuPy's, which are
    NumPy's.
    """
    names = {title: [n for w in WHOLE for n in found[w]] for title, found in columns.items()}
    result = {
        "numpy": [n for n in names["numpy"] if in_njit("np.", n)],
        "linalg": [n for n in names["linalg"] if in_njit("np.linalg.", n)],
        "fft": [n for n in names["fft"] if in_njit("np.fft.", n)],
        "methods": [n for n in names["methods"] if method_in_njit(n)],
    }
    if _special() is not None:
        there = [n for n in names["special"] if hasattr(_special(), n)]
        result["special"] = [n for n in there if in_njit("special.", n)]
    return result


def _show(title, names, listed, width=58):
    print(f"{title:<{width}}{len(names):>6}")
    if listed and names:
        print(textwrap.fill(" ".join(sorted(names)), 100, initial_indent="      ",
                            subsequent_indent="      "))  # fmt: skip


def main(arguments=None):
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--list", action="store_true", help="print the names of each number, too")
    listed = options.parse_args(arguments).list
    print(f"The registry and the tables of the core (NumPy {numpy.__version__})")
    for title, names in registered().items():
        _show(title, names, listed)
    columns = namespaces()
    njit_has = compiled(columns)
    width = max(map(len, WORKERS.values())) + 2
    print(f"\n{'Functions by name':<{width}}" + "".join([f"{c:>9}" for c in columns]))
    whole = [sum(len(found[w]) for w in WHOLE) for found in columns.values()]
    print(f"{'all':<{width}}" + "".join([f"{n:>9}" for n in whole]))
    for w, title in WORKERS.items():
        counts = [len(found[w]) for found in columns.values()]
        print(f"{title:<{width}}" + "".join([f"{n:>9}" for n in counts]))
    counts = [str(len(njit_has[c])) if c in njit_has else "-" for c in columns]
    print(f"{'in compiled functions':<{width}}" + "".join([f"{n:>9}" for n in counts]))
    print("\nFunctions of NumPy's with a second body, for compiled functions only")
    for title, names in second_bodies(njit_has["numpy"]).items():
        _show(f"in {title}", names, listed)
    if listed:
        for c, found in columns.items():
            print(f"\n{c}")
            for w, title in WORKERS.items():
                _show(title.strip(), found[w], True, width)
            if c in njit_has:
                _show("in compiled functions", njit_has[c], True, width)
    return 0


if __name__ == "__main__":
    sys.exit(main())
