"""Functions of numbers with loops, while derivatives are recorded: the Python function runs on the
elements that take one path through it, as operations on arrays, once for each path.
"""

import builtins
import dis
import math
import types as python_types

import numpy

from .. import _core
from ..core import ufuncs
from ..core.errors import message
from ..core.operands import to_ndarray, to_numpy
from ._dispatch import Dispatcher


class _Split(BaseException):
    """Elements of a run answer a question differently."""

    def __init__(self, answers):
        super().__init__()
        self.answers = answers


class _Run:
    """One run of the function: what its questions have been answered with."""

    def __init__(self, answers):
        self.answers, self.asked = answers, 0

    def ask(self, a):
        if self.asked == len(self.answers):
            with _core.unobserved():
                found = to_numpy(_core.copy_of(a))
            if (found != found[0]).any():
                raise _Split(found)
            self.answers.append(found[0].item())
        self.asked += 1
        return self.answers[self.asked - 1]


def _operand(x):
    return x.array if isinstance(x, Elements) else x


class Elements:
    """What stands for a number: those of all elements of a run."""

    __slots__ = ("array", "run")
    __hash__ = None

    def __init__(self, array, run):
        self.array, self.run = array, run

    def __bool__(self):
        return self.run.ask(self.array != 0)

    def __index__(self):
        if self.array.dtype.kind not in "iub":
            raise TypeError(message("vectorize", "no integer", self.array.dtype, "an integer"))
        return int(self.run.ask(self.array))

    def __float__(self):
        raise NotImplementedError(
            message("grad", "a number that is differentiated is given to a function that is not yet"
                    " available here", "a float", "functions of math and NumPy")
        )  # fmt: skip

    __complex__ = __float__

    def __int__(self):
        return int(self.run.ask(_truncated(self.array)))

    def __round__(self, digits=None):
        return _apply("rint", (self,)) if digits is None else self.__float__()

    def __abs__(self):
        return _apply("absolute", (self,))

    def __array_ufunc__(self, ufunc, how, *args, **keywords):
        if how != "__call__" or keywords:
            return NotImplemented
        return _apply(ufunc.__name__, args)

    @property
    def real(self):
        return Elements(self.array.real, self.run)

    @property
    def imag(self):
        return Elements(self.array.imag, self.run)

    def conjugate(self):
        return _apply("conjugate", (self,))


def _truncated(a):
    return a.astype(numpy.int64) if a.dtype.kind != "b" else a


def _apply(name, args):
    run = next(x.run for x in args if isinstance(x, Elements))
    return Elements(to_ndarray(getattr(_core, name)(*map(_operand, args))), run)


def _method(name, reflected=False):
    def method(self, *others):
        args = (self, *others)
        return _apply(name, args[::-1] if reflected else args)

    return method


for _name, _row in {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide",
    "floordiv": "floor_divide", "mod": "remainder", "pow": "power", "and": "bitwise_and",
    "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift", "rshift": "right_shift",
}.items():  # fmt: skip
    _row = ufuncs.UFUNCS[_row].name
    setattr(Elements, f"__{_name}__", _method(_row))
    setattr(Elements, f"__r{_name}__", _method(_row, reflected=True))
for _name, _row in {
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal",
    "ne": "not_equal", "neg": "negative", "pos": "positive", "invert": "invert",
}.items():  # fmt: skip
    setattr(Elements, f"__{_name}__", _method(ufuncs.UFUNCS[_row].name))
del _name, _row


# Functions of math, cmath and NumPy whose rows have other names.
_OTHER = {
    "fabs": "absolute", "abs": "absolute", "pow": "power", "acos": "arccos", "asin": "arcsin",
    "atan": "arctan", "atan2": "arctan2", "acosh": "arccosh", "asinh": "arcsinh",
    "atanh": "arctanh",
}  # fmt: skip


def _row_of(name):
    name = _OTHER.get(name, name)
    found = ufuncs.UFUNCS.get(name)
    return found.name if found is not None else None


def _served(function, name):
    """A function of numbers that takes elements, too."""
    row = _row_of(name)

    def either(*args, **keywords):
        if not any(isinstance(x, Elements) for x in args):
            return function(*args, **keywords)
        if name == "log" and len(args) == 2:
            return _apply("log", args[:1]) / either(args[1])
        if row is None or keywords:
            raise NotImplementedError(
                message("grad", "the derivative of this function is not yet available", name,
                        "another function, or nb.custom_gradient")
            )  # fmt: skip
        return _apply(row, args)

    return either


class _Module:
    """A module whose functions take elements, too."""

    def __init__(self, module):
        self._module = module

    def __getattr__(self, name):
        found = getattr(self._module, name)
        if isinstance(found, type):
            return _conversion(found)
        return _served(found, name) if callable(found) else found


def _conversion(kind):
    """float(x), int(x), numpy.float32(x)."""

    def convert(x=0, *rest):
        if not isinstance(x, Elements):
            return kind(x, *rest)
        return Elements(x.array.astype(numpy.dtype(kind)), x.run)

    return convert


_BUILTINS = {
    **vars(builtins), "float": _conversion(float), "int": _conversion(int),
    "complex": _conversion(complex), "bool": _conversion(bool),
}  # fmt: skip
_MODULES = ("math", "cmath", "numpy", "numbus", "cupy", "torch")


def _converted(value, seen):
    """What a name of the function stands for, so that it takes elements."""
    if isinstance(value, python_types.ModuleType):
        return _Module(value) if value.__name__.split(".")[0] in _MODULES else value
    if isinstance(value, Dispatcher):
        return _function(value.py_func, seen)
    if hasattr(value, "py_func") and hasattr(value, "scalar"):  # another of @vectorize
        return _function(value.py_func, seen)
    if isinstance(value, python_types.FunctionType):
        return _function(value, seen)
    if isinstance(value, type):
        return _conversion(value) if issubclass(value, numpy.generic) else value
    module = getattr(value, "__module__", None) or ""
    if isinstance(value, (numpy.ufunc, _core.ufunc)):
        return _served(value, value.__name__)
    if isinstance(value, python_types.BuiltinFunctionType) and module.split(".")[0] in _MODULES:
        return _served(value, value.__name__)
    return value


def _function(function, seen):
    """A copy of a function whose globals and closure take elements."""
    if function in seen:
        return seen[function]
    names = {"__builtins__": _BUILTINS}
    copy = python_types.FunctionType(
        function.__code__, names, function.__name__, function.__defaults__,
        tuple([python_types.CellType() for _ in function.__closure__ or ()]),
    )  # fmt: skip
    copy.__kwdefaults__ = function.__kwdefaults__
    seen[function] = copy
    for name in _names(function.__code__):
        if name in function.__globals__:
            names[name] = _converted(function.__globals__[name], seen)
    for mine, its in zip(copy.__closure__ or (), function.__closure__ or (), strict=True):
        mine.cell_contents = _converted(its.cell_contents, seen)
    return copy


def _names(code):
    """The names that a function and those inside of it look up."""
    found = set(code.co_names)
    for inner in code.co_consts:
        if isinstance(inner, python_types.CodeType):
            found |= _names(inner)
    return found


def has_loops(function, seen=None):
    """Whether a function, or a compiled one that it calls, has a loop or calls itself."""
    seen = {function} if seen is None else seen
    if any("BACKWARD" in i.opname for i in dis.get_instructions(function)):
        return True
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    reached = [function.__globals__.get(name) for name in _names(function.__code__)]
    for value in (*cells, *reached):
        inner = getattr(value, "py_func", None)
        if isinstance(inner, python_types.FunctionType):
            if inner in seen:
                return True
            if has_loops(inner, seen | {inner}):
                return True
    return False


def by_paths(function, args, inputs, output):
    """The function of each element of `args` (arrays and numbers), as an array of dtype `output`.

    inputs: the types of its parameters, or None for those of the arguments.
    """
    arrays = [to_ndarray(x) for x in args]
    shape = numpy.broadcast_shapes(*[a.shape for a in arrays])
    count = math.prod(shape)
    lines = []
    for k, a in enumerate(arrays):
        if inputs is not None:
            a = a.astype(inputs[k], copy=False)
        if a.size == 1 and not isinstance(args[k], _core.ndarray):
            lines.append(a[()] if inputs is not None else args[k])  # a number, which may be weak
        else:
            lines.append(_core.broadcast_to(a, shape).reshape((count,)))
    result = _core.full((count,), 0, output)
    called = _function(function, {})
    pending = [(None, [])]
    while pending and count:
        part, answers = pending.pop()
        run = _Run(list(answers))
        given = [
            Elements(a if part is None else a[part], run) if isinstance(a, _core.ndarray) else a
            for a in lines
        ]
        try:
            found = called(*given)
        except _Split as split:
            where = numpy.arange(count) if part is None else part
            for value in numpy.unique(split.answers):
                chosen = where[split.answers == value]
                pending.append((chosen, [*run.answers, value.item()]))
            continue
        found = to_ndarray(_operand(found)).astype(output)
        result[slice(None) if part is None else part] = found
    return result.reshape(shape)
