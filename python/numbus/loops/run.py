"""The loops of a program as they run: which are hot, entering compiled code, and leaving it."""

import _thread
import ast
import builtins
import itertools
import math
import os
import signal
import sys
import threading
import time
import weakref

import numpy

from .. import _core
from . import numbers
from .emit import Emitter, NotCompiled
from .held import MAKE, Held, TooCostly, note_functions

# Seconds that a loop has run before it is compiled, which takes about as long.
HOT = 0.1
# Seconds that one entry should at least take.
_WORTH = 1e-3
_SHORT = 32  # ranges of fewer items are not looked at
_MOST_LEFT = 4  # times that a loop may be left early before it goes on in CPython
_MOST_FAILURES = 3
_MOST_CODES = 8  # for one loop
_LIMIT = 1 << 61
_FINISHED = 1 << 60  # after all statements

_loops = []
_refused = []  # (file, line, why)
_ended = {}  # (loop, frame): what is left of an iterator that ended early
_active = {}  # (loop, frame): a weak reference to the Run
_rests = {}  # (loop, frame): what CPython goes on with
enabled = False
# For tests: loops are compiled after so many iterations, however short they are.
_after = os.environ.get("NUMBUS_LOOPS_AFTER")
_after = int(_after) if _after else None
_perf = time.perf_counter


class Loop:
    """A loop of the source and what became of it."""

    def __init__(self, number, node, names, file):
        self.number, self.node, self.names, self.file = number, node, names, file
        self.line, self.is_for = node.lineno, isinstance(node, ast.For)
        self.reads, self.dotted = _read(node, set(names))
        self.time, self.items = 0.0, 0  # in CPython
        self.dead, self.hot = False, HOT
        self.codes = {}  # by types
        self.failures = self.entries = self.exits = 0
        self.ready = False
        self.why = None

    def fail(self, why):
        self.why = why
        self.failures += 1
        if self.failures >= _MOST_FAILURES:
            self.dead = True


def _read(loop, assigned):
    names, dotted = set(), set()

    def expression(n):
        for x in ast.walk(n):
            if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Load) and x.id not in assigned:
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


def add_loop(node, names, file):
    """The number of a new loop."""
    _loops.append(Loop(len(_loops), node, names, file))
    return len(_loops) - 1


def note_refused(file, line, why):
    """Notes a loop that is not tried, for the report."""
    _refused.append((file, line, why))


# --- what the rewritten source calls


def loop(number, over):
    """The items of `over`, or empty tuples without end; ends early where code may take over."""
    this = _loops[number]
    if over is None:
        if this.dead or not enabled:
            return itertools.repeat(())
    elif this.dead or type(over) is not range or not enabled:
        return over
    else:
        try:
            if len(over) < _SHORT and _after is None:
                return over
        except OverflowError:
            return over
    key = number, id(sys._getframe(1))
    if _ended:
        _ended.pop(key, None)
    return itertools.chain.from_iterable(_chunks(this, over, key))


def _chunks(this, over, key):
    at, size = 0, 16 if _after is None else _after
    count = None if over is None else len(over)
    if (
        this.ready
        and _after is None
        and this.time >= this.hot
        and (over is None or count * this.time > _WORTH * this.items)
    ):
        _ended[key] = over
        return
    while True:
        start = _perf()
        if count is None:
            yield itertools.repeat((), size)
        else:
            yield over[at : at + size]
        at += size
        if count is not None and at >= count:
            this.time += _perf() - start
            this.items += count - (at - size)
            return
        took = _perf() - start
        this.time += took
        this.items += size
        if this.dead:
            size = count if count is not None else sys.maxsize // 2
            continue
        if this.time > this.hot or _after is not None:
            _ended[key] = None if over is None else over[at:]
            return
        if took < 2e-3:
            size *= 2


def ended(number):
    """Whether the loop has ended early."""
    return (number, id(sys._getframe(1))) in _ended


def after(number):
    """Runs compiled code for the rest of the loop. An item stands for each time that the code is
    left, with the values of the names that it assigns to.
    """
    key = number, id(sys._getframe(1))
    run = Run(_loops[number], key, _ended.pop(key))
    _active[key] = weakref.ref(run, lambda ref: _active.get(key) is ref and _active.pop(key))
    return run


def rest(number):
    """What CPython goes on with."""
    return _rests.pop((number, id(sys._getframe(1))))


def _run_of(number):
    return _active[number, id(sys._getframe(2))]()


def at(number, first, end):
    """Whether a statement, whose numbers these are, is carried out."""
    run = _run_of(number)
    pending = run.pending
    if pending == -1:
        return True
    if pending == first:
        run.pending = -1
        return True
    return first < pending < end


def inside(number, first, end):
    """Whether the statement where it goes on has one of these numbers."""
    return first <= _run_of(number).pending < end


def left(number, first, end):
    """The items of an inner loop that are left, the present one first; None where it begins."""
    run = _run_of(number)
    if not first < run.pending < end:
        return None
    return itertools.chain((run.current[first],), run.positions[first])


def gone(number, k):
    """Whether the name with this number holds nothing; -1: whether there is any such."""
    run = _run_of(number)
    if run.interrupted:
        run.interrupted = False
        raise KeyboardInterrupt
    return bool(run.gone) if k < 0 else k in run.gone


class Run:
    """One execution of a loop: an iterator over the times that compiled code is left."""

    def __init__(self, this, key, rest):
        self.loop, self.key, self.rest = this, key, rest
        self.pending, self.gone, self.positions, self.current = -1, (), {}, {}
        self.finished = self.interrupted = False
        self.early = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.finished or (self.loop.is_for and not len(self.rest)):
            _rests[self.key] = ()
            raise StopIteration
        values = self._enter(sys._getframe(1)) if self.early < self._most() else None
        if values is None:
            _rests[self.key] = self.rest if self.loop.is_for else itertools.repeat(())
            raise StopIteration
        return values

    def _most(self):
        return _MOST_LEFT if _after is None else 20

    def _enter(self, frame):
        this = self.loop
        if not enabled or this.dead or sys.gettrace() or sys.getprofile():
            return None
        if _others() or _handles_signals():
            return None
        if _core.watching() or _core.capturing_step():  # who wants to see what is computed
            return None
        if numpy.geterr()["under"] != "ignore":  # other warnings are found by their results
            return None
        try:
            held = Held(this, frame, self._expected() if _after is None else math.inf)
        except TooCostly:
            this.hot = 2 * this.time
            return None
        if held.key not in this.codes:
            if len(this.codes) >= _MOST_CODES:
                this.fail("too many combinations of types")
                return None
            try:
                this.codes[held.key] = _compile(this, held)
            except Exception as error:
                if _after is not None:
                    raise
                this.codes[held.key] = f"{type(error).__name__}: {error}"
        code = this.codes[held.key]
        if type(code) is str:
            this.fail(code)
            return None
        over = self.rest
        if this.is_for and max(abs(over.start), abs(over.stop), abs(over.step)) >= _LIMIT:
            return None
        si, sf = held.words(len(code.loops))
        if this.is_for:
            si[1:4] = over.start, over.stop, over.step
        held.copy_lists()
        _core.forget_interrupts()
        start = _settle()
        # Ctrl-C may raise in these lines, as in any: what was computed is written back before.
        try:
            code(si, sf, *held.arrays)
        except KeyboardInterrupt:
            if si[0] == 0:
                raise
            self.interrupted = True
        while True:
            try:
                took = _perf() - start
                held.write_back()
                values = self._values(held, si.tolist(), sf.tolist(), code)
                break
            except KeyboardInterrupt:
                self.interrupted = True
        pending = int(si[0])
        this.entries += 1
        this.ready = True
        if pending == -1:
            self.finished, self.pending = True, _FINISHED
            return values
        self.pending = pending
        this.exits += 1
        if took < _WORTH:
            self.early += 1
            if self.early >= self._most():
                this.fail(f"left early at line {code.lines[pending]}")
        return values

    def _expected(self):
        """Seconds that CPython may take for what is left: of a loop without an end in sight, those
        that it has taken.
        """
        this = self.loop
        if self.loop.is_for and this.items:
            return len(self.rest) * this.time / this.items
        return this.time

    def _values(self, held, si, sf, code):
        values, empty = [], []
        for j, name in enumerate(self.loop.names):
            tag = si[4 + 2 * j]
            if tag:
                values.append(MAKE[tag](si[5 + 2 * j], sf[j]))
            elif name in held.values:
                values.append(held.values[name])
            else:
                values.append(None)
                empty.append(j)
        self.gone = empty
        first = 4 + 2 * (len(self.loop.names) + len(held.numbers))
        for m, (at, target) in enumerate(code.loops):
            k, e, s = si[first + 3 * m : first + 3 * m + 3]
            if at == self.loop.node.at:
                self.rest = range(k + s, e, s) if s else self.rest
            elif s:
                self.positions[at] = range(k + s, e, s)
                self.current[at] = values[self.loop.names.index(target)]
        return tuple(values)


def _settle():
    """The time. A signal that came in before has been dealt with when a function of Python's is
    entered.
    """
    return _perf()


def _others():
    """Whether there are other threads of Python's, which may rebind what a loop reads."""
    return threading.current_thread() is not threading.main_thread() or _thread._count() > _idle


def _handles_signals():
    """Whether functions of the program's may run at any time."""
    if signal.getsignal(signal.SIGINT) not in _PLAIN:
        return True
    return any(map(callable, map(signal.getsignal, _SIGNALS)))


_PLAIN = (signal.default_int_handler, signal.SIG_DFL, signal.SIG_IGN, None)
_SIGNALS = [s for s in signal.valid_signals() if s != signal.SIGINT]
_idle = 0  # threads that do not count: those of a test's runner


class Code:
    """A compiled loop for certain types."""

    def __init__(self, call, loops, lines):
        self._call, self.loops, self.lines = call, loops, lines

    def __call__(self, *args):
        return self._call(*args)


def _compile(this, held):
    """The code for these types, or the reason why there is none."""
    from ..kernels import _generate
    from ..kernels._errors import CompileError

    emitter = Emitter(this.node, this.names, held.fixed, held.entry)
    try:
        leave, text = emitter.functions()
    except NotCompiled as why:
        return str(why)
    names = {
        "math": math, "np": numpy, **numbers.STEPS, "floor_divided": numbers.floor_divided,
        "remainder": numbers.remainder,
    }  # fmt: skip
    if os.environ.get("NUMBUS_LOOPS_PRINT"):
        print(f"# {this.file}:{this.line}", *leave, *text, sep="\n", file=sys.stderr)
    try:
        call = _generate.compiled(
            "loop", text, {"boundscheck": False}, leave=_generate.make("leave", leave), **names
        )
        si, sf = held.words(len(emitter.loops))
        si[0] = 1
        call(si, sf, *held.arrays)
    except CompileError as error:
        return f"the compiler: {str(error).splitlines()[0]}"
    lines = {n.at: n.lineno for n in ast.walk(this.node) if hasattr(n, "at")}
    return Code(call, [(n.at, n.target.id) for n in emitter.loops], lines)


def install():
    """Lets rewritten modules find the functions above, among Python's builtins."""
    global enabled
    enabled = True
    note_functions()
    for name, function in (
        ("loop", loop), ("ended", ended), ("after", after), ("rest", rest), ("at", at),
        ("in", inside), ("left", left), ("gone", gone),
    ):  # fmt: skip
        setattr(builtins, f"__numbus_{name}__", function)


def report_lines():
    """What was compiled, and of loops that took time and were not, why."""
    lines = []
    for this in _loops:
        if this.entries:
            told = f"entered {this.entries}×, left early {this.exits}×"
            lines.append(f"      {this.file}:{this.line}  compiled; {told}")
        if this.why:
            lines.append(f"      {this.file}:{this.line}  not compiled: {this.why}")
    return lines + [f"      {file}:{line}  not tried: {why}" for file, line, why in _refused]
