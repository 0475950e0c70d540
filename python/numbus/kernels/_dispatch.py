"""jit and njit."""

import collections
import functools
import inspect
import types as types_
import warnings
import weakref

from .. import _core
from . import _flow, types
from ._declared import Declared
from ._errors import bind
from ._made import make
from ._resolve import name_object, program

__all__ = ["jit", "njit", "prange"]


CompileStats = collections.namedtuple("CompileStats", "cache_path cache_hits cache_misses")


class prange:
    """range() whose iterations may run at the same time, in functions compiled with parallel=True.

    Elsewhere it is range(). Variables that the iterations only add to, multiply, or take the
    minimum or maximum of are combined in an order that does not depend on the number of threads.
    """

    def __new__(cls, *args):
        return range(*args)


name_object(prange, "prange")


def flags(options, names):
    """What the program says about these options; None says nothing."""
    return {k: _flag(k, options[k]) for k in names if options.get(k) is not None}


_FLAGS = {"fast", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc"}
_PARALLEL = {
    "comprehension", "reduction", "inplace_binop", "setitem", "numpy", "stencil", "fusion",
    "prange",
}  # fmt: skip


def _flag(name, value):
    """An option as the core knows it: on or off.

    Some of LLVM's flags allow less than fastmath=True does: without both of what lets sums be
    reassociated nothing changes. Of the parts of parallel= only prange is one.
    """
    if name == "fastmath" and isinstance(value, (set, frozenset, list, tuple, dict)):
        given = {k for k in value if value[k]} if isinstance(value, dict) else set(value)
        if not given <= _FLAGS:
            raise ValueError(
                f"[jit] no such flags of fastmath; got {sorted(map(str, given - _FLAGS))}; "
                f"expected some of {', '.join(sorted(_FLAGS))}"
            )
        return "fast" in given or given >= _FLAGS - {"fast"}
    if name == "parallel" and isinstance(value, dict):
        if not set(value) <= _PARALLEL:
            raise NameError(
                f"[jit] no such part of parallel; got {sorted(map(str, set(value) - _PARALLEL))}; "
                f"expected some of {', '.join(sorted(_PARALLEL))}"
            )
        return bool(value.get("prange", True))
    return bool(value)


def resolver(kernel):
    """What the core calls before it compiles for new types: globals and closure as they are now.

    It does not keep the object alive, which holds the core's.
    """
    of = weakref.ref(kernel)
    if not inspect.isgeneratorfunction(kernel.py_func):
        return lambda: program.anew(of().py_func)
    call = _caller(kernel)
    return lambda: program.anew(call)


def _caller(kernel):
    """A function that gives what a call of a generator function gives: the entry of its code."""
    star = {inspect.Parameter.VAR_POSITIONAL: "*{0}", inspect.Parameter.KEYWORD_ONLY: "{0}={0}"}
    parameters = inspect.signature(kernel.py_func).parameters.values()
    given = ", ".join(star.get(p.kind, "{0}").format(p.name) for p in parameters)
    name = kernel.__name__ if kernel.__name__.isidentifier() else "generator"
    lines = [f"def {name}({', '.join(kernel._names)}):", f"    return numbus_generator({given})"]
    return make(name, lines, numbus_generator=kernel.py_func)


class Dispatcher(_core.Callable):
    """A Python function, compiled for each combination of argument types it is called with."""

    def __init__(self, function, options):
        if not isinstance(function, types_.FunctionType):
            raise TypeError(
                f"[jit] not a Python function; got {function!r}; expected one with source"
            )
        functools.update_wrapper(self, function)
        self.py_func = self._inside = function  # _inside: what other compiled functions call
        self.targetoptions = options
        self._core = self._number = None
        self._signatures = []
        self._declared = None  # the signatures that calls have to fit, where jit was given some
        parameters = inspect.signature(function).parameters.values()
        self._plain = all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)
        self._names = tuple([p.name for p in parameters])
        self._defaults = tuple([p.default for p in parameters if p.default is not p.empty])
        self._count = len(parameters)

    def _kernel_function(self):
        return program.function(self._inside)

    def _kernel_argument(self):
        """As a function among the arguments of a call: as it was at the first such call."""
        if self._number is None:
            self._number = program.anew(self._inside)
        return self._number

    def _make(self):
        names = "parallel", "fastmath", "boundscheck", "wraparound", "debug"  # the fourth: of loops
        options = flags(self.targetoptions, names)
        options["python_errors"] = self.targetoptions.get("error_model", "python") == "python"
        self._core = _core.Dispatcher(resolver(self), options, self.py_func.__name__, self._count)
        self._core.release_gil = bool(self.targetoptions.get("nogil"))
        if self._plain and self._declared is None:
            self._serve(self._core, self._names, self._defaults)
        return self._core

    def _call_with(self, *args, **kwargs):
        """A call that the core does not answer by itself: the first one, those with declared
        signatures, and those that do not fit the parameters as they are.
        """
        if kwargs or len(args) != self._count or not self._plain:
            args = bind(self.py_func, args, kwargs)
        if self._declared is not None:
            args, convert = self._declared.fit(self.__name__, args)
            result = self._core.call(*args)
            return result if convert is None else convert(result)
        return (self._core or self._make()).call(*args)

    def record(self, *args, types=None, looping=False):
        """The function of the elements of Numbus arrays, recorded as steps that fuse with others.

        types: dtypes that the arguments are converted to first. None where the function uses
        memory, can fail, is too long, or (with looping=True) has no loops.
        """
        return (self._core or self._make()).record(*args, types=types, looping=looping)

    def compile(self, signature):
        """Compiles for a signature now: 'float64(float64, int64)' or types called as a function.

        Returns the function itself. Raises TypeError for another number of arguments, CompileError
        where it does not compile.
        """
        arguments, _ = types.signature(signature)
        if self._plain and len(arguments) != self._count:
            raise TypeError(
                f"[{self.__name__}] a signature has the wrong number of arguments; "
                f"got {signature}; expected {self._count}"
            )
        (self._core or self._make()).compile_for(list(arguments))
        self._signatures.append(tuple(arguments))
        return self

    def recompile(self):
        """Compiles anew for all signatures that it is compiled for, with the globals and closure of
        now.
        """
        before = self._core
        if before is None:
            return
        self._make().compile_like(before)
        self._core.only_declared = before.only_declared

    def disable_compile(self, val=True):
        """Has calls with argument types that it is not compiled for raise TypeError; val=False: has
        them compile again.
        """
        (self._core or self._make()).only_declared = bool(val)

    @property
    def signatures(self):
        """The argument types it is compiled for, a tuple for each combination."""
        return [types.from_core(s) for s in self._core.signatures] if self._core else []

    @property
    def overloads(self):
        """{argument types: the function}, an entry for each combination it is compiled for."""
        return {tuple(s): self for s in self.signatures}

    @property
    def nopython_signatures(self):
        """Signatures of all combinations of argument types it is compiled for, with results."""
        results = types.from_core(self._core.results) if self._core else []
        return [types.Signature(r, s) for r, s in zip(results, self.signatures, strict=True)]

    def inspect_llvm(self, signature=None):
        """The optimised LLVM IR of each compiled combination of argument types, or of one.

        {(float64, array(float64, 1d, C)): text, …}; with a signature, its text.
        """
        return self._inspect("llvm", signature)

    def inspect_asm(self, signature=None):
        """The host's assembly of each compiled combination of argument types, or of one."""
        return self._inspect("asm", signature)

    def inspect_types(self, file=None, signature=None, pretty=False):
        """Prints the typed kernel IR of each compiled combination of argument types, or of one."""
        if pretty:
            raise NotImplementedError(
                "[inspect_types] no coloured output; got pretty=True; expected pretty=False"
            )
        texts = self._inspect("ir", None)
        if signature is not None:
            texts = {signature: types.of_signature(texts, signature)}
        for key, text in texts.items():
            print(key, text, sep="\n", file=file)

    @property
    def stats(self):
        """CompileStats of this function: the folder of stored code, and how many times code for
        a combination of argument types came from there (cache_hits) or was compiled (cache_misses).
        """
        hits, misses = collections.Counter(), collections.Counter()
        for signature, all_ in self._compiled().items():
            for from_disk, *_ in all_:
                (hits if from_disk else misses)[signature] += 1
        return CompileStats(_core.disk_cache()["directory"], hits, misses)

    def _compiled(self):
        """{argument types: what the core says of each code for them}."""
        found = {}
        for described, values in self._core.compiled if self._core else ():
            found.setdefault(types.from_core(described), []).append(values)
        return found

    def get_metadata(self, signature=None):
        """What is known of the compilation of each combination of argument types, or of one.

        {types: {"from_disk": whether all of the code came from there, "milliseconds": that making
        it took, "functions": how many it is made of}}; with a signature, the inner dict.
        """
        known = {}
        for key, all_ in self._compiled().items():
            disk, times, functions = zip(*all_, strict=True)
            known[key] = {
                "from_disk": all(disk),
                "milliseconds": sum(times),
                "functions": sum(functions),
            }
        return known if signature is None else types.of_signature(known, signature)

    def inspect_cfg(self, signature=None):
        """The control flow of the optimised LLVM IR of each compiled combination of argument types,
        or of one: a ControlFlow for each.
        """
        return self._flow("llvm", _flow.of_llvm, signature)

    def inspect_disasm_cfg(self, signature=None):
        """The control flow of the host's assembly of each compiled combination of argument types,
        or of one: a ControlFlow for each.
        """
        return self._flow("asm", _flow.of_assembly, signature)

    def _flow(self, what, read, signature):
        texts = {s: read(text) for s, text in self._inspect(what, None).items()}
        return texts if signature is None else types.of_signature(texts, signature)

    def _inspect(self, what, signature):
        texts = types.by_signature(self._core.inspect(what) if self._core else ())
        return texts if signature is None else types.of_signature(texts, signature)

    def __getitem__(self, configuration):
        raise TypeError(
            f"[{self.__name__}] only kernels are launched with a grid; got {self.__name__}[…]; "
            "expected a function made by @cuda.jit"
        )

    __iter__ = None

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self):
        return f"<numbus.jit {self.py_func.__qualname__}>"


_OPTIONS = {
    "nopython",
    "parallel",
    "fastmath",
    "cache",
    "nogil",
    "boundscheck",
    "error_model",
    "inline",
    "debug",
    "forceobj",
    "looplift",
    "no_cpython_wrapper",
    "no_cfunc_wrapper",
    "no_rewrites",
    "locals",
    "target",
}


def jit(signature_or_function=None, **options):
    """Compiles a Python function to native code at its first call with new argument types.

    As @jit, @jit(parallel=True), @jit('float64(float64)') or jit(function). Options: parallel
    (prange uses several threads), fastmath (reassociates floats), nogil, boundscheck (on unless
    False: an index outside of its array is an IndexError), debug,
    error_model ('python' or 'numpy': whether Python's own numbers raise ZeroDivisionError), cache
    and nopython (always on), inline (LLVM decides). What no_cpython_wrapper, no_cfunc_wrapper
    and no_rewrites turn off in Numba, there is none of here. Raises CompileError where it does not
    compile, NotImplementedError for locals, forceobj and looplift.
    """
    unknown = set(options) - _OPTIONS
    if unknown:
        raise TypeError(
            f"[jit] no such option; got {', '.join(sorted(unknown))}; expected one of "
            f"{', '.join(sorted(_OPTIONS))}"
        )

    _refuse(options)
    flags(options, ("parallel", "fastmath"))
    given = signature_or_function
    declared = []
    if given is not None and not callable_function(given):
        several = isinstance(given, (list, tuple)) and not types.is_arguments(given)
        declared = [(s, types.signature(s)) for s in (given if several else [given])]

    def decorate(function):
        made = Dispatcher(function, options)
        if declared:
            made._declared = Declared()
        with program.declaring(function):
            for s, parts in declared:
                made.compile(s)
                made._declared.add(*parts)
        return made

    return decorate(given) if callable_function(given) else decorate


def _refuse(options):
    """Raises for options that would have to change something and do not."""
    if options.get("locals"):
        raise NotImplementedError(
            f"[jit] types of variables cannot be declared; got locals={options['locals']!r}; "
            "expected conversions in the function, such as x = np.float32(x)"
        )
    for name in ("forceobj", "looplift"):
        if options.get(name):
            raise NotImplementedError(
                f"[jit] there is no object mode; got {name}={options[name]!r}; expected a function "
                "that compiles, or a plain one"
            )
    if options.get("target") not in (None, "cpu"):
        raise ValueError(
            f"[jit] no such target; got {options['target']!r}; expected 'cpu', or cuda.jit"
        )
    if options.get("error_model", "python") not in ("python", "numpy"):
        raise ValueError(
            f"[jit] no such error_model; got {options['error_model']!r}; expected 'python' or "
            "'numpy'"
        )


def callable_function(value):
    """Whether this is the function to decorate rather than a signature."""
    return callable(value) and not isinstance(value, types.Type)


def njit(*args, **options):
    """jit(nopython=True), which is what jit is."""
    for name in ("forceobj", "nopython"):
        if name in options:
            warnings.warn(f"[njit] {name} is set and ignored", RuntimeWarning, stacklevel=2)
            del options[name]
    return jit(*args, **options)
