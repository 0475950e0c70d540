"""`compile`: a function whose array work is recorded again without its Python code."""

import functools
import types
import warnings

from ... import _core
from ..errors import message
from . import guards
from .guards import Parts
from .kinds import ATTRIBUTE, ITEM, ITEMS, TRUTH, flat
from .watch import Watch, observe, refuse, renew

__all__ = [
    "ATTRIBUTE", "ITEM", "ITEMS", "TRUTH", "CompileWarning", "Compiled", "Parts", "Told",
    "compile", "explained", "flat", "observe", "refuse", "renew",
]  # fmt: skip

_FAILURES = 3  # of calls alike, before they are left to Python for good
_CAPTURES = 64  # of one function, before all its calls are
_KINDS = 512  # of calls of one function, before all are
_CHANGING = "what it depends on is another at each call"
_UNKNOWN = "an argument's elements can be read by the host, or operations are watched or cast"

explained = []  # by each `explain` that runs: which compiled functions Python has run, and loops


class Told(list):
    """What `explain` says of these, in lines; ir: with their kernels' text."""

    def __init__(self, ir):
        super().__init__()
        self.ir = ir


class CompileWarning(UserWarning):
    """Calls of a compiled function are run by Python, each time."""


class _Calls:
    """What is known of calls with equal keys."""

    def __init__(self):
        self.seen = 0
        self.failures = 0
        self.reason = None  # of the last failure
        self.open = False  # whether the result is still to be differentiated
        self.last = None  # the capture before this one


class Compiled:
    """A function that `compile` made; called as the function is.

    Attributes
    ----------
    answers : int
        How many calls were recorded without the function's code.
    reasons : list of str
        Why other calls were not, each once.
    """

    def __init__(self, function, warns=True, refuses=None):
        functools.update_wrapper(self, function)
        self._function = function
        self._warns, self._refuses = warns, refuses
        self._steps = _core.Steps()
        self._calls = {}
        self._captures = 0
        self.reasons = []

    @property
    def answers(self):
        return self._steps.answers

    def __call__(self, *args, **keywords):
        made = self._steps.answer(*args, **keywords)
        if made is not NotImplemented:
            return made
        made = self._learn(args, keywords)
        if explained:
            explained[-1].append(f"{self._name()} is run by Python: {self._why()}")
        return made

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self):
        return f"<compiled {self._function!r}>"

    def _learn(self, args, keywords):
        """Calls the function; from the second call alike on, what it records is captured."""
        if _core.capturing_step():
            return self._function(*args, **keywords)
        if self._captures >= _CAPTURES:
            if self._captures == _CAPTURES:
                self._captures += 1
                self._note(_CHANGING, warn=True)
            return self._by_python(_CHANGING, args, keywords)
        capture = _core.StepCapture(*args, **keywords)
        if not capture.known:
            self._note(_UNKNOWN)
            return self._function(*args, **keywords)
        calls = self._calls.get(capture.key)
        if calls is None:
            if len(self._calls) >= _KINDS:
                self._captures = _CAPTURES
                self._calls.clear()
            calls = self._calls[capture.key] = _Calls()
        calls.seen += 1
        if calls.failures >= _FAILURES:
            return self._by_python(calls.reason, args, keywords)
        if calls.seen == 1:
            made = self._function(*args, **keywords)
            calls.open = _core.is_open(made)
            if capture.differentiated and not calls.open:
                calls.failures = _FAILURES
                calls.reason = "an argument is differentiated, and the result is not"
                self._note(calls.reason)
            return made
        self._captures += 1
        watch = Watch(self._function)
        last = calls.last
        gradients = {} if last is None else {id(t): t._grad for t in last.tensors}
        given = [(t, t._grad) for t in _tensors((args, keywords))] if calls.open else ()
        started = False
        capture.begin(calls.open)
        try:
            started = watch.begin()
            made = self._function(*args, **keywords)
        finally:
            capture.end()
            watch.end()
        reason = None if started else "a profiler or debugger is active"
        reason = reason or watch.reason or _said(capture.why)
        tensors = list({id(t): t for t in capture.tensors}.values())
        if reason is None and calls.open:
            removed = any(t._grad is not g for t, g in given)
            if removed or any(t._grad is not gradients.get(id(t), t._grad) for t in tensors):
                reason = "it removes gradients, and its result is still to be differentiated"
            else:
                reason = capture.finish(made, [])
        elif reason is None:
            touched = [t for t in tensors if t._leaf or t._grad is not None]
            reason = capture.finish(made, touched)
        if reason is None and last is not None:
            reason = last.differs(capture)
        if reason is not None:
            calls.last = None
            calls.open = _core.is_open(made)
            self._fail(calls, reason)
        elif last is None:
            calls.last = capture
        else:
            found = guards.of(watch, capture, tensors, gradients)
            if isinstance(found, str):
                self._fail(calls, found)
            else:
                self._steps.install(capture, *found)
            calls.last = None
        return made

    def _fail(self, calls, reason):
        calls.failures += 1
        calls.reason = reason
        self._note(reason, warn=calls.failures >= _FAILURES, depth=5)

    def _by_python(self, reason, args, keywords):
        if self._refuses is not None:
            raise self._refuses(reason)
        return self._function(*args, **keywords)

    def _name(self):
        return getattr(self._function, "__qualname__", repr(self._function))

    def _why(self):
        return "; ".join(self.reasons) or "calls alike are captured from the second on"

    def _note(self, reason, warn=False, depth=4):
        if reason not in self.reasons:
            self.reasons.append(reason)
        if warn and self._refuses is not None:
            raise self._refuses(reason)
        if warn and self._warns:
            text = message("compile", f"{self._name()} is run by Python at each call", reason,
                           "array work alone (see docs/training.md)")  # fmt: skip
            warnings.warn(text, CompileWarning, stacklevel=depth)


def _tensors(tree):
    if isinstance(tree, dict):
        tree = tuple(tree.values())
    if isinstance(tree, (tuple, list)):
        return [t for item in tree for t in _tensors(item)]
    return [tree] if isinstance(tree, _core.TensorBase) else []


def _said(why):
    if why is None:
        return None
    text, file, line = why
    return f"{text} ({file}, line {line})" if file else text


def compile(function=None):
    """A function whose array work is recorded again without running its Python code.

    The first three calls with arguments alike are run by Python; what the second and third record
    is compared. Where it is the same, and nothing else was done that would have to be done again,
    later calls record it for their own arguments. On a device whose memory the host reads (a CPU)
    each call is run by Python.

    Parameters
    ----------
    function : callable
        A step of a program: of arrays, tensors, numbers, texts, and lists, tuples and dicts of
        these; other objects are known by themselves. It may use and change arrays, tensors, modules
        and optimizers that it finds elsewhere. Calls are alike where shapes, dtypes, strides,
        devices and other arguments are equal.

    Returns
    -------
    Compiled
        Gives what the function gives, but for tensors whose gradients were taken inside, which are
        given detached. `gradients` of leaves are as the function leaves them. Results that are
        still to be differentiated are, by `backward()` as by any other way.

    Notes
    -----
    Before each call it is looked at whether the variables, attributes and items that the captured
    call could read, settings of modules and optimizers, and tensors are the same; learning rates
    are read anew. Calls are left to Python, with a `CompileWarning` that names the reason and the
    line, where the function reads elements (`item()`, `if x > 0`), prints, changes objects of
    Python's, or reads objects whose changes cannot be seen (NumPy's arrays, iterators, objects of C
    extensions). Random numbers are drawn anew where the device has their stream (`dropout`,
    `rand`, `randn`).

    As a decorator it can be written `@compile` or `@compile()`.
    """
    if function is None:
        return compile
    if not callable(function):
        raise TypeError(
            message("compile", "nothing to call", type(function).__name__, "a function")
        )
    return function if isinstance(function, Compiled) else Compiled(function)
