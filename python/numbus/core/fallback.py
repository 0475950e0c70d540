"""What Numbus lacks: one mechanism that lets NumPy do it on host memory, counted and named with its
line.
"""

import functools
import importlib
import importlib.machinery
import operator
import os
import sys
import types

import numpy

from .. import _core
from .errors import ForeignDtype
from .host import about_memory
from .operands import library
from .quick import few, quick

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_NUMPY = os.path.dirname(os.path.abspath(numpy.__file__)) + os.sep


class FallbackError(NotImplementedError):
    """Raised under `python -m numbus --strict` in place of a fallback to NumPy."""


class _State:
    def __init__(self):
        self.strict = False
        self.calls = {}  # (name, file, line) -> count
        self.by_signature = None  # the ufunc of a name by its keyword `signature`; see ufuncs
        self.of_tensors = None  # the same of operands among which are tensors
        # Whether a source file is the user's own; the runner knows better.
        self.is_user = lambda file: True


state = _State()

# Functions that compute nothing on array data, or whose work belongs on the host: not fallbacks.
# The last line: what they make is NumPy's own (matrices, ufuncs of Python functions, iterators).
UNCOUNTED = frozenset(
    """array_repr array_str array2string format_float_positional format_float_scientific base_repr
    binary_repr can_cast promote_types min_scalar_type mintypecode common_type typename issubdtype
    isdtype
    shares_memory may_share_memory broadcast_shapes seterr geterr seterrcall geterrcall setbufsize
    getbufsize set_printoptions get_printoptions printoptions errstate show_config show_runtime
    get_include info test einsum_path normalize_axis_index normalize_axis_tuple
    save savez savez_compressed savetxt loadtxt genfromtxt fromfile fromstring fromregex
    iterable isscalar isfortran get_array_wrap asarray_chkfinite datetime_data datetime_as_string
    asmatrix bmat frompyfunc nested_iters""".split()
)

# What the core answers of them by itself.
_QUICK = {
    "isfortran": "isfortran",
    "may_share_memory": "shares_memory",
    "shares_memory": "shares_memory",
}


class _Inner(dict):
    """Whether a source file is Numbus's or NumPy's, by its name."""

    def __missing__(self, file):
        inner = file.startswith((_HERE, _NUMPY, "<__array_function__", "<frozen"))
        if len(self) < 10_000:  # programs can make files without end
            self[file] = inner
        return inner


_inner = _Inner()


def caller_frame():
    """The innermost frame that is neither Numbus nor NumPy, or None."""
    frame = sys._getframe(1)
    while frame is not None and _inner[frame.f_code.co_filename]:
        frame = frame.f_back
    return frame


def caller():
    """Its (file, line)."""
    frame = caller_frame()
    return ("<unknown>", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def record(name):
    """Counts one fallback called `name` (such as 'numpy.sort'); raises FallbackError under
    --strict.
    """
    file, line = caller()
    if state.strict and state.is_user(file):
        raise FallbackError(
            f"[{name}] has no Numbus implementation; got a call at {file}:{line}; expected "
            f"a function that Numbus runs itself (run without --strict)"
        )
    key = (name, file, line)
    state.calls[key] = state.calls.get(key, 0) + 1
    _core.count_fallback(name)


def call(name, function, args, kwargs):
    """Calls NumPy's `function` on views of the arguments and wraps the results; counted under
    `name`.
    """
    record(name)
    return library(function, args, kwargs)


# The operators of Python by the row of the table that computes them, and the assigning ones.
OPERATORS = {
    "add": ("add", "iadd"),
    "subtract": ("sub", "isub"),
    "multiply": ("mul", "imul"),
    "divide": ("truediv", "itruediv"),
    "floor_divide": ("floordiv", "ifloordiv"),
    "remainder": ("mod", "imod"),
    "power": ("pow", "ipow"),
    "bitwise_and": ("and_", "iand"),
    "bitwise_or": ("or_", "ior"),
    "bitwise_xor": ("xor", "ixor"),
    "left_shift": ("lshift", "ilshift"),
    "right_shift": ("rshift", "irshift"),
    "less": ("lt", None),
    "less_equal": ("le", None),
    "equal": ("eq", None),
    "not_equal": ("ne", None),
    "greater": ("gt", None),
    "greater_equal": ("ge", None),
    "negative": ("neg", None),
    "positive": ("pos", None),
    "absolute": ("abs", None),
    "invert": ("invert", None),
}


def operate(row, x, y, in_place):
    """The core's hook: an operator on operands, or in a type, that only NumPy has."""
    function = getattr(operator, OPERATORS[row][in_place])
    unary = row in ("negative", "positive", "absolute", "invert")
    return call("numpy." + row, function, (x,) if unary else (x, y), {})


def ufunc(row, args, kwargs):
    """The core's hook: a ufunc by a signature, or on operands, or in a type, that only NumPy
    has.
    """
    if any([isinstance(x, _core.TensorBase) for x in args]):
        return state.of_tensors(row, args, kwargs or {})
    if kwargs and ("signature" in kwargs or "sig" in kwargs):
        try:
            return state.by_signature(row, args, kwargs)
        except ForeignDtype:
            pass
    return call("numpy." + row, getattr(numpy, row), args, kwargs or {})


def make(name, function, counted=True):
    """A function that does `call(name, function, …)`, or the same uncounted for a library call."""
    if counted:

        def wrapper(*args, **kwargs):
            record(name)
            return library(function, args, kwargs)
    else:

        def wrapper(*args, **kwargs):
            return library(function, args, kwargs)

    wrapper.__name__ = wrapper.__qualname__ = getattr(function, "__name__", name.rpartition(".")[2])
    wrapper.__doc__ = getattr(function, "__doc__", None)
    wrapper.__wrapped__ = function
    wrapper.counted = counted
    return wrapper


def foreign(function, original=None):
    """`function`, or NumPy's function of that name where an operand is one only NumPy can hold;
    what it makes lies on the device of its operands.
    """
    name = function.__name__
    return _core.composed(function, make("numpy." + name, original or getattr(numpy, name)))


class Ufunc:
    """A ufunc of NumPy's that the table of operations has not: called on views, counted."""

    def __init__(self, name, function):
        self._name, self._ufunc = name, function
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__

    def __call__(self, *args, **kwargs):
        return call(self._name, self._ufunc, args, kwargs)

    def __getattr__(self, name):
        value = getattr(self._ufunc, name)
        if name in ("reduce", "accumulate", "outer", "at", "reduceat"):
            return make(f"{self._name}.{name}", value)
        return value

    def __repr__(self):
        return repr(self._ufunc)


def composed(function, original, name):
    """`function`, with calls of few elements answered by NumPy's `original`, and plain ones by the
    core.
    """
    if name in _QUICK:
        quick(_QUICK[name])(function)
    made = _core.composed(few(original)(function))
    made.counted = False
    return made


class Vectorize(numpy.vectorize):
    """numpy.vectorize whose calls take and give Numbus arrays."""

    def __call__(self, *args, **kwargs):
        if getattr(self, "pyfunc", None) is None or self.pyfunc is numpy._NoValue:
            return super().__call__(*args, **kwargs)
        return call("numpy.vectorize", super().__call__, args, kwargs)


def resolve(value, name, counted=True):
    """What a name of NumPy's stands for in Numbus: a wrapper for functions, a mirror for modules,
    else itself.

    Exceptions, dtypes, constants and types are not fallbacks and pass through untouched.
    """
    if isinstance(value, types.ModuleType):
        return mirror(value) if value.__name__.startswith("numpy") else value
    if value is numpy.vectorize:
        return Vectorize
    if isinstance(value, type):
        return value
    if isinstance(value, numpy.ufunc):
        return Ufunc(name, value)
    if callable(value) and type(value).__module__ in ("builtins", "numpy"):
        own = name.rpartition(".")[2]
        made = make(name, value, counted and own not in UNCOUNTED)
        if own in ("shares_memory", "may_share_memory"):
            return composed(about_memory(value, made), value, own)
        return composed(made, value, own) if not made.counted else made
    return value


# Modules of ours for the functions of NumPy's that are in no namespace of Numbus.
_OURS = {"numpy.lib.stride_tricks": "numbus.functions.strides"}


class Mirror(types.ModuleType):
    """A module of NumPy's whose functions are wrapped on first use."""

    def __init__(self, real):
        super().__init__("numbus" + real.__name__[len("numpy") :], real.__doc__)
        self.__dict__["_real"] = real
        if hasattr(real, "__all__"):
            self.__all__ = list(real.__all__)

    def __getattr__(self, name):
        real = self.__dict__["_real"]
        if name == "__path__":
            if hasattr(real, "__path__"):
                return []
            raise AttributeError(name)
        if name.startswith("__") and name not in self.__dict__.get("__all__", ()):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = getattr(real, name)
        ours = _public(real, name, value)
        if ours is None and real.__name__ in _OURS:
            home = importlib.import_module(_OURS[real.__name__])
            ours = foreign(getattr(home, name), value) if name in home.__all__ else None
        result = ours if ours is not None else resolve(value, f"{real.__name__}.{name}")
        self.__dict__[name] = result
        return result

    def __dir__(self):
        return dir(self.__dict__["_real"])


def _public(real, name, value):
    """Numbus' own version of what NumPy, or a package that `real` is a module of, has under that
    name, too; None: there is none.
    """
    if isinstance(value, types.ModuleType):
        return None
    if value is numpy.random.mtrand._rand:
        return importlib.import_module("numbus.random").shared()
    packages = real.__name__.split(".")[:-1]
    for n in range(1, max(2, len(packages) + 1)):
        path = ".".join(packages[:n] or ["numpy"])
        theirs, ours = sys.modules[path], sys.modules.get("numbus" + path[len("numpy") :])
        if ours is not None and getattr(theirs, name, None) is value:
            return getattr(ours, name, None)
    return None


def mirror(real):
    """The mirror of a NumPy module, or the module of ours that takes its place."""
    # Of NumPy's private modules there are none of ours; numpy.core finds its own in one.
    if real.__name__.startswith("numpy._"):
        return Mirror(real)
    return importlib.import_module("numbus" + real.__name__[len("numpy") :])


class _MirrorFinder:
    """Makes `import numbus.lib.stride_tricks` work for every NumPy module that Numbus does not
    have.
    """

    def find_spec(self, name, _path=None, _target=None):
        if not name.startswith("numbus.") or name.startswith("numbus._"):
            return None
        try:
            real = importlib.import_module("numpy" + name[len("numbus") :])
        except ImportError:
            return None
        spec = importlib.machinery.ModuleSpec(name, self, is_package=hasattr(real, "__path__"))
        spec.loader_state = real
        return spec

    def create_module(self, spec):
        return Mirror(spec.loader_state)

    def exec_module(self, _module):
        pass


sys.meta_path.append(_MirrorFinder())


def lookup(name):
    """The value of `numbus.name` for a name that only NumPy has; AttributeError if it
    has it not.
    """
    if name.startswith("__") or name not in _numpy_names():
        raise AttributeError(f"module 'numbus' has no attribute {name!r}")
    return resolve(getattr(numpy, name), "numpy." + name)


@functools.cache
def _numpy_names():
    return frozenset(dir(numpy)) | frozenset(getattr(numpy, "__all__", ()))


def report_lines():
    """Lines of text for `--report`: each fallback with its count and lines it was
    called from.
    """
    by_name = {}
    for (name, file, line), count in state.calls.items():
        by_name.setdefault(name, []).append((count, file, line))
    lines = []
    for name, positions in sorted(by_name.items(), key=lambda item: -sum(p[0] for p in item[1])):
        total = sum(position[0] for position in positions)
        lines.append(f"  {name}: {total} call{'s' * (total != 1)}")
        lines += [f"      {file}:{line}  {count}×" for count, file, line in sorted(positions)[::-1]]
    return lines
