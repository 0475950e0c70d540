"""The registry: each function of arrays once, with what its arguments are as annotations.

`@function` makes of a body the function that users call: an adapter in the core converts the
arguments as the annotations say (operands to arrays, axes into range, words and flags checked,
`out=` stored into), and hands operands that only NumPy can hold to NumPy. The body itself names no
device and converts nothing.
"""

import dataclasses
import functools
import inspect

import numpy

from .. import _core
from ..core import derivatives, fallback
from ..core.quick import few as answered_by

_KINDS = ("Any", "Array", "Operand", "Axis", "Axes", "Out", "DTypeArg", "Choice", "Flag", "Int")
_OF_MANY = ("Any", "Array", "Operand")  # what each of *arguments can be
_REFUSED, _FLAT, _KEPT = range(3)  # what an axis of None means


@dataclasses.dataclass(frozen=True)
class Argument:
    """What a parameter is. `words` are those of a Choice, the rules of an Out (how results are
    cast, and whether they broadcast); an Axis or an Int with words is no boolean, and an Axis of
    "0-d" is one that arrays without axes have, too."""

    kind: str
    none: int = _KEPT
    words: tuple = ()

    def __or__(self, other):
        """`Axis | None`: None stays; `Axis | Flat`: None means the flattened array."""
        if other is None:
            return dataclasses.replace(self, none=_KEPT)
        if other is Flat:
            return dataclasses.replace(self, none=_FLAT)
        return NotImplemented

    def for_none(self, array, name):
        """The statements that a compiled function takes where an axis is None, indented."""
        if self.none == _FLAT:
            return [f"    {array} = {array}.ravel()", f"    {name} = 0"]
        if self.none == _REFUSED:
            return [f"    raise TypeError('{name} is None; expected an int')"]
        return ["    pass"]


Flat = object()
Any = Argument("Any")
Array = Argument("Array")
Operand = Argument("Operand")
Axis = Argument("Axis", _REFUSED)
AxisOrNumber = Argument("Axis", _REFUSED, ("0-d",))  # axis 0 of a number: it is one element
AxisOnly = Argument("Axis", _REFUSED, ("int",))  # of functions of NumPy's that refuse booleans
Axes = Argument("Axes")
Out = Argument("Out")
OutUnsafe = Argument("Out", words=("unsafe",))  # which takes results of any dtype
OutReversed = Argument("Out", words=("reversed",))  # whose type must be safe to make the result's
OutBroadcast = Argument("Out", words=("same_kind", True))  # to which results broadcast
OutRead = Argument("Out", words=("read",))  # which the body gets, and stores into
OutCast = Argument("Out", words=("read", "same_kind"))  # the same, with results cast to its type
OutAny = Argument("Out", words=("read", "unsafe"))  # the same, with results cast to any type
OutJoined = Argument("Out", words=("read", "operands"))  # whose type the operands are cast to
OutExact = Argument("Out", words=("read", "exact"))  # of the result's own type, in C order
DTypeArg = Argument("DTypeArg")
Flag = Argument("Flag")
Int = Argument("Int")
IntOnly = Argument("Int", words=("int",))  # likewise
Whole = Argument("Int", words=("whole",))  # also as a float, or as one of NumPy's booleans


def Choice(*words):
    """One of `words`; the default need not be one of them."""
    return Argument("Choice", words=tuple(words))


@dataclasses.dataclass(frozen=True)
class Row:
    """One registered function.

    names: under which the world knows it, the first in NumPy's or CuPy's spelling ("np.sort").
    kind: "primitive" (a row of routines.def), "composed" (array expressions), "line", "element".
    body: the Python function. function: what users call. compiled: whether compiled functions have
    it, whose routines are the host's.
    """

    names: tuple
    kind: str
    body: object
    function: object
    compiled: bool

    @property
    def name(self):
        return self.names[0].split(".", 1)[1]

    def parameters(self):
        """{name: (Argument, inspect.Parameter)}."""
        found = inspect.signature(self.body).parameters
        return {name: (_argument(p), p) for name, p in found.items()}


ROWS = {}  # by each of their names
BODIES = {}  # by their bodies


def function(*names, kind="composed", compiled=True, original=None, few=False):
    """Registers the function below under `names`, the first of them "np." and NumPy's name.

    compiled: False where the body cannot be compiled; compiled functions say "not yet" then.
    original: NumPy's own, which takes the operands that Numbus cannot hold; found by its name where
    that begins with "np.". Without one such operands raise TypeError.
    """
    first = names[0].split(".", 1)[1]
    if original is None and names[0].startswith("np."):
        original = getattr(numpy, first)

    def register(body):
        signature = inspect.signature(body)
        every = list(signature.parameters.values())
        rest = [_argument(p) for p in every if p.kind == p.VAR_POSITIONAL]
        parameters = [p for p in every if p.kind != p.VAR_POSITIONAL]
        known = [p.name for p in parameters]
        array = next((n for n, p in enumerate(parameters) if _argument(p).kind == "Array"), 0)
        rows = []
        for p in parameters:
            what = _argument(p)
            has_default = p.default is not p.empty
            rows.append(
                (
                    p.name,
                    _KINDS.index(what.kind),
                    has_default,
                    p.default if has_default else None,
                    what.none,
                    array,
                    what.words,
                )
            )
        if known.count("out") and _argument(signature.parameters["out"]).kind != "Out":
            raise TypeError(f"registry: {names[0]} has an `out` that is no Out")
        positional = [p for p in parameters if p.kind != p.KEYWORD_ONLY]
        only = [p for p in parameters if p.kind == p.POSITIONAL_ONLY]
        made = _core.composed(
            _answered(body, few, getattr(numpy, first)) if few else body,
            None if original is None else fallback.make("numpy." + first, original),
            rows,
            first,
            len(only),
            len(positional),
            _KINDS.index(rest[0].kind) if rest else -1,
            _takes_any_keyword(original),
        )
        row = BODIES[body] = Row(names, kind, body, made, compiled)
        for name in names:
            if name in ROWS:
                raise TypeError(f"registry: {name} is registered twice")
            ROWS[name] = row
        return made

    return register


def ufunc(name, body, around):
    """Registers a function whose array calls have the keywords of ufuncs, by `around` the body of
    its operands; compiled functions have the body. Gives what users call.
    """
    own = name.split(".", 1)[1]
    made = fallback.foreign(around, getattr(numpy, own))
    made.__module__, around.body = "numbus", body
    ROWS[name] = BODIES[body] = Row((name,), "composed", body, made, True)
    return made


def _answered(body, few, original):
    """few: True, or how many elements an operand may have at most."""
    return (answered_by(original) if few is True else answered_by(original, few))(body)


def _takes_any_keyword(original):
    try:
        parameters = inspect.signature(original).parameters.values()
    except (TypeError, ValueError):  # none, or a builtin without a signature
        return False
    return any([p.kind == p.VAR_KEYWORD for p in parameters])


makers = {}  # kind to what makes a function of arrays of a body; the layer above fills it


class Loops:
    """A function of numbers, or of lines, as one of arrays: loops that are compiled at first call.

    On a CPU they run in threads, on a GPU as a kernel; in compiled functions the body is compiled
    where it is called. Without pending work in its way an element function is recorded and fuses.
    """

    def __init__(self, kind, body, *how, slope=None):
        functools.update_wrapper(self, body)
        self._kind, self._body, self._how = kind, body, how
        self._slope = None if slope is None else derivatives.Slope(slope)

    @functools.cached_property
    def _made(self):
        return makers[self._kind](self._body, *self._how)

    def __call__(self, *operands):
        if self._slope is not None and derivatives.watched(operands):
            return derivatives.of_element(self.__name__, self._made, self._slope, operands)
        return self._made(*operands)

    def _kernel_loops(self):
        return self._made._kernel_loops()


def element(body, slope=None):
    """A function of numbers as one of arrays, which broadcast.

    `slope`, a function of arrays, gives its derivative by its one argument, where that is better
    than the derivative of the body's operations.
    """
    return Loops("element", body, slope=slope)


def line(signature):
    """A function of lines as one of arrays, by a signature of generalised ufuncs: "(n),()->()".

    The body writes into its last parameters, one for each result.
    """
    return lambda body: Loops("line", body, signature)


def _argument(parameter):
    what = parameter.annotation
    if not isinstance(what, Argument):
        raise TypeError(f"registry: {parameter.name} has no annotation of the registry's")
    alone = parameter.kind == parameter.VAR_POSITIONAL and what.kind not in _OF_MANY
    if parameter.kind == parameter.VAR_KEYWORD or alone:
        raise TypeError(f"registry: *{parameter.name} cannot be registered")
    return what
