"""What users see when a function cannot be compiled, or notes an error as it runs."""

import builtins
import inspect
import linecache
import re
import struct

import numpy

from ..core.given import array_like


class CompileError(TypeError):
    """A function cannot be compiled: a mistake, or something that is not supported yet.

    Shows the line with a mark, the types found and, where there is one, what to write instead.
    """

    def __init__(self, message, node=None, function=None, hint="", position=None):
        self.plain, self.hint = message, hint
        file = name = None
        line = col = end = 0
        if position is not None:
            file, name, line, col, end_line, end = position
            if end_line != line:
                end = 0
        elif function is not None:
            file, name = function.__code__.co_filename, function.__name__
            line = function.__code__.co_firstlineno
            if node is not None:
                line, col = node.lineno, node.col_offset
                end = node.end_col_offset if node.end_lineno == line else 0
        self.file, self.function, self.line = file, name, line
        super().__init__(_show(message, hint, file, name, line, col, end))


def bind(function, args, kwargs=None):
    """The arguments of a call, by position and with defaults; TypeError where they do not fit."""
    signature = inspect.signature(function)
    try:
        bound = signature.bind(*args, **(kwargs or {}))
    except TypeError as error:
        raise TypeError(
            f"[{function.__name__}] wrong number of arguments; got "
            f"{len(args) + len(kwargs or ())}; expected {len(signature.parameters)} ({error})"
        ) from None
    bound.apply_defaults()
    return tuple(bound.arguments.values())


class UnsupportedError(CompileError, NotImplementedError):
    """Python that compiled functions do not know yet."""


def _show(message, hint, file, name, line, col, end):
    text = f"[jit] {message}"
    if file:
        text += f"\n  in {name}, {file}:{line}"
        source = linecache.getline(file, line).rstrip("\n")
        if source.strip():
            text += f"\n  {source}"
            width = max(1, (end or len(source)) - col)
            text += "\n  " + " " * col + "^" * min(width, max(1, len(source) - col))
    if hint:
        text += f"\n  instead: {hint}"
    return text


def raise_compile_error(message, hint, file, function, line, col, end_line, end_col, unsupported):
    """Called by the core."""
    kind = UnsupportedError if unsupported else CompileError
    raise kind(message, hint=hint, position=(file, function, line, col, end_line, end_col))


# By the names under which compiled code raises them.
_exceptions = {"numpy.exceptions.AxisError": numpy.exceptions.AxisError}
_named_tuples = {}  # classes to their numbers
_classes = []


def exception_name(cls):
    """The name under which compiled functions raise this class."""
    known = getattr(builtins, cls.__name__, None)
    name = cls.__name__ if known is cls else f"{cls.__module__}.{cls.__qualname__}"
    _exceptions[name] = cls
    return name


def is_one(error, names):
    """Called by the core: whether an error is of one of these classes, a name each line."""
    kinds = [_exceptions.get(n) or getattr(builtins, n) for n in names.split("\n")]
    return isinstance(error, tuple(kinds))


def noted(exception, text, first, second, arguments):
    """Called by the core: the exception that a compiled function noted (frontend/raised.cpp)."""
    kind = _exceptions.get(exception) or getattr(builtins, exception, None)
    if not (isinstance(kind, type) and issubclass(kind, BaseException)):
        kind = RuntimeError
    if arguments is None and "\x1f" not in text:
        arguments = (_filled(text, first, second),) if text else ()
    elif arguments is None:
        arguments = [_argument(part, first, second) for part in text.split("\x1f")[:-1]]
    try:
        return kind(*arguments)
    except TypeError:
        # A class of the program's that takes other arguments than Python's own: what is raised by
        # its name alone has none.
        return kind.__new__(kind, *arguments)


def _argument(part, first, second):
    """What stands for one argument of an exception: a string, or the text of another value."""
    text = _filled(part, first, second)
    if part[:1] != "\x1e":
        return text
    known = {"None": None, "True": True, "False": False}
    text = text[1:]
    return known[text] if text in known else float(text) if part[-2:] == "f}" else int(text)


def _filled(text, first, second):
    return _POSITIONS.sub(lambda found: _noted(found[0], first, second), text)


def raise_noted(error, file, function, line, position):
    """Called by the core: an error that a compiled function noted, with its line."""
    where = f"in {function}, {file}:{line}" if file else ""
    source = linecache.getline(file, line).strip() if file else ""
    if position is not None:
        where += f"{', ' if where else ''}thread {tuple(position[0])}, block {tuple(position[1])}"
    error.add_note(where + (f"\n  {source}" if source else ""))
    raise error


def raise_conflict(element, first, second, block):
    """Called by the core: two threads of a block whose steps do not fit together.

    element: (array, index) of a race, or None where they wait at different barriers. Each
    thread is (what it does, its index, (file, function, line) or None).
    """
    if element is not None:
        name, index = element
        where = f"{name}[{', '.join(map(str, index))}]"
        text = (
            f"[cuda] a race: two threads of block {block} use {where} of shared memory with no "
            f"barrier between; got {_access(second)} and {_access(first)}; expected "
            "cuda.syncthreads() between them, or atomics"
        )
        steps = [(second, _access(second)), (first, _access(first))]
    else:
        text = (
            f"[cuda] threads of block {block} do not meet at one barrier; got thread {first[1]} "
            f"that waits and thread {second[1]} that {_waiting(second)}; expected every thread of "
            "the block at the same one"
        )
        steps = [(one, f"thread {one[1]} {_waiting(one)}") for one in (first, second)]
    for (_, _, position), what in steps:
        if position is None:
            continue
        file, function, line = position
        text += f"\n  {what}: in {function}, {file}:{line}"
        source = linecache.getline(file, line).strip()
        text += f"\n    {source}" if source else ""
    raise RuntimeError(text)


def _access(step):
    what, thread, _ = step
    return f"{'an atomic' if what == 'atomic' else f'a {what}'} by thread {thread}"


def _waiting(step):
    what = step[0]
    if what is None:
        return "has ended"
    kind = "a barrier" if "barrier" in what else "a warp operation"
    return f"waits at {kind}"


_POSITIONS = re.compile(r"\{\{|\{[01][fbu]?\}")


def _noted(position, first, second):
    if position == "{{":
        return "{"
    word = first if position[1] == "0" else second
    if position[2] == "f":
        return str(struct.unpack("d", struct.pack("q", word))[0])
    if position[2] == "u":
        return str(word % 2**64)
    return str(bool(word) if position[2] == "b" else word)


def named_tuple_class(cls):
    """(number, [its name, its fields' names]): what compiled functions know of such a class."""
    if cls not in _named_tuples:
        _named_tuples[cls] = len(_named_tuples)
        _classes.append(cls)
    return _named_tuples[cls], [cls.__name__, *cls._fields]


def named_tuple(number, items):
    """Called by the core: a named tuple of the class of that number."""
    return _classes[number]._make(items)


class _Memory:
    """An array's memory elsewhere, which `owner` keeps."""

    def __init__(self, owner, address, shape, strides, size):
        self.owner = owner
        self.__array_interface__ = {
            "version": 3,
            "data": (address, not owner.flags.writeable),
            "shape": shape,
            "strides": strides,
            "typestr": f"|V{size}",
        }


def _offsets(dtype):
    """Where the fields that are no records lie in a structured type, in order."""
    found = []
    for name in dtype.names:
        field, at = dtype.fields[name][:2]
        inner = field.base if field.subdtype else field
        found += [at + k for k in _offsets(inner)] if inner.names else [at]
    return found


def records(candidates, names, addresses, shape, strides):
    """Called by the core: a record, or an array of them, in the memory of one of the arguments."""
    for given in candidates:
        array = given if isinstance(given, numpy.ndarray) else given[()]
        array = numpy.asarray(array)
        offsets = _offsets(array.dtype)
        begin = addresses[0] - offsets[0]
        if list(array.dtype.names) != names[1:] or [begin + k for k in offsets] != addresses:
            continue
        low, high = numpy.lib.array_utils.byte_bounds(array)
        if not low <= begin < high and array.size and 0 not in shape:
            continue
        size = array.dtype.itemsize
        found = numpy.asarray(_Memory(array, begin, shape, strides, size)).view(array.dtype)
        if array.dtype.type is not numpy.void:
            found = found.view(type(given)) if isinstance(given, numpy.ndarray) else found
        return found if shape else found[()]
    raise NotImplementedError(
        "[jit] not yet: returning records that do not lie in an argument; got fields "
        f"{', '.join(names[1:])}; expected a part of a structured array that is an argument"
    )


jitclasses = []  # by number


def instance(number, held):
    """Called by the core: an object of the jitclass of that number."""
    return jitclasses[number]._of(held)


def member(name):
    """The function for 'object NUMBER KIND NAME', as the core asks for it; None: there is none."""
    _, number, kind, name = name.split(" ")
    return jitclasses[int(number)]._members.get((kind, name))


def argument(value, function):
    """What the core cannot read itself: the number of a function, an element type, or an array."""
    if isinstance(value, numpy.dtype) or getattr(value, "tag", None) == "number":
        return numpy.dtype(getattr(value, "dtype", value))
    if isinstance(value, type) and issubclass(value, numpy.generic):
        return numpy.dtype(value)
    number = getattr(value, "_kernel_argument", None) or getattr(value, "_kernel_function", None)
    if number is not None:
        return number()
    if isinstance(value, (str, bytes, dict, set, list)):
        what = type(value).__name__
        hint = "numba.typed.Dict" if isinstance(value, dict) else "numbers, arrays, tuples, lists"
        raise TypeError(
            f"[{function}] cannot take an argument of this type; got {what}; expected {hint}"
        )
    if hasattr(value, "__array__"):
        return array_like(value)
    if isinstance(value, numpy.random.Generator):
        raise TypeError(
            f"[{function}] cannot take an argument of this type; got numpy.random.Generator, which "
            "kernels on a GPU do not know; expected an array of random numbers"
        )
    raise TypeError(
        f"[{function}] cannot take an argument of this type; got "
        f"{type(value).__name__}; expected a number, an array or a tuple of these"
    )
