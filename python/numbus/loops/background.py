"""Compiles loops on a thread of its own, while the program goes on."""

import _thread
import ast
import atexit
import contextlib
import math
import os
import sys

import numpy

from .. import _core
from . import heads, numbers, report, strips

_running = _thread.allocate_lock()  # held by the thread that compiles
_MOST_WAITING = 0.04  # seconds; what takes longer is code that is not on disk
_count = 0  # threads that compile, of which the program does not know


class Code:
    """A compiled loop for certain types."""

    def __init__(self, call, loops, words, lines, is_deep, text):
        self._call, self.loops, self.lines = call, loops, lines
        self.words = words  # numbers for ranges in the heads of loops
        self.is_deep = is_deep  # whether a function in it calls itself
        self.text = text  # lines of the functions in the kernel language

    def __call__(self, *args):
        return self._call(*args)


def threads():
    """How many threads of ours there are, of which the program knows nothing."""
    return _count + report.THREADS[0]


def start(this, held):
    """Compiles a loop for these types while the program goes on; one at a time."""
    global _count
    if not _running.acquire(False):
        return
    this.busy = True
    _count += 1
    try:
        # Of the values only types are kept: the program may look at the counts of references.
        _thread.start_new_thread(_work, (this, held.key, held.fixed, held.entry, _types(held)))
    except RuntimeError:  # no thread is to be had
        this.dead = True
        _count -= 1
        _running.release()


def aside(work):
    """Does some work on the thread that compiles, or now, where that is busy."""
    global _count
    if not _running.acquire(False):
        return work()

    def do():
        global _count
        try:
            work()
        finally:
            _count -= 1
            _running.release()

    _count += 1
    try:
        _thread.start_new_thread(do, ())
    except RuntimeError:  # no thread is to be had
        do()
    return None


def _types(held):
    """The types of the arguments of the function, which need not be there when it is compiled."""
    si, sf = held.words(0)
    return _core.ArgumentTypes(si, sf, *held.arrays, *held.pools)


def _work(this, key, fixed, entry, types):
    global _count
    try:
        this.codes[key] = _compiled(this, fixed, entry, types)
        this.ready |= isinstance(this.codes[key], Code)
    finally:
        this.busy = False
        _yields(this, False)
        _count -= 1
        _running.release()


def _yields(this, wanted):
    """Notes whether the program gives way to the thread, in a loop and in those inside of it."""
    this.yields = wanted
    for loop in this.inner:
        _yields(loop, wanted)


def give_way(this):
    """Has the program wait for the thread: for Python's lock, which a loop of Python's gives away
    every 5 ms only, it would have to wait each time that it reads a file.
    """
    outermost = this
    while outermost.outer is not None:
        outermost = outermost.outer
    _yields(outermost, False)  # it waits once
    if _running.acquire(timeout=_MOST_WAITING):
        _running.release()


def compile_now(this, held):
    """Compiles a loop for these types before the program goes on."""
    this.codes[held.key] = _compiled(this, held.fixed, held.entry, _types(held))
    this.ready = True


def _compiled(this, fixed, entry, types):
    """The code for these types, or the reason why there is none."""
    from .emit import NotCompiled  # which scripts without hot loops do not need

    try:
        return _compile(this, fixed, entry, types)
    except NotCompiled as why:
        return str(why)
    except Exception as error:
        if RAISES:
            raise
        return f"{type(error).__name__}: {error}"


RAISES = False  # for tests: what goes wrong while compiling is an error


def _compile(this, fixed, entry, types):
    from .called import FunctionEmitter
    from .emit import Emitter
    from .made_lists import Again

    leave, item_kinds = None, {}
    while leave is None:
        emitter = Emitter(this.node, this.names, fixed, entry, FunctionEmitter)
        emitter.short, emitter.item_kinds = set(_short(this)), item_kinds
        with contextlib.suppress(Again):
            leave, text = emitter.functions()
    _yields(this, this.busy)  # from here on it will be compiled
    from ..kernels import _generate
    from ..kernels._errors import CompileError

    shown = [*leave, *text]
    for _, _, lines, _ in [f for f in emitter.made.values() if type(f) is tuple]:
        shown += lines
    if os.environ.get("NUMBUS_LOOPS_PRINT"):
        print(f"# {this.file}:{this.line}", *shown, sep="\n", file=sys.stderr)
    try:
        names = {"leave": _generate.make("leave", leave), **names_of(emitter.made)}
        # Indices in the text are inside, and none counts from the end.
        options = {"boundscheck": False, "wraparound": False, "error_model": "numpy"}
        call = _generate.compiled("loop", text, options, **names)
        call._make().compile_types(types)
    except CompileError as error:
        return f"the compiler: {str(error).splitlines()[0]}"
    lines = {n.at: n.lineno for n in ast.walk(this.node) if hasattr(n, "at")}
    loops = [(n.at, n.target, heads.over(n)) for n in emitter.loops]
    is_deep = any(called.calls_itself for called, _ in emitter.made)
    return Code(call, loops, emitter.words, lines, is_deep, shown)


def _short(this):
    """The lines of loops in a loop that have few items, as far as they were counted."""
    for loop in this.inner:
        if loop.executions > 16 and loop.items < strips.FEWEST * loop.executions:
            yield loop.line
        yield from _short(loop)


def names_of(made):
    """What names in the text of an emitter stand for; made: the functions that it has emitted."""
    from ..kernels import _generate

    names = {
        "math": math, "np": numpy, **numbers.STEPS, "floor_divided": numbers.floor_divided,
        "remainder": numbers.remainder, "greatest_divisor": numbers.greatest_divisor,
    }  # fmt: skip
    for name, _, lines, _ in [f for f in made.values() if type(f) is tuple]:
        names[name] = _generate.make(name, lines, **names)
    return names


def wait():
    """Waits for the thread that compiles: before a fork, and at the end."""
    with _running:
        pass


atexit.register(wait)
os.register_at_fork(before=_running.acquire, after_in_parent=_running.release,
                    after_in_child=_running.release)  # fmt: skip
