"""np.errstate and np.seterr, and NumPy's RuntimeWarnings.

In the modes "raise", "call", "print" and "log" NumPy does each operation first, on copies of the
operands on the host and under the same errstate, so that errors and calls are exactly its own; then
the operation is recorded as usual. In the mode "warn" the operation comes first, and where it has
set the processor's flags of floating-point errors, NumPy does it again and gives its warnings. In
the mode "ignore" nothing is looked at.
"""

import atexit
import functools
import operator
import sys
import types
import warnings

import numpy
from numpy.exceptions import ComplexWarning

from .. import _core
from .._core import generic, ndarray
from .fallback import OPERATORS, caller_frame

__all__ = ["errstate", "seterr"]

_MODES = {"raise", "call", "print", "log"}
# The flags of the processor, of which those of underflow are too common to be looked at.
_KINDS = {"invalid": 1, "divide": 4, "over": 8}
_TEXTS = {1: "invalid value", 4: "divide by zero", 8: "overflow"}
_DISCARDS = "Casting complex values to real discards the imaginary part"
# More elements than these NumPy does not do again within a call.
_MOST = 1 << 16
# Functions whose bodies compute otherwise than NumPy's, so that what they meet says nothing: NumPy
# is asked where few operands at rest look as if it had something to say.
_OTHERWISE = frozenset(
    """allclose around round convolve correlate corrcoef cov einsum isclose modf vdot""".split()
)
# Several operations of ours that are one of NumPy's, by the name that its warnings have.
_NAMED = {
    "dot": "dot", "inner": "dot", "tensordot": "dot", "matmul": "matmul", "vecdot": "vecdot",
    "matvec": "matvec", "vecmat": "vecmat", "divmod": "divmod", "ldexp": "ldexp", "i0": "i0",
    "spacing": "spacing",
}  # fmt: skip
# Where the result has no axes, their last steps are those of NumPy's scalars.
_NAMED |= dict.fromkeys(
    """average mean median nanmean nanmedian nanpercentile nanquantile nanstd nanvar percentile
    quantile std var""".split(),
    "",
)
# Whose operands are not converted to one type.
_IN_THEIR_TYPES = {"cast", "ldexp", "i0"}
# The steps of bodies that NumPy has, too, where others are not to be told of.
_STEPS = {"i0": ("i0",), "spacing": ("nextafter",)}
# What does more than compute, and would do it twice.
_NOT_TWICE = frozenset(
    """save savez savez_compressed savetxt load loadtxt genfromtxt fromfile fromregex tofile dump
    memmap errstate seterr seterrcall printoptions set_printoptions""".split()
)


@functools.cache
def _asked_by(*state):
    state = dict(state)
    warned = sum(flag for kind, flag in _KINDS.items() if state[kind] == "warn")
    checked = state["under"] == "warn" or not _MODES.isdisjoint(state.values())
    # Where NumPy does all operations first, it has told of them before ours are looked at.
    return checked, 0 if checked else warned


def _asked():
    """Whether NumPy does each operation first, and the kinds to be warned of, by its errstate."""
    return _asked_by(*numpy.geterr().items())


def follow():
    """Takes over the errstate of the context that runs now, which another task may have left."""
    _core.check_float_errors(*_asked())


# `np.errstate` is NumPy's own, which operations of ours follow, whoever enters it.
#
# FloatingPointError is raised by the operation itself, before anything is written. Warnings are
# given on a CPU, by the operation or when what is pending is carried out; docs/compat.md says which
# are missing. under="warn" has NumPy do each operation first.
errstate = numpy.errstate
_enter, _leave, _decorated = errstate.__enter__, errstate.__exit__, errstate.__call__
# What was asked for before, by the number of each that has been entered: they have no attributes.
_before = {}


def _entered(self):
    _enter(self)
    _before[id(self)] = _core.check_float_errors(*_asked())


def _left(self, *error):
    _leave(self, *error)
    before = _before.pop(id(self), None)
    if before is None:  # it was entered before Numbus was imported
        _core.check_float_errors(*_asked())
    else:
        _core.restore_float_errors(before)


def _follows(self, function):
    @functools.wraps(function)
    def followed(*arguments, **keywords):
        before = _core.check_float_errors(*_asked())
        try:
            return function(*arguments, **keywords)
        finally:
            _core.restore_float_errors(before)

    return _decorated(self, followed)


_set = numpy.seterr


@functools.wraps(_set)
def seterr(all=None, divide=None, over=None, under=None, invalid=None):
    before = _set(all=all, divide=divide, over=over, under=under, invalid=invalid)
    _core.check_float_errors(*_asked())
    return before


def _copied(value):
    """An operand as NumPy's own, which may be written to."""
    if type(value) is ndarray:
        return numpy.array(numpy.asarray(value))
    # Operators of our own scalars would be ours again, and say nothing.
    if type(value) is generic or type(value) in _core.scalar_types:
        return numpy.asarray(value)[()]
    if isinstance(value, numpy.ndarray):
        return value.copy()  # which an operator that assigns, or `out`, would write to again
    if type(value) is _core.ufunc:  # which would tell of nothing now
        return getattr(numpy, value.name, value)
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


def _call(function, arguments, keywords):
    return function(*arguments, **keywords)


def _called_at(file, line, names):
    """`_call` as a line of the program, whose globals are `names`: a warning given inside is that
    line's, as are the warnings that it has given before.
    """
    code = _call.__code__.replace(co_filename=file, co_firstlineno=line - 1)
    return types.FunctionType(code, names)


def _called_here():
    frame = caller_frame()
    if frame is None:
        return _call
    return _called_at(frame.f_code.co_filename, frame.f_lineno, frame.f_globals)


def _run(function, arguments, keywords):
    """NumPy's function, whose errors and warnings of floats are passed on; other errors are for our
    code to find.
    """
    told = numpy.geterrcall()
    told = None if told is None else _Told(told)
    try:
        with numpy.errstate() if told is None else numpy.errstate(call=told):
            _called_here()(function, _copied(arguments), _copied(keywords))
    except (FloatingPointError, Warning) as error:
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
        found[id(vars(_core.ufunc)[name])] = name
    return found


def by_function(function, arguments, keywords):
    """A function or method; False: it has no counterpart, or calls functions of the user or goes
    over an iterator, which it would do twice, and its parts are to be looked at one by one.
    """
    original = _originals().get(id(function))
    if original is None or any(
        hasattr(value, "__next__")
        or (callable(value) and not isinstance(value, (type, _core.ufunc)))
        for value in (*arguments, *keywords.values())
    ):
        return False
    if type(original) is str:  # a method of a ufunc
        original = getattr(getattr(numpy, arguments[0].name), original)
        arguments = arguments[1:]
    _run(original, arguments, keywords)
    return True


def warn_here(text):
    """A RuntimeWarning at the line of the program that is carried out."""
    _give(_called_here(), warnings.warn, (text, RuntimeWarning))


def warn_where():
    """A call of a ufunc with `where` and without `out`."""
    text = (
        "'where' used without 'out', expect unitialized memory in output. "
        "If this is intentional, use out=None."
    )
    _give(_called_here(), warnings.warn, (text, UserWarning))


def warn_operator(name, x, y, kinds):
    """An operator whose flags are set; kinds: those flags, where they are all there is to see."""
    if not kinds:
        return by_operator(name, x, y, False)
    state = numpy.geterr()
    for kind, flag in _KINDS.items():
        if kinds & flag and state[kind] == "warn":
            warn_here(f"{_TEXTS[flag]} encountered in {name}")


def warn_ufunc(name, arguments, keywords):
    """A call of a ufunc whose flags are set."""
    by_ufunc(name, arguments, keywords)


def number(name, x, y):
    """An operator of two of NumPy's scalars, and the flags of what it has met, without a word."""
    met = []
    usual = OPERATORS.get(name, (None, None))[0]
    function = getattr(numpy, name) if usual is None else getattr(operator, usual)
    with numpy.errstate(all="call", call=lambda text, _: met.append(text)):
        result = function(x, y)
    return result, sum(flag for flag, text in _TEXTS.items() if text in met)


def warn_cast(value, dtype):
    """An assignment of elements to an array of another type whose flags are set."""
    _run(numpy.ndarray.astype, (value, dtype), {})


def warn_function(function, arguments, keywords):
    """A call of a function or method in which flags were set."""
    size = sum(x.size for x in (*arguments, *keywords.values()) if type(x) is ndarray)
    if size <= _MOST:
        by_function(function, arguments, keywords)


@functools.cache
def _globals_of(file):
    """Those of the module of that file, whose registry of warnings says what was given before."""
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) == file:
            return vars(module)
    main = vars(sys.modules["__main__"])
    return main if main.get("__file__") in (None, file) else {"__name__": file}


def tell(findings):
    """Gives the warnings of what flushes have met, at the lines where it was recorded: NumPy does
    the operations again on a few of the elements that it may warn of.
    """
    given = set()
    for name, shown, kinds, file, line, met, loop, out, samples, product in findings:
        where = _called_at(file, line, _globals_of(file)) if file else _call
        if name == "ComplexWarning":
            if (name, file, line) not in given:
                given.add((name, file, line))
                _give(where, warnings.warn, (_DISCARDS, ComplexWarning))
            continue
        modes = {kind: "warn" if kinds & flag else "ignore" for kind, flag in _KINDS.items()}
        if name not in _STEPS.get(shown, (name,)):
            continue  # a step that NumPy has not
        if met:
            for flag, text in _TEXTS.items():
                if met & kinds & flag and not (shown and (shown, flag, file, line) in given):
                    given.add((shown, flag, file, line))
                    said = f"{text} encountered in {shown or name}"
                    _give(where, warnings.warn, (said, RuntimeWarning))
            continue
        operands = [numpy.frombuffer(data, dtype) for dtype, data in samples]
        if name not in _IN_THEIR_TYPES:
            with numpy.errstate(**modes):
                operands = [
                    x if x.dtype == loop else _give(where, numpy.ndarray.astype, (x, loop))
                    for x in operands
                ]
        if product[1]:
            operands = _factors(operands, *product)
        if shown:
            # Several operations of ours are one of NumPy's, which warns once.
            for kind in _kinds_met(name, operands, out):
                if kinds & kind and (shown, kind, file, line) not in given:
                    given.add((shown, kind, file, line))
                    said = f"{_TEXTS[kind]} encountered in {shown}"
                    _give(where, warnings.warn, (said, RuntimeWarning))
            continue
        with numpy.errstate(**modes):
            if name == "cast":
                _give(where, numpy.ndarray.astype, (operands[0], out))
            else:
                _give(where, _into(name, out, operands), tuple(operands))


def _factors(operands, rows, terms, columns):
    """The factors of a product; vectors where it is one of them."""
    x, y = operands
    return (
        x.reshape((rows, terms) if rows > 1 else (terms,)),
        y.reshape((terms, columns) if columns > 1 else (terms,)),
    )


def _kinds_met(name, operands, out):
    """The kinds of errors that NumPy's operation meets."""
    met = set()
    flags = {text: flag for flag, text in _TEXTS.items()}
    with numpy.errstate(all="call", call=lambda text, _: met.add(flags.get(text))):
        if name == "cast":
            operands[0].astype(out)
        else:
            _into(name, out, operands)(*operands)
    return met - {None}


def _into(name, out, operands):
    """NumPy's function for these operands; a ufunc casts results to the type `out` by itself."""
    function = getattr(numpy, name)
    if not isinstance(function, numpy.ufunc):
        return function
    if name == "matmul" or function.nout != 1:
        return function
    many = numpy.broadcast_shapes(*[operand.shape for operand in operands])
    return functools.partial(function, out=numpy.empty(many, out), casting="unsafe")


def _give(where, function, arguments):
    try:
        return where(function, arguments, {})
    except Warning as error:
        raise error.with_traceback(None) from None


def attach(numbus):
    """Functions whose operations are NumPy's warn for themselves where they are recorded; leaving
    `warnings.catch_warnings`, and the end of the program, give the warnings of what is pending.
    NumPy's errstate is followed from now on; of one that is in force nobody would say when it ends.
    """
    for place in (numbus, ndarray, _core.ufunc):
        for name, function in list(vars(place).items()):
            if isinstance(function, _core.Composed):
                if name not in _OTHERWISE:
                    _core.let_tell(function, name=_NAMED.get(name))
                    if name == "spacing":  # of half floats NumPy has more to say
                        _core.let_tell(function, suspects=True)
                elif name != "vdot":  # whose flags are read
                    _core.let_tell(function, suspects=True)
    # Of too few elements, too.
    for name in ("mean", "var", "std", "nanmean", "nanvar", "nanstd", "average", "median"):
        for place in (ndarray, numbus):
            if hasattr(place, name):
                _core.let_tell(getattr(place, name), tests=True)
    caught = warnings.catch_warnings
    enter, leave = caught.__enter__, caught.__exit__

    @functools.wraps(enter)
    def __enter__(self):
        _core.give_warnings()
        return enter(self)

    @functools.wraps(leave)
    def __exit__(self, *error):
        try:
            _core.give_warnings()
        finally:
            leave(self, *error)

    caught.__enter__, caught.__exit__ = __enter__, __exit__
    errstate.__enter__, errstate.__exit__, errstate.__call__ = _entered, _left, _follows
    numpy.seterr = seterr
    atexit.register(_core.give_warnings)
