"""The loops of a program as they run: which are hot, entering compiled code, and leaving it."""

import _signal
import _thread
import ast
import gc
import math
import sys
import time

from .. import _late
from . import background, functions, gains, heads, kept, loop, numbers, report
from .functions import DEEPEST
from .held import MAKE, Dear, Held, TooCostly
from .loop import State, _loops, configure, restore  # noqa: F401 - which tests ask for
from .native import _kept

# Seconds that one entry should at least take.
_WORTH = 1e-3
_MOST_LEFT = 4  # times that a loop may be left early before it goes on in CPython
_MOST_CODES = 8  # for one loop
_LIMIT = 1 << 61
_FINISHED = 1 << 60  # after all statements

_perf, _own_time = time.perf_counter, time.thread_time
_LONG = 0.3  # seconds of a loop for which compiled code is waited for
_core = numpy = again = None  # until they are known (arrays.py)
explained = ()
_errors, _usual = None, [None]  # where NumPy keeps what numpy.seterr() has set; what was looked at


# --- what the loops call at times (bindings/loops/loops.cpp)


def wanted(this):
    """Whether a hot loop ends here, for compiled code to take over; has it compiled."""
    frame = sys._getframe(1)
    found = _wanted(this, frame)
    if this.dead:
        restore(this, frame.f_globals)
    return found


def _wanted(this, frame):
    if State.after is not None:
        return True
    if this.is_alike and not this.yields:
        this.is_asked = False  # entering finds that out
        return True
    if needs_arrays():
        loop.load_arrays(this)
        return False
    if this.yields:
        background.give_way(this)
        if this.busy:
            return False
    if not this.items:  # it is looked at before it runs, and later on as others are
        this.hot = loop.SOON
    outer = this.outer
    if outer is not None and outer.made_names and not 0 < outer.per_item < loop.HOT:
        outer = None  # each iteration of a loop that makes long lists may be long by itself
    if outer is not None and not outer.dead and this.postponed < 2:
        # Inside of the code for the loop around it is entered once.
        this.postponed += 1
        this.hot, outer.looks = 2 * this.seconds, True
        return _enter_outer(this, frame) and _has_code(this, frame)
    if gains.per_item(this) > this.most_per_item:
        this.hot = 4 * this.seconds
        return False
    if _grows_empty_list(this, frame):
        return False  # of what type its items are is not known yet
    if not _may_enter():
        this.hot = 1.5 * this.seconds
        return False
    try:
        seconds = this.seconds if this.items else this.ahead
        if this.guesses:
            held = Held(this, frame, seconds, guess=True)
            code = _code(this, held) if this.is_marked else this.codes.get(held.key)
            if type(code) is kept.Code:
                return True
        if not this.items:
            return False
        if background.is_busy():  # where another loop is compiled, this one is looked at later
            this.hot = 1.1 * this.seconds
            return False
        held = Held(this, frame, seconds)
    except (TooCostly, MemoryError):
        this.hot = 2 * this.seconds
        return False
    code = _code(this, held)
    if code is None and _core is None:
        loop.load_arrays(this)
        return False
    if code is None:
        if len(this.codes) >= _MOST_CODES:
            this.fail("too many combinations of types")
        else:
            background.start(this, held)
        return False
    if type(code) is str:
        this.fail(code)
        return False
    return True


def _grows_empty_list(this, frame):
    """Whether the loop appends to a list that was made outside of it and has no items yet."""
    names = [n for n in this.appended if n not in this.made_names]
    if not names:
        return False
    local, others = frame.f_locals, frame.f_globals
    return any(type(v) is list and not v for v in [local.get(n, others.get(n)) for n in names])


def _code(this, held):
    """The code for these types, the reason why there is none, or None: it is not known yet."""
    code = this.codes.get(held.key)
    if code is None and held.key not in this.asked:
        code = kept.find(this, held)
        if code is None:
            this.asked.add(held.key)
        else:
            this.codes[held.key] = code
            this.ready |= type(code) is kept.Code
    return code


def _has_code(this, frame):
    """Whether there is code for a loop; it costs little more than a look to find that out."""
    try:
        held = Held(this, frame, this.seconds, guess=True)
    except (TooCostly, MemoryError):
        return False
    return type(_code(this, held)) is kept.Code and _may_enter()


def _enter_outer(this, frame):
    """Has a loop around this one entered at its next item, where code for it is on disk; whether
    there is any.
    """
    outer = this.outer
    while outer is not None:
        if not outer.dead and not needs_arrays():
            try:
                held = Held(outer, frame, math.inf, guess=True)
            except (TooCostly, MemoryError):
                return False
            if type(_code(outer, held)) is kept.Code:
                outer.hot, outer.looks = 0.0, True
                return True
        outer = outer.outer
    return False


def needs_arrays():
    """Whether arrays are not known yet that the program may have."""
    return _core is None and "numpy" in sys.modules


def _may_enter():
    if _others() or _handles_signals():
        return False
    if _core is None:
        return True
    if _core.watching() or _core.capturing_step():  # who wants to see what is computed
        return False
    # Other warnings are found by their results.
    state = None if _errors is None else _errors.get()
    if state is None or state is not _usual[0]:
        if numpy.geterr()["under"] != "ignore":
            return False
        _usual[0] = state  # an object that never changes
    return True


def enter(run):
    """Runs compiled code for what is left of a loop: the values of the names it assigns to, or None
    where CPython goes on.
    """
    collects = gc.isenabled()
    gc.disable()  # a finaliser of the program's may change what the loop reads
    frame = sys._getframe(1)
    try:
        return _enter(run, frame)
    finally:
        if run.loop.dead:
            restore(run.loop, frame.f_globals)
        if collects:
            gc.enable()


def _enter(run, frame):
    this, begun = run.loop, _own_time()
    tested = State.after is not None
    most = 20 if tested else _MOST_LEFT
    was_asked = this.is_asked
    this.is_asked, this.is_alike = True, False
    if run.early >= most or not _may_enter():
        return None
    expected = gains.expected(this, run.rest)
    held, plan = again.again(this, frame) if this.plans else None, None
    if held is not None:
        this.is_alike, plan = True, held.plan
        code = plan.code
    else:
        if needs_arrays():
            loop.load_arrays(this)
            if _core is None:
                return None
        try:
            held = Held(this, frame, math.inf if tested else gains.budget(this, expected))
        except Dear:
            gains.note_refused(this, expected)
            return None
        except (TooCostly, MemoryError):
            this.hot = 2 * this.seconds
            return None
        looked = _own_time()
        code = _code_now(this, held, was_asked or expected > _LONG)
        if code is None:
            this.guesses = False  # lists may hold something else than their first items are
            return None
        begun += _own_time() - looked  # making code, or loading it, is no part of later entries
    if code.is_deep and not _has_room(frame):
        return None
    if this.is_for:
        over, ranges = _left(run, held)
        if over is None or max(map(abs, (*over, *ranges))) >= _LIMIT:
            return None
    si, sf = held.words(len(code.loops), code.words, over[0] if this.is_for else 0)
    if this.is_for:
        for k, word in enumerate(over, 1):
            si[k] = word
        at = _first_of_ranges(this, held, code)
        for k, word in enumerate(ranges, at):
            si[k] = word
    try:
        held.copy_lists()
    except MemoryError:
        return None
    if plan is None and this.entries:
        _plan(this, held, code, frame)
    _kept.forget_interrupts()
    inside = 0.0 if plan is not None else _own_time()
    start = _settle()
    # Ctrl-C may raise in these lines, as in any: what was computed is written back before.
    try:
        if plan is not None and code.direct is not None:
            code.direct(numpy.asarray(si), numpy.asarray(sf), *held.arrays)
        else:
            code(si, sf, *held.arrays, *held.pools)
    except KeyboardInterrupt:
        if si[0] == 0:
            raise
        run.interrupted = True
    while True:
        try:
            took, ended = _perf() - start, 0.0 if plan is not None else _own_time()
            held.write_back(si)
            values = _values(run, held, si.tolist(), sf.tolist(), code)
            break
        except KeyboardInterrupt:
            run.interrupted = True
    pending = int(si[0])
    this.entries += 1
    if explained:
        left = "" if pending == -1 else f"; left at line {code.lines[pending]}"
        report.explain(explained[-1], this, held, code, f"{took * 1e3:.3g} ms{left}")
    if pending == -1:
        run.finished, run.pending = True, _FINISHED
        if not tested:
            whole = _own_time() - begun
            copied = whole - (ended - inside)  # all of it where there are no lists, as in a plan
            gains.note(this, expected, whole, copied, held.estimate)
        return values
    run.pending = pending
    this.exits += 1
    if took < _WORTH:
        run.early += 1
        if run.early >= most:
            this.fail(f"left early at line {code.lines[pending]}")
    return values


def _code_now(this, held, waits):
    """The code for these types, or None: there is none. waits: it is compiled now, where it is not
    known, and not while the loop goes on in CPython.
    """
    code = _code(this, held)
    if code is None:
        if len(this.codes) >= _MOST_CODES:
            this.fail("too many combinations of types")
            return None
        if _core is None:
            loop.load_arrays(this)
            if _core is None:
                return None
        if not waits:
            if not background.is_busy():
                background.start(this, held)
            return None
        background.compile_now(this, held)
        code = this.codes[held.key]
    if type(code) is str:
        this.fail(code)
        return None
    return code


def _plan(this, held, code, frame):
    """Notes what further entries may be like."""
    global again
    if again is None:
        from . import again
    plan = again.plan(held, code, frame)
    if plan is not None:
        this.plans.append(plan)


def _has_room(frame):
    """Whether as many calls in each other are left as compiled functions make at most."""
    left = sys.getrecursionlimit() - DEEPEST - 50
    while frame is not None and left > 0:
        frame, left = frame.f_back, left - 1
    return left > 0


def _left(run, held):
    """(first, end, step) of the numbers, or indices, that are left of a for loop, or None; and the
    numbers of ranges in its head.
    """
    rest, over = run.rest, _over(run.loop)
    if over is None:
        return ((rest.start, rest.stop, rest.step) if type(rest) is range else None), ()
    found = over.position(rest, held.sequences(over))
    if found is None:
        return None, ()
    first, end, ranges = found
    return (first, end, 1), [x for r in ranges for x in r]


def _over(this):
    if this.over is loop._UNKNOWN:
        this.over = heads.over(this.node)
    return this.over


def _first_of_ranges(this, held, code):
    """Where the numbers of ranges in the heads of loops begin."""
    return 4 + 2 * (len(this.names) + len(held.numbers)) + 3 * len(code.loops)


def _values(run, held, si, sf, code):
    values, empty = [], []
    this = run.loop
    for j, name in enumerate(this.names):
        tag = si[4 + 2 * j]
        if tag >= numbers.FIRST_ROW:
            values.append(held.sources[tag - numbers.FIRST_ROW][si[5 + 2 * j]])
        elif tag >= numbers.FIRST_MADE:
            values.append(held.made_list(tag, si[5 + 2 * j]))
        elif tag == numbers.CODES[numbers.COMPLEX]:
            values.append(complex(sf[j], sf[len(sf) // 2 + j]))
        elif tag:
            value = MAKE[tag](si[5 + 2 * j], sf[j])
            if type(value) is float and value != value:
                value = held.nan_of(name, value)
            values.append(value)
        elif name in held.values:
            values.append(held.values[name])
        else:
            values.append(None)
            empty.append(j)
    run.gone, positions = tuple(empty), {}
    if si[0] == -1:  # it is over
        return tuple(values)
    first = 4 + 2 * (len(this.names) + len(held.numbers))
    word = _first_of_ranges(this, held, code)
    for m, (at, target, over) in enumerate(code.loops):
        count = 3 * len(over.ranges) if over else 0
        ranges = [si[j : j + 3] for j in range(word, word + count, 3)]
        word += count
        k, e, s = si[first + 3 * m : first + 3 * m + 3]
        if not s:
            continue  # one that has not begun
        if over:
            now = dict(zip(this.names, values))
            of = [now.get(n, held.values.get(n)) if isinstance(n, str) else None
                  for n in over.parts]  # fmt: skip
            rest = over.rest(of, k + 1, ranges)
        else:
            rest = range(k + s, e, s)
        if at == this.node.at:
            run.rest = rest
        else:
            positions[at] = (_item(target, values, this.names),), rest
    run.positions = positions
    return tuple(values)


def _item(target, values, names):
    """The item that an inner loop is at."""
    if isinstance(target, ast.Name):
        return values[names.index(target.id)]
    return tuple(_item(t, values, names) for t in target.elts)


def _settle():
    """The time. A signal that came in before has been dealt with when a function of Python's is
    entered.
    """
    return _perf()


def _others():
    """Whether there are other threads of Python's, which may rebind what a loop reads."""
    threading = sys.modules.get("threading")  # which a program may do without
    if threading is None:
        return _thread.get_ident() != loop.MAIN or _thread._count() > background.threads()
    if threading.current_thread() is not threading.main_thread():
        return True
    count = _thread._count() - background.threads()
    return count > _idle and count > sum(map(_is_of_a_session, threading.enumerate()))


def _is_of_a_session(thread):
    """Whether a thread is one of Jupyter's, which does not touch what the program computes with."""
    made = getattr(thread, "_target", None) or thread
    module = getattr(made, "__module__", None) or ""
    return module.partition(".")[0] in ("IPython", "ipykernel", "zmq", "tornado")


def _handles_signals():
    """Whether functions of the program's may run at any time."""
    if _handler(_signal.SIGINT) not in _PLAIN:
        return True
    return any(map(callable, map(_handler, _SIGNALS)))


# Those of `signal` make an enum of each answer, which takes a microsecond.
_handler = _signal.getsignal
_PLAIN = (_signal.default_int_handler, _signal.SIG_DFL, _signal.SIG_IGN, None)
_SIGNALS = [s for s in _signal.valid_signals() if s != _signal.SIGINT]
_idle = 0  # threads that do not count: those of a test's runner


functions.note_known()
loop.callbacks[:2] = wanted, enter
configure(State.enabled, State.after)


def _note_arrays():
    global _core, numpy, explained, _errors
    from . import arrays

    _core, numpy, explained = arrays.note()
    of_core = getattr(numpy, "_core", None)  # NumPy 2
    _errors = getattr(getattr(of_core, "umath", None), "_extobj_contextvar", None)


_late.when_loaded(_note_arrays)
