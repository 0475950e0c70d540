"""Compiles loops on a thread of its own, while the program goes on."""

import _thread
import array
import atexit
import contextlib
import math
import os

from . import kept, numbers, report

_running = _thread.allocate_lock()  # held by the thread that compiles
_MOST_WAITING = 0.04  # seconds; what takes longer is code that is not on disk
_count = 0  # threads that compile, of which the program does not know


_core = numpy = None  # until they are known (arrays.py)


def use(core, module):
    """Notes what compiles loops."""
    global _core, numpy
    _core, numpy = core, module


def threads():
    """How many threads of ours there are, of which the program knows nothing."""
    return _count + report.THREADS[0]


def is_busy():
    """Whether a loop is compiled now."""
    return _running.locked()


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
    return _core.ArgumentTypes(*map(_array, (*held.words(0), *held.arrays, *held.pools)))


def _array(a):
    """Memory of Python's as an array; arrays as they are."""
    if type(a) is tuple:  # of a list that is copied later
        kind, axes = a
        return numpy.empty((0,) * axes, {"i": numpy.int64, "f": numpy.float64, "b": bool}[kind])
    return numpy.asarray(a) if type(a) in (memoryview, array.array) else a


def _work(this, key, fixed, entry, types):
    global _count
    try:
        this.codes[key] = _compiled(this, fixed, entry, types)
        this.ready |= isinstance(this.codes[key], kept.Code)
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
        kept.keep_reason(this, entry, fixed, str(why))
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
    kept.show(this, shown)
    try:
        names = {"leave": _generate.make("leave", leave), **names_of(emitter.made)}
        # Indices in the text are inside, and none counts from the end.
        options = {"boundscheck": False, "wraparound": False, "error_model": "numpy"}
        call = _generate.compiled("loop", text, options, **names)
        stored = call._make().compile_types(types)
    except CompileError as error:
        return f"the compiler: {str(error).splitlines()[0]}"
    is_deep = any(called.calls_itself for called, _ in emitter.made)
    run = lambda *args: call(*map(_array, args))  # noqa: E731
    code = kept.Code(run, this.node, emitter.loops, emitter.words, is_deep, shown)
    code.direct = call
    kept.keep(this, entry, fixed, code, stored)
    return code


def _short(this):
    """The lines of loops in a loop that have few items, as far as they were counted."""
    from . import strips

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
