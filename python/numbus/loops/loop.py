"""The loops of a program: what each is in the source, and what became of it.

Nothing here, nor in what it imports, needs NumPy or the core: a script without hot loops begins as
under `python`. What enters compiled code (run.py) is loaded with the first loop that is hot.
"""

import _thread
import ast
import atexit
import math
import os
import sys
import types

from .. import _late
from .. import _loops as _loops_of_c
from . import generators, heads, marks, report, select, trees

# Seconds that a loop has run before it is compiled, which takes about as long.
HOT = 0.02
_AGAIN = 0.001
SOON = 0.003  # the same, where an earlier run has left code
LOADED = 0.04  # the same, where what compiles it is not loaded yet, but an earlier run asked for it
FIRST = 0.15  # the same, where none did: half of what loading and compiling takes
_PER_STATEMENT = 5e-6  # that statements of numbers stay below
_PER_STATEMENT_OF_PARTS = 3e-5  # those of slices
_MOST_FAILURES = 3

_loops = []
_UNKNOWN = object()


class State:
    """enabled: whether loops are entered; after: for tests, that they are compiled after so many
    iterations, however short they are.
    """

    enabled, after = False, None


def configure(enabled, after=None):
    """Whether loops are entered from now on, and for tests after how many iterations."""
    State.enabled, State.after = enabled, after
    _loops_of_c.compile_loops(enabled, after or 0, *callbacks)


class Loop(_loops_of_c.Loop):
    """A loop of the source and what became of it. In CPython it took `seconds`."""

    def __init__(self, number, node, names, file, outer, text):
        self.number, self.node, self.names, self.file = number, node, names, file
        self.text = text  # of the source
        self.asked = set()  # types of which no code is on disk
        self.line, self.is_for = node.lineno, isinstance(node, ast.For)
        self.reads, self.dotted = _read(node, set(names))
        self.appended = select.appended(node)
        self.copies = select.copies(node)
        self.made_names = select.made_names(node)
        self.stores_several = select.stores_several(node)
        self.hot = SOON if outer is not None and outer.is_marked else HOT
        self.is_marked = self.hot == SOON  # whether it, or one around it, has code on disk
        self.guesses = True  # whether first items of lists have told what code to enter
        self.is_awaited = False  # whether an earlier run has left it to this one
        # The name that counts, to which an entry assigns before all else.
        counts = self.is_for and isinstance(node.target, ast.Name) and heads.range_of(node.iter)
        self.counter = node.target.id if counts else None
        self.most_per_item = _most_per_item(node)
        self.outer, self.inner = outer, []
        if outer is not None:
            outer.inner.append(self)
        self.code, self.beside = None, ()  # where it stands, and the loops there
        self.codes = {}  # by types
        self.failures = self.entries = self.exits = 0
        self.plans = []  # of entries like earlier ones (again.py)
        self.is_alike = False  # whether the last entry was like an earlier one
        self.over = _UNKNOWN  # what it goes over (heads.py)
        self.is_asked = True  # whether it was found out that there is code, at the present entry
        self.postponed = 0
        # Of its entries (gains.py): what copies took by what was estimated, and code by CPython.
        self.per_estimate, self.of_time = 1.0, 0.0
        self.why = None

    def fail(self, why):
        """Notes why it was left or not entered; after some times it goes on in CPython."""
        self.why = why
        self.failures += 1
        self.hot = max(self.hot, 2 * self.seconds)
        if self.failures >= _MOST_FAILURES:
            self.give_up()

    def give_up(self):
        """Has it go on in CPython for good, as in the source where no loop in it is compiled."""
        self.dead = True
        of = self
        while of is not None and of.dead and all(i.plain for i in of.inner):
            of.plain = True
            of = of.outer


def _most_per_item(loop):
    """Seconds of an iteration beyond which its time goes into operations of whole arrays, which
    compiled code does not have.
    """
    nodes = [n for s in loop.body for n in trees.walk(s)]
    if any(
        isinstance(n, (ast.For, ast.While))
        or (isinstance(n, ast.Call) and isinstance(n.func, ast.Name))
        for n in nodes
    ):
        return math.inf  # those may take long and be compiled
    of_parts = any(isinstance(n, (ast.Slice, ast.MatMult)) for n in nodes)
    most = _PER_STATEMENT_OF_PARTS if of_parts else _PER_STATEMENT
    return most * sum(isinstance(n, ast.stmt) for n in nodes)


def _read(loop, assigned):
    names, dotted = set(), set()

    def expression(n):
        own = generators.own_names(n)
        for x in trees.walk(n):
            if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Load) and x.id not in assigned:
                if x not in own:
                    names.add(x.id)
            if isinstance(x, ast.Attribute) and isinstance(x.value, ast.Name):
                dotted.add((x.value.id, x.attr))

    def walk(n):
        if n.opaque:
            return
        if isinstance(n, (ast.For, ast.While)):
            expression(n.iter if isinstance(n, ast.For) else n.test)
        elif isinstance(n, ast.If):
            expression(n.test)
        else:
            return expression(n)
        for s in (*n.body, *n.orelse):
            walk(s)

    walk(loop)
    return sorted(names), sorted(d for d in dotted if d[0] not in assigned)


def add_loop(node, names, file, outer, text):
    """The number of a new loop; outer: that of the one around it, or None; text: of the source."""
    outer = None if outer is None else _loops[outer]
    _loops.append(Loop(len(_loops), node, names, file, outer, text))
    return len(_loops) - 1


def note_marks(number, marked):
    """Notes what earlier runs have left of a loop (marks.py)."""
    this = _loops[number]
    if marks.number_of(this.text[1]) in marked:
        this.hot, this.is_marked = SOON, True
        ends = ast.Break, ast.Return
        this.known = not any(isinstance(n, ends) for s in this.node.body for n in trees.walk(s))
    this.is_awaited = marks.number_of(_AWAITED + this.text[1]) in marked


_AWAITED = "awaited "  # before the text of a loop, in marks


def note_code(code, numbers):
    """Notes the loops that a rewritten code has."""
    for k in numbers:
        _loops[k].code, _loops[k].beside = code, numbers


_dict_of = type.__dict__["__dict__"].__get__


def restore(this, names):
    """Has the functions of a module run the code of their source, where no loop in it is compiled
    any more.
    """
    if not all(_loops[k].dead for k in this.beside):
        return
    for value in list(names.values()):
        # Nothing of the program's runs here, such as a property __class__.
        is_class = issubclass(type(value), type)
        parts = list(_dict_of(value).values()) if is_class else [value]
        for f in parts:
            f = getattr(f, "__func__", f) if type(f) in (staticmethod, classmethod) else f
            if type(f) is types.FunctionType and _loops_of_c.running_code(f) is this.code:
                f.__code__  # noqa: B018 - which puts that of the source in its place


def loop_of(number):
    """The loop with this number."""
    return _loops[number]


# --- what the loops call at times (bindings/loops/loops.cpp)


def _first_wanted(this):
    """Has what compiles loops loaded for the first hot one."""
    if _thread.get_ident() != MAIN:
        this.hot = 2 * this.seconds
    elif not _late.load_aside("numbus.loops.run"):
        configure(False)
    return False


def load_arrays(this):
    """Has what compiles loops loaded, for a loop whose code is not on disk. In the first run of a
    script it has to run, or to have left, as long as that takes; one that does not is compiled in
    the next run.
    """
    awaited = this.is_awaited and not this.ready  # which has code for other types
    least = LOADED if awaited or "numpy" in sys.modules else FIRST
    long = this.seconds >= LOADED and this.seconds + _ahead(this) >= least
    if State.after is None and not long:
        if this.seconds >= LOADED and not this.ready and this not in _waiting:
            _wait(this)
        # Its names may hold other types soon, for which there is code.
        later = _AGAIN if this.ready else max(_AGAIN, this.seconds / 4)
        this.hot = min(least, this.seconds + later)
    elif not _late.load_aside():
        configure(False)


def _ahead(this):
    """Seconds that a loop, or one around it, may still take."""
    seconds = 0.0
    while this is not None:
        seconds, this = max(seconds, this.ahead), this.outer
    return seconds


_waiting = []  # loops that are left to the next run


def _wait(this):
    """Notes that a loop is compiled in the next run, unless it runs longer in this one."""
    if not _waiting:
        atexit.register(_note_waiting)
    _waiting.append(this)
    this.why = f"it ran less than {FIRST} s; the next run compiles it"


def _note_waiting():
    for this in _waiting:
        if not this.codes:  # nor the reason why there is none
            marks.note(this.file, _AWAITED + this.text[1])


MAIN = _thread.get_ident()


def give_up(this):
    """Notes that a loop goes over no numbers, or that it has few items each time."""
    no_numbers = this.is_for and not this.items
    what = "a loop over something else than numbers" if no_numbers else "it ends too soon"
    this.why = f"line {this.line}: {what}"
    this.give_up()
    restore(this, sys._getframe(1).f_globals)


callbacks = [_first_wanted, None, give_up]


def install(reports=False):
    """Has loops of modules that are loaded from now on compiled; reports: there will be a report
    of it.
    """
    _loops_of_c.watch_code()
    after = os.environ.get("NUMBUS_LOOPS_AFTER")
    configure(True, int(after) if after else None)
    if reports:
        report.start()


def report_lines():
    """What was compiled, and of loops that took time and were not, why."""
    return report.lines(_loops)
