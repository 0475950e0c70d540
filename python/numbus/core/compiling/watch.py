"""What a call does beside array work: seen by a profiler while it is captured."""

import dis
import gc
import operator
import os
import sys
import threading
import types

import numpy as np

from ... import _core
from .kinds import ITEM, flat
from .reads import LIBRARY, PACKAGE, Reads, is_librarys, is_ours, notes

# Files of the package whose functions keep a state of their own, which a step would have to change
# each time.
_STATEFUL = tuple(
    PACKAGE + name
    for name in (
        "optim" + os.sep + "lr_scheduler.py", "optim" + os.sep + "lbfgs.py", "data" + os.sep,
        "dist" + os.sep, "compat" + os.sep + "torch" + os.sep + "amp.py",
        "compat" + os.sep + "tensorflow" + os.sep + "data.py",
    )
)  # fmt: skip
# Files of Python's library that are as good as ours: what they change is theirs for the time of a
# call.
_HARMLESS = ("contextlib.py", "functools.py", "enum.py", "typing.py")

_NUMPY = os.path.dirname(np.__file__) + os.sep

_BUILTINS = {
    "__build_class__", "abs", "all", "any", "bin", "callable", "chr", "divmod", "format",
    "getattr", "hasattr", "hash", "hex", "id", "isinstance", "issubclass", "iter", "len", "locals",
    "max", "min", "oct", "ord", "pow", "repr", "round", "sorted", "sum", "vars", "dir",
    "__import__",
}  # fmt: skip
_READERS = {
    dict: {"copy", "get", "items", "keys", "values"},
    list: {"copy", "count", "index"},
    set: {"copy", "union", "intersection", "difference", "issubset", "issuperset", "isdisjoint"},
}
_VALUES = (str, bytes, int, float, complex, tuple, frozenset, range, slice, type)
_MODULES = {"math", "cmath", "_operator", "itertools", "_functools"}
_CHANGES = {"setitem", "delitem"}  # and what begins with "i", of `operator`

# What modules and optimizers register: by the code of their methods, and by their classes.
_methods, _classes = {}, {}
_present = threading.local()  # `watch`: of the call that this thread captures


def observe(kind, method, make):
    """Has `make(o)` called after a capture for each object of a class whose method was called in
    it, or that its code names: see `guards.Parts`.
    """
    _methods[method.__code__] = make
    _classes[kind] = make


def renew(numbers):
    """The numbers of a formula that has just been recorded: `numbers()` gives those of the next."""
    watch = getattr(_present, "watch", None)
    if watch is not None:
        watch.renewals.append(numbers)


def refuse(reason):
    """Has the call that is being captured left to Python: it does what cannot be done again."""
    watch = getattr(_present, "watch", None)
    if watch is not None and watch.reason is None:
        watch.reason = reason


def _at(code, line):
    return f" ({code.co_filename}, line {line})"


class Watch:
    """Notes the functions that a call runs, and the first thing that could not be done again."""

    def __init__(self, function):
        self.function = function
        self.reason = None
        self.codes = {}  # of functions that are not ours
        self.reads = Reads(self._name, _serves_the_package)
        self.parts = {}  # {id: (object, make)}
        self.renewals = []
        self._new = {}
        self._collects, self._deepest = False, None

    def begin(self):
        """Whether it could begin."""
        if sys.getprofile() is not None or sys.gettrace() is not None:
            return False
        _present.watch = self
        # What is in the youngest generation from here on is new.
        self._collects = gc.isenabled()
        gc.disable()
        gc.collect(0)
        self._deepest = sys.getrecursionlimit()
        sys.setrecursionlimit(2 * self._deepest + 200)  # each read takes another frame
        self.reads.begin()
        self.reads.noted(self.reads.reach, self.function)
        sys.setprofile(self._see)
        return True

    def is_new(self, o):
        """Whether an object was made by the call; asked until the watch ends."""
        if id(o) not in self._new:
            self._new = {id(o): o for o in gc.get_objects(generation=0)}
        return id(o) in self._new

    def _name(self, o):
        for kind, make in _classes.items():
            if isinstance(o, kind):
                self.parts.setdefault(id(o), (o, make))

    def end(self):
        _present.watch = None
        if self._deepest is None:
            return
        if sys.getprofile() == self._see:
            sys.setprofile(None)
        sys.setrecursionlimit(self._deepest)
        try:
            self.reads.noted(self.reads.closures, self.codes)
        finally:
            self.reads.end()
        doubts = (why for o, why in self.reads.doubts if not self.is_new(o))
        self.reason = self.reason or self.reads.reason or next(doubts, None) or self._changed()
        self.guards = [g for *g, owner in self.reads.guards.values() if not self.is_new(owner)]
        self._new = {}
        if self._collects:
            gc.enable()

    def _changed(self):
        """What the call has changed without a statement or function that says so."""
        for container, items in self.reads.containers:
            now = flat(container)
            same = len(now) == len(items) and all(map(operator.is_, now, items))
            if not same and not self.is_new(container):
                return f"it changes a {type(container).__name__}"
        for kind, of, name, value, owner in self.reads.guards.values():
            if kind == ITEM and of.get(name) is not value and not self.is_new(owner):
                return f"it changes {name}"
        return None

    def _see(self, frame, event, what):
        try:
            self._follow(frame, event, what)
        except Exception as error:
            self.reason = self.reason or (
                f"what it does cannot be followed ({type(error).__name__})"
                + _at(frame.f_code, frame.f_lineno)
            )

    def _follow(self, frame, event, what):
        code = frame.f_code
        if event == "call":
            make = _methods.get(code)
            if make is not None:
                of = frame.f_locals[code.co_varnames[0]]
                self.parts[id(of)] = of, make
            if is_ours(code):
                if self.reason is None and code.co_filename.startswith(_STATEFUL):
                    self.reason = f"{code.co_qualname} keeps a state" + self._caller(frame)
                return
            if _is_harmless(code) or _serves_the_package(frame):
                return
            self.reads.enter(frame)
            if code not in self.codes:
                self.codes[code] = True
                self.reads.code(code, frame.f_globals, frame.f_builtins)
                self.reason = self.reason or _changes(code)
        elif event == "return":
            back = frame.f_back
            if what is None or back is None or is_ours(back.f_code):
                return
            if not _serves_the_package(back):
                self.reads.reach(what, back.f_code, given=True)
        elif event == "c_call" and self.reason is None:
            if is_ours(code) or _is_harmless(code) or _serves_the_package(frame):
                return
            if self._is_harmless(what):
                return
            name = getattr(what, "__qualname__", None) or repr(what)
            self.reason = f"it calls {name}" + _at(code, frame.f_lineno)

    def _caller(self, frame):
        while frame is not None and is_ours(frame.f_code):
            frame = frame.f_back
        return "" if frame is None else _at(frame.f_code, frame.f_lineno)

    def _is_harmless(self, what):
        of = getattr(what, "__self__", None)
        name = what.__name__
        if of is None or isinstance(of, types.ModuleType):
            module = getattr(what, "__module__", None) or getattr(of, "__name__", "")
            if module == "builtins":
                return name in _BUILTINS
            if module == "_operator" and (name in _CHANGES or _is_in_place(name)):
                return False
            return module in _MODULES or module == _core.__name__
        if type(of) in _READERS and name in _READERS[type(of)]:
            return True
        if type(of) in (list, set):
            return self.is_new(of)
        kind = of if isinstance(of, type) else type(of)
        if kind in _VALUES:
            return True
        module = getattr(kind, "__module__", None)
        of_numpy = isinstance(module, str) and module.startswith(("numbus", "numpy"))
        return of_numpy and not module.startswith("numpy.random")  # which has a state


def _serves_the_package(frame):
    """Whether code is the package's, or NumPy's or Python's library's and called from there."""
    while frame is not None:
        code = frame.f_code
        if notes(code):
            frame = frame.f_back
            continue
        if is_ours(code):
            return True
        if not code.co_filename.startswith(_NUMPY) and not is_librarys(code):
            return False
        frame = frame.f_back
    return True


def _is_harmless(code):
    return is_librarys(code) and code.co_filename[len(LIBRARY) :].startswith(_HARMLESS)


def _is_in_place(name):
    return name[:1] == "i" and hasattr(operator, f"__{name.strip('_')}__") and name != "index"


# Attributes of tensors, whose values are part of what is captured.
_TENSORS = {"grad", "data"}


def _changes(code):
    """Why a function's code may change what outlives its call; None: it does not."""
    line = code.co_firstlineno
    for i in dis.get_instructions(code):
        line = i.starts_line if isinstance(i.starts_line, int) and i.starts_line > 1 else line
        line = getattr(i, "line_number", None) or line
        name = i.opname
        if name in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            return f"it changes the global variable {i.argval}" + _at(code, line)
        if name in ("STORE_ATTR", "DELETE_ATTR") and i.argval not in _TENSORS:
            return f"it changes the attribute {i.argval}" + _at(code, line)
        if name in ("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE"):
            return "it stores an item" + _at(code, line)
        if name == "STORE_DEREF" and i.argval in code.co_freevars:
            return f"it changes the variable {i.argval} of another function" + _at(code, line)
        if name in ("YIELD_VALUE", "SEND") and code.co_flags & 0x280:  # coroutines
            return "it waits for other tasks" + _at(code, line)
    return None
