"""What a call does beside array work: seen by a profiler while it is captured."""

import dis
import gc
import os
import sys
import sysconfig
import threading
import types

from ... import _core

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
_LIBRARY = sysconfig.get_paths()["stdlib"] + os.sep
# Files of the package whose functions keep a state of their own, which a step would have to change
# each time.
_STATEFUL = tuple(
    _PACKAGE + name
    for name in (
        "optim" + os.sep + "lr_scheduler.py", "optim" + os.sep + "lbfgs.py", "data" + os.sep,
        "dist" + os.sep, "compat" + os.sep + "torch" + os.sep + "amp.py",
    )
)  # fmt: skip
# Files of the library that are as good as ours: what they change is theirs for the time of a call.
_HARMLESS = ("contextlib.py", "functools.py", "enum.py", "typing.py", "collections", "weakref.py")

_BUILTINS = {
    "__build_class__", "abs", "all", "any", "bin", "callable", "chr", "divmod", "format",
    "getattr", "hasattr", "hash", "hex", "id", "isinstance", "issubclass", "iter", "len", "max",
    "min", "oct", "ord", "pow", "repr", "round", "sorted", "sum", "globals", "locals", "vars",
    "dir", "__import__",
}  # fmt: skip
_READERS = {
    dict: {"copy", "get", "items", "keys", "values"},
    list: {"copy", "count", "index"},
    set: {"copy", "union", "intersection", "difference", "issubset", "issuperset", "isdisjoint"},
}
_VALUES = (str, bytes, int, float, complex, tuple, frozenset, range, slice, type)
_MODULES = {"math", "cmath", "_operator", "itertools", "_functools"}

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


def _is_ours(code):
    return code.co_filename.startswith(_PACKAGE)


def _at(code, line):
    return f" ({code.co_filename}, line {line})"


class Watch:
    """Notes the functions that a call runs, and the first thing that could not be done again."""

    def __init__(self, function):
        self.function = function
        self.reason = None
        self.calls = []  # (code, globals, {argument: object}) of functions that are not ours
        self.parts = {}  # {id: (object, make)}
        self.renewals = []
        self._codes = {}
        self._old = set()

    def begin(self):
        """Whether it could begin."""
        if sys.getprofile() is not None or sys.gettrace() is not None:
            return False
        _present.watch = self
        self._old = {id(o) for o in gc.get_objects() if type(o) in (list, set)}
        sys.setprofile(self._see)
        return True

    def name(self, o):
        """The call's code names an object."""
        for kind, make in _classes.items():
            if isinstance(o, kind):
                self.parts.setdefault(id(o), (o, make))

    def end(self):
        _present.watch = None
        if sys.getprofile() == self._see:
            sys.setprofile(None)
        self._old = set()

    def _see(self, frame, event, what):
        code = frame.f_code
        if event == "call":
            make = _methods.get(code)
            if make is not None:
                of = frame.f_locals[code.co_varnames[0]]
                self.parts[id(of)] = of, make
            if _is_ours(code):
                if self.reason is None and code.co_filename.startswith(_STATEFUL):
                    self.reason = f"{code.co_qualname} keeps a state" + self._caller(frame)
                return
            if code not in self._codes:
                self._codes[code] = True
                if code.co_filename.startswith(_LIBRARY) and any(
                    name in code.co_filename[len(_LIBRARY) :] for name in _HARMLESS
                ):
                    return
                names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
                now = frame.f_locals
                given = {name: now[name] for name in names if name in now}
                self.calls.append((code, frame.f_globals, given))
                self.reason = self.reason or _changes(code)
        elif event == "c_call" and self.reason is None and not _is_ours(code):
            if code.co_filename.startswith(_LIBRARY):
                return
            if not self._is_harmless(what):
                name = getattr(what, "__qualname__", None) or repr(what)
                self.reason = f"it calls {name}" + _at(code, frame.f_lineno)

    def _caller(self, frame):
        while frame is not None and _is_ours(frame.f_code):
            frame = frame.f_back
        return "" if frame is None else _at(frame.f_code, frame.f_lineno)

    def _is_harmless(self, what):
        of = getattr(what, "__self__", None)
        name = what.__name__
        if of is None or isinstance(of, types.ModuleType):
            module = getattr(what, "__module__", None) or getattr(of, "__name__", "")
            if module == "builtins":
                return name in _BUILTINS
            return module in _MODULES or module == _core.__name__
        if type(of) in _READERS and name in _READERS[type(of)]:
            return True
        if type(of) in (list, set):
            return id(of) not in self._old  # it was made by the call
        kind = of if isinstance(of, type) else type(of)
        return kind in _VALUES or kind.__module__.startswith(("numbus", "numpy"))


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
