"""np.errstate and np.seterr where they ask for more than warnings.

In the modes "raise", "call", "print" and "log" NumPy does each operation first, on copies of the
operands on the host and under the same errstate, so that errors and calls are exactly its own; then
the operation is recorded as usual. In the modes "ignore" and "warn" nothing is looked at: no
warnings are given.
"""

import functools
import operator
import sys

import numpy

from .. import _core
from .._core import generic, ndarray
from .fallback import OPERATORS

__all__ = ["errstate", "seterr"]

_MODES = {"raise", "call", "print", "log"}
# What does more than compute, and would do it twice.
_NOT_TWICE = frozenset(
    """save savez savez_compressed savetxt load loadtxt genfromtxt fromfile fromregex tofile dump
    memmap errstate seterr seterrcall printoptions set_printoptions""".split()
)


def _follow():
    _core.check_float_errors(not _MODES.isdisjoint(numpy.geterr().values()))


class errstate(numpy.errstate):
    """`np.errstate`, which operations of ours follow, too.

    Keywords as NumPy's: all, divide, over, under, invalid ("ignore", "warn", "raise", "call",
    "print", "log") and call. FloatingPointError is raised by the operation itself, before anything
    is written. "warn" gives no warnings.
    """

    def __init__(self, **modes):
        super().__init__(**modes)
        self._modes = modes

    def __enter__(self):
        super().__enter__()
        _follow()

    def __exit__(self, *error):
        super().__exit__(*error)
        _follow()

    def __call__(self, function):
        modes = self._modes

        @functools.wraps(function)
        def inner(*arguments, **keywords):
            with errstate(**modes):
                return function(*arguments, **keywords)

        return inner


@functools.wraps(numpy.seterr)
def seterr(all=None, divide=None, over=None, under=None, invalid=None):
    before = numpy.seterr(all=all, divide=divide, over=over, under=under, invalid=invalid)
    _follow()
    return before


def _copied(value):
    """An operand as NumPy's own, which may be written to."""
    if type(value) is ndarray:
        return numpy.array(numpy.asarray(value))
    if type(value) is generic:
        return numpy.asarray(value)[()]
    if type(value) in (list, tuple):
        return type(value)(_copied(item) for item in value)
    if type(value) is dict:
        return {key: _copied(item) for key, item in value.items()}
    return value


class _Told:
    """The function or the log that NumPy is to tell, which remembers what it raised."""

    def __init__(self, of):
        self.of, self.raised = of, None

    def __call__(self, *what):
        try:
            self.of(*what)
        except BaseException as error:
            self.raised = error
            raise

    def write(self, text):
        try:
            self.of.write(text)
        except BaseException as error:
            self.raised = error
            raise


def _run(function, arguments, keywords):
    """NumPy's function, whose errors of floats are passed on; others are for our code to find."""
    told = numpy.geterrcall()
    told = None if told is None else _Told(told)
    try:
        with numpy.errstate() if told is None else numpy.errstate(call=told):
            function(*_copied(arguments), **_copied(keywords))
    except FloatingPointError as error:
        raise error.with_traceback(None) from None
    except Exception:
        if told is not None and told.raised is not None:
            raise told.raised from None


def by_operator(name, x, y, assigns):
    """An operator of arrays, by the name of its ufunc."""
    usual, assigning = OPERATORS.get(name, (None, None))
    if usual is None:
        _run(getattr(numpy, name), (x,) if y is None else (x, y), {})
    else:
        _run(getattr(operator, assigning if assigns else usual), (x, y), {})


def by_ufunc(name, arguments, keywords):
    """A call of a ufunc."""
    original = getattr(numpy, name, None)
    if original is not None:
        _run(original, arguments, keywords)


@functools.cache
def _originals():
    """NumPy's functions and methods by ours."""
    numbus = sys.modules["numbus"]
    found = {}
    for ours, theirs in (
        (numbus, numpy), (numbus.linalg, numpy.linalg), (numbus.fft, numpy.fft),
        (ndarray, numpy.ndarray),
    ):  # fmt: skip
        for name in dir(theirs):
            if name.startswith("_") or name in _NOT_TWICE:
                continue
            mine = getattr(ours, name, None) if ours is ndarray else vars(ours).get(name)
            original = getattr(theirs, name)
            if isinstance(mine, _core.Composed) and callable(original):
                found.setdefault(id(mine), original)
    for name in ("reduce", "accumulate", "reduceat", "outer", "at"):
        found[id(vars(_core.ufunc)[name])] = functools.partial(_method, name)
    return found


def _method(name, ufunc, *arguments, **keywords):
    getattr(getattr(numpy, ufunc.name), name)(*arguments, **keywords)


def by_function(function, arguments, keywords):
    """A function or method; False: it has no counterpart, or calls functions of the user, and its
    parts are to be looked at one by one.
    """
    original = _originals().get(id(function))
    if original is None or any(
        callable(value) and not isinstance(value, (type, _core.ufunc))
        for value in (*arguments, *keywords.values())
    ):
        return False
    _run(original, arguments, keywords)
    return True
