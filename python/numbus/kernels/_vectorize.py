"""vectorize: a function of numbers becomes a function of arrays, as NumPy's ufuncs are."""

import functools
import inspect

import numpy

from .. import _core
from .._core import ndarray
from ..core import derivatives, dtypes
from ..core.dtypes import kind_of
from ..core.host import on_host, runs_on_host
from ..functions.creation import asarray
from . import types
from ._dispatch import Dispatcher, callable_function, prange
from ._errors import CompileError
from ._folding import Folding
from ._generate import (
    PYTHON,
    compiled,
    host,
    make,
    new_array,
    on_gpu,
    operand,
    result_dtype,
    subscripted,
)
from ._resolve import program

__all__ = ["DUFunc", "vectorize"]

_DOUBLE = numpy.dtype(numpy.float64)
TARGETS = ("cpu", "parallel", "cuda")
THREADS = 256  # of a block, where a GPU runs the loop
_LARGE = 1 << 15  # elements from which on NumPy's arrays are worth the detour by ours


def read_signatures(given):
    """[(argument types, result type or None)] of one signature or a list of them."""
    if given is None:
        return []
    several = isinstance(given, list) or (
        isinstance(given, tuple) and not types.is_arguments(given)
    )
    return [types.signature(s) for s in (given if several else [given])]


def fits(dtype, value):
    """Whether a value can become that dtype without loss; Python's numbers take any kind of theirs.

    value: a dtype, or a Python number.
    """
    if isinstance(value, bool):
        return True
    if isinstance(value, int):
        if dtype.kind in "iu":
            info = numpy.iinfo(dtype)
            return info.min <= value <= info.max
        return kind_of(dtype) in "fc"
    if isinstance(value, float):
        return kind_of(dtype) in "fc"
    if isinstance(value, complex):
        return dtype.kind == "c"
    return dtypes.can_cast(value, dtype, "safe")


def describe(values):
    """'float64, int' of dtypes and Python numbers."""
    return ", ".join(
        type(v).__name__ if isinstance(v, PYTHON) else numpy.dtype(v).name for v in values
    )


def _narrowed(kinds, which):
    """Python's numbers as narrow as the floats of the arrays that they meet, as a ufunc's are."""
    strong = [k for k in kinds if not isinstance(k, PYTHON)]
    common = dtypes.result_type(*strong) if strong else numpy.dtype(bool)
    if kind_of(common) not in "fc":
        return kinds
    real = numpy.empty(0, common).real.dtype

    def narrow(k):
        if type(k) not in which:
            return k
        return dtypes.result_type(real, numpy.complex64) if isinstance(k, complex) else real

    return tuple(map(narrow, kinds))


def plain_function(function, options):
    """The function that a compiled one is made of, and its options with those given here."""
    if not isinstance(function, Dispatcher):
        return function, options
    own = {k: function.targetoptions[k] for k in _OF_FUNCTIONS if k in function.targetoptions}
    return function.py_func, {**own, **options}


def of_functions(options):
    """Of these options, those of the function that the loops call."""
    return {k: v for k, v in options.items() if k in _OF_FUNCTIONS} | {"error_model": "numpy"}


class Loop:
    """One declared combination of types."""

    def __init__(self, inputs, output):
        self.inputs, self.output = inputs, output

    @property
    def text(self):
        return "".join(d.char for d in self.inputs) + "->" + self.output.char


class DUFunc(Folding):
    """A function of numbers as a function of arrays: broadcasts, with NumPy's ufunc methods.

    Made by @vectorize. Called with arrays and numbers of any shapes that broadcast; gives a NumPy
    array, a Numbus array where an argument is one, and a number for numbers. Declared signatures:
    the first one that the arguments fit into safely. Without: compiled for what comes.
    """

    def __init__(self, function, signatures, identity, target, options):
        function, options = plain_function(function, options)
        functools.update_wrapper(self, function)
        if target not in TARGETS:
            raise ValueError(
                f"[vectorize] no such target; got {target!r}; expected one of {', '.join(TARGETS)}"
            )
        self.py_func = function
        if target == "cuda":
            _core.ask_for_gpu()
        self.target, self.identity, self.targetoptions = target, identity, options
        self.nin = len(inspect.signature(function).parameters)
        self.nout, self.nargs, self.signature = 1, self.nin + 1, None
        self._options = of_functions(options)
        # The scalar function, which the loops call.
        self.scalar = Dispatcher(function, self._options)
        self._loops = []
        self._found = {}  # (dtypes, Python numbers by type) to Loop or result dtype
        self._codes = {}  # shape of the loop nest to compiled function
        self._numbers = {}  # Python numbers' types to the result's, where nothing is converted
        self._quick = {}  # dtypes of contiguous arrays of one shape to (function, result dtype)
        for arguments, result in signatures:
            self.add((arguments, result))
        self._declared = bool(self._loops)

    def _kernel_loops(self):
        """What compiled functions that call it see: the scalar function, the declared types."""
        loops = [(*loop.inputs, loop.output) for loop in self._loops] if self._declared else []
        return "vectorized", program.function(self.py_func), loops

    def add(self, signature):
        """Declares a signature: a string, a type called with others, or (arguments, result)."""
        pair = isinstance(signature, tuple) and len(signature) == 2
        if not (pair and isinstance(signature[0], tuple)):
            signature = types.signature(signature)
        arguments, result = signature
        if len(arguments) != self.nin:
            raise TypeError(
                f"[vectorize] a signature of {self.__name__} has the wrong number of types; got "
                f"{len(arguments)}; expected {self.nin}"
            )
        for t in (*arguments, *([result] if result is not None else [])):
            if t.tag != "number":
                raise TypeError(
                    f"[vectorize] signatures are made of numbers' types; got {t!r}; expected such "
                    "as 'float64(float64)'"
                )
        inputs = tuple(numpy.dtype(t.dtype) for t in arguments)
        if result is None:
            output = self._output(inputs)
        else:
            output = numpy.dtype(result.dtype)
            self._output(inputs)  # a mistake in the function is told where it is declared
        self._loops.append(Loop(inputs, output))
        self._found.clear()
        self._numbers.clear()
        self._quick.clear()

    def build_ufunc(self):
        """Itself: it is one already."""
        return self

    def disable_compile(self):
        """From now on only the types known so far are taken."""
        self._declared = True

    @property
    def ufunc(self):
        return self

    @property
    def types(self):
        """The loops it has, as NumPy writes them: ['dd->d']."""
        return [loop.text for loop in self._loops]

    @property
    def ntypes(self):
        return len(self._loops)

    def _output(self, args):
        """The result's dtype for dtypes and Python numbers."""
        samples = [a if isinstance(a, PYTHON) else numpy.zeros(0, a) for a in args]
        return result_dtype(self.scalar, samples)

    def _choose(self, kinds):
        """The loop for dtypes and Python numbers."""
        key = tuple(
            (type(k), k if type(k) is int and self._declared else None)
            if isinstance(k, PYTHON)
            else k
            for k in kinds
        )
        found = self._found.get(key)
        if found is not None:
            return found
        if self._declared:
            tries = [kinds]
            if all(isinstance(k, PYTHON) for k in kinds):
                # Nothing to yield to: Python's numbers are of NumPy's own default types first.
                tries.insert(0, [numpy.asarray(k).dtype for k in kinds])
            fitting = (
                loop
                for given in tries
                for loop in self._loops
                if all(fits(d, k) for d, k in zip(loop.inputs, given, strict=True))
            )
            loop = next(fitting, None)
            if loop is None:
                raise TypeError(
                    f"[{self.__name__}] no declared loop takes these types safely; got "
                    f"({describe(kinds)}); expected one of {', '.join(self.types)}"
                )
        else:
            try:
                narrowed = _narrowed(kinds, (int, float, complex))
                output = self._output(narrowed)
            except CompileError:  # an integer that counts or indexes
                narrowed = _narrowed(kinds, (float, complex))
                output = self._output(narrowed)
            loop = Loop(None if narrowed == kinds else narrowed, output)
            if not any(isinstance(k, PYTHON) for k in kinds):
                loop.inputs = tuple(kinds)
                if loop.text not in self.types:
                    self._loops.append(loop)
                loop = Loop(None, loop.output)
        if len(self._found) < 1024:
            self._found[key] = loop
        return loop

    def _code(self, axes, casts, rank, masked, gpu):
        """The loop nest: which axes each operand has, what it is converted to."""
        key = axes, casts, rank, masked, gpu
        code = self._codes.get(key)
        if code is None:
            make_nest = _kernel_nest if gpu else _loop_nest
            code = self._codes[key] = make_nest(self, axes, casts, rank, masked)
        return code

    def __call__(self, *args, **kwargs):
        if not kwargs and len(args) == self.nin and self.target != "cuda":
            first = args[0]
            if type(first) is float:
                known = self._numbers.get(tuple([type(a) for a in args]))
                if known is not None:
                    return known(self.scalar(*args))
            if type(first) is numpy.ndarray and first.ndim:
                # The common case: arrays of one shape, dense.
                shape = first.shape
                for a in args:
                    if type(a) is not numpy.ndarray or a.shape != shape:
                        break
                    if not a.flags.c_contiguous:
                        break
                else:
                    if first.size < _LARGE:
                        return self._dense(args, shape)
        return self._general(args, **kwargs)

    def _dense(self, args, shape):
        key = tuple([a.dtype for a in args])
        quick = self._quick.get(key)
        if quick is None:
            loop = self._choose(key)
            code = self._code(((0,),) * self.nin, loop.inputs, 1, False, False)
            quick = self._quick[key] = code, loop.output
        code, dtype = quick
        out = numpy.empty(shape, dtype)
        if len(shape) == 1:
            code(out, *args)
        else:
            code(out.reshape(-1), *[a.reshape(-1) for a in args])
        return out

    def _general(self, args, out=None, where=True, dtype=None, casting="same_kind", **others):
        for name in others:
            if name not in ("order", "subok", "sig", "signature", "axes", "axis"):
                raise TypeError(f"[{self.__name__}] no such keyword; got {name}; expected out, …")
        if len(args) == self.nargs and out is None:
            *args, out = args
        if len(args) != self.nin:
            raise TypeError(
                f"[{self.__name__}] wrong number of arguments; got {len(args)}; expected {self.nin}"
            )
        if isinstance(out, tuple):
            (out,) = out
        args = [operand(a) for a in args]
        fenced = any(on_gpu(a) and runs_on_host(a) for a in (*args, out))
        gpu = any(on_gpu(a) for a in (*args, out)) and not fenced
        device = gpu or self.target == "cuda"
        numbus = gpu or any(isinstance(a, ndarray) for a in args)
        if numbus:  # a number of NumPy's is recorded, too, and lies where the arrays do
            args = [asarray(a) if isinstance(a, numpy.ndarray) and not a.ndim else a for a in args]
        kinds = tuple(a if isinstance(a, PYTHON) else a.dtype for a in args)
        if dtype is not None:
            loop = self._typed(numpy.dtype(dtype))
        else:
            loop = self._choose(kinds)
        if numbus and derivatives.watched(args):
            from . import _paths  # not at start-up

            if _paths.has_loops(self.py_func):
                return self._by_paths(_paths, loop, args, out, where, casting)
        if out is None and where is True:
            recorded = self._record(loop, args) if numbus else self._by_arrays(loop, args)
            if recorded is not None:
                return recorded
        shapes = [() if isinstance(a, PYTHON) else a.shape for a in args]
        masked = where is not True
        if masked:
            where = where if isinstance(where, ndarray) else numpy.asarray(where)
            if where.dtype != bool:
                raise TypeError(
                    f"[{self.__name__}] where= has to be a mask; got {where.dtype}; expected bool"
                )
            shapes.append(where.shape)
        try:
            shape = numpy.broadcast_shapes(*shapes)
        except ValueError:
            raise ValueError(
                f"[{self.__name__}] shapes do not broadcast; got "
                f"{', '.join(map(str, shapes))}; expected equal extents or 1"
            ) from None
        if out is None:
            if shape == () and not numbus and self.target != "cuda" and not masked:
                return self._number(loop, args)
            result = new_array(shape, loop.output, numbus, device or fenced)
            arrays = [a for a in args if not isinstance(a, PYTHON)]
            if len(shape) > 1 and all(
                a.shape == shape and a.flags["F_CONTIGUOUS"] and not a.flags["C_CONTIGUOUS"]
                for a in arrays
            ):
                result = new_array(shape[::-1], loop.output, numbus, device or fenced).T
        else:
            result = self._checked(out, shape, loop, casting)
            args = [_apart(a, result) for a in args]
        self._run(loop, result, args, where if masked else None, device)
        return result[()] if out is None and shape == () and not numbus else result

    def _record(self, loop, args, looping=False):
        """The call as steps among whatever else is pending, with which they fuse; None where an
        array is NumPy's or the function has to run as a loop of its own."""
        if any(isinstance(a, numpy.ndarray) for a in args):
            return None
        result = self.scalar.record(*args, types=loop.inputs, looping=looping)
        if result is not None and result.dtype != loop.output:
            result = result.astype(loop.output)
        return result

    def _by_paths(self, paths, loop, args, out, where, casting):
        """The call of a function that loops, by operations that have derivatives."""
        result = paths.by_paths(self.py_func, args, loop.inputs, loop.output)
        if out is None and where is True:
            return result[()] if result.ndim == 0 else result
        if out is None:
            raise NotImplementedError(
                f"[grad] where= without out= is not yet differentiated; got {self.__name__}; "
                "expected out="
            )
        out = self._checked(out, result.shape, loop, casting)
        whole = _core.broadcast_to(result, out.shape)
        out[...] = whole if where is True else _core.where(where, whole, out)
        return out

    def _by_arrays(self, loop, args):
        """A call of a function that loops, with large arrays of NumPy's, run as one with ours over
        the same memory: on lanes and several threads, where loops of its own would take one element
        after the other. None where that cannot be."""
        if self.target == "cuda" or max([getattr(a, "size", 1) for a in args]) < _LARGE:
            return None
        if _core.get_device() not in ("cpu", "auto"):
            return None  # where arrays of ours would be copies on a GPU
        given = []
        for a in args:
            if isinstance(a, numpy.ndarray):
                if type(a) is not numpy.ndarray or not a.dtype.isnative or not a.flags.aligned:
                    return None
                a = asarray(a)
            given.append(a)
        result = self._record(loop, given, looping=True)
        return result if result is None else numpy.asarray(result)

    def _typed(self, dtype):
        """dtype=: the loop whose result it is, or all in that type."""
        if not self._declared:
            return Loop((dtype,) * self.nin, self._output((dtype,) * self.nin))
        for loop in self._loops:
            if loop.output == dtype:
                return loop
        raise TypeError(
            f"[{self.__name__}] no declared loop gives this type; got {dtype}; expected one of "
            f"{', '.join(self.types)}"
        )

    def _number(self, loop, args):
        if all(type(a) is float for a in args) and loop.inputs in (None, (_DOUBLE,) * self.nin):
            self._numbers[(float,) * self.nin] = loop.output.type
        if loop.inputs:
            args = [d.type(a) for d, a in zip(loop.inputs, args, strict=True)]
        else:
            args = [a if isinstance(a, PYTHON) else a[()] for a in args]
        return loop.output.type(self.scalar(*args))

    def _checked(self, out, shape, loop, casting):
        if not isinstance(out, (numpy.ndarray, ndarray)):
            raise TypeError(
                f"[{self.__name__}] out= has to be an array; got {type(out).__name__}; "
                "expected an array"
            )
        if not dtypes.can_cast(loop.output, out.dtype, casting):
            raise TypeError(
                f"[{self.__name__}] the result does not fit into out; got {loop.output} for "
                f"{out.dtype}; expected casting of the kind {casting!r}"
            )
        if numpy.broadcast_shapes(shape, out.shape) != out.shape:
            raise ValueError(
                f"[{self.__name__}] the result does not fit into out; got {shape} for {out.shape}; "
                "expected the same shape"
            )
        return out

    def _run(self, loop, result, args, where, gpu):
        """One loop nest over the elements of `result`."""
        if gpu:
            operands, target = list(args), result
        else:
            operands, target = [host(a) for a in args], host(result)
            where = host(where) if where is not None else None
            if isinstance(result, ndarray) and not on_host(result):
                target = numpy.array(target, order="K")  # a copy to write into
        whole = target
        if where is not None:
            operands.append(where)
        if not target.size:
            return
        target, operands = flatten(target, operands)
        axes, views = [], []
        for a in operands:
            if isinstance(a, PYTHON):
                axes.append(None)
                views.append(a)
            else:
                own = tuple(
                    d for d in range(target.ndim) if a.shape[d] != 1 or target.shape[d] == 1
                )
                axes.append(own)
                views.append(a.reshape([a.shape[d] for d in own]) if len(own) < a.ndim else a)
        for k, v in enumerate(views):
            if axes[k] == () and not gpu:
                views[k], axes[k] = v[()], None  # one element for all: a number
        code = self._code(tuple(axes), loop.inputs, target.ndim, where is not None, gpu)
        if gpu:
            code[-(-target.size // THREADS), THREADS](target, *views)
            if isinstance(result, numpy.ndarray):
                _core.check_faults()
        else:
            code(target, *views)
            if isinstance(result, ndarray) and not on_host(result):
                _core.store(result, whole)

    def __repr__(self):
        return f"<numbus.vectorize {self.py_func.__qualname__} {self.types}>"


def _apart(a, out):
    """An operand that shares memory with `out` otherwise than element by element, copied."""
    if isinstance(a, PYTHON):
        return a
    if isinstance(a, numpy.ndarray) and isinstance(out, numpy.ndarray):
        if not numpy.may_share_memory(a, out):
            return a
        same = a.__array_interface__["data"] == out.__array_interface__["data"]
        if same and a.shape == out.shape and a.strides == out.strides and a.dtype == out.dtype:
            return a
        return a.copy()
    if isinstance(a, ndarray) and isinstance(out, ndarray):
        return a if a is out else a.copy()
    return a


def flatten(target, operands):
    """The same elements with as few axes as possible: those that all operands run through as one.

    Operands keep an extent of 1 where they are broadcast, and get the axes that they lack.
    """
    rank = target.ndim
    arrays = [a for a in operands if not isinstance(a, PYTHON)]
    if rank != 1:
        same = all(a.shape == target.shape or a.size == 1 for a in arrays)
        if same and all(a.flags["C_CONTIGUOUS"] for a in (target, *arrays)):
            return target.reshape((-1,)), [
                a if isinstance(a, PYTHON) else a.reshape((-1,)) for a in operands
            ]
    full = [
        a if isinstance(a, PYTHON) else a.reshape((1,) * (rank - a.ndim) + tuple(a.shape))
        for a in operands
    ]
    if rank > 1 and isinstance(target, numpy.ndarray):
        # The innermost loop goes along the axis of the smallest step.
        order = sorted(range(rank), key=lambda d: -abs(target.strides[d]))
        if order != list(range(rank)):
            target = target.transpose(order)
            full = [a if isinstance(a, PYTHON) else a.transpose(order) for a in full]
    return target, full


def scalar_call(count, casts, axes, function="_scalar"):
    """'_scalar(T0(x0[i0]), …)' of the first operands."""
    inner = []
    for k in range(count):
        x = subscripted(f"x{k}", axes[k])
        inner.append(f"T{k}({x})" if casts else x)
    return f"{function}({', '.join(inner)})"


def _loop_nest(u, axes, casts, rank, masked):
    names = [f"x{k}" for k in range(len(axes))]
    target = subscripted("o", range(rank))
    call = f"{target} = {scalar_call(u.nin, casts, axes)}"
    env = {f"T{k}": d.type for k, d in enumerate(casts or ())}
    if masked:
        call = f"if {subscripted(names[-1], axes[-1])}: {call}"
    options = dict(u._options)
    parallel = u.target == "parallel"
    lines = [f"def loop(o, {', '.join(names)}):"]
    indent = "    "
    if rank == 0:
        lines.append(indent + call)
    elif parallel and rank == 1:
        # Pieces are views of their own, so that the loop over one starts at zero.
        lines += [
            "    n = o.shape[0]",
            "    piece = max((n + 63) // 64, 1024)",
            "    for k in prange((n + piece - 1) // piece):",
            "        low = k * piece",
            "        high = min(n, low + piece)",
        ]
        cut = {"o": "po", **{x: f"p{x}" for x, a in zip(names, axes) if a}}
        lines += [f"        {to} = {x}[low:high]" for x, to in cut.items()]
        lines.append("        for i0 in range(high - low):")
        for x, to in cut.items():
            call = call.replace(f"{x}[i0]", f"{to}[i0]")
        lines.append("            " + call)
    else:
        for d in range(rank):
            over = "prange" if parallel and d == 0 else "range"
            lines.append(f"{indent}for i{d} in {over}(o.shape[{d}]):")
            indent += "    "
        lines.append(indent + call)
    options["parallel"] = parallel
    return compiled("loop", lines, options, _scalar=u.scalar, prange=prange, **env)


def _kernel_nest(u, axes, casts, rank, masked):
    from ..cuda._kernels import Kernel
    from ..cuda._names import grid

    names = [f"x{k}" for k in range(len(axes))]
    title = u.__name__ if u.__name__.isidentifier() else "loop"  # what messages and PTX show
    call = f"{subscripted('o', range(rank))} = {scalar_call(u.nin, casts, axes)}"
    if masked:
        call = f"if {subscripted(names[-1], axes[-1])}: {call}"
    env = {f"T{k}": d.type for k, d in enumerate(casts or ())}
    lines = [
        f"def {title}(o, {', '.join(names)}):",
        "    t = _grid(1)",
        "    if t < o.size:",
    ]
    for d in reversed(range(rank)):
        last = d == 0
        lines.append(f"        i{d} = t" + ("" if last else f" % o.shape[{d}]"))
        if not last:
            lines.append(f"        t //= o.shape[{d}]")
    lines.append("        " + call)
    env.update(_scalar=u.scalar, _grid=grid)
    return Kernel(make(title, lines, **env), {"fastmath": bool(u.targetoptions.get("fastmath"))})


_OPTIONS = {"identity", "target", "nopython", "cache", "fastmath", "forceobj", "boundscheck",
            "writable_args", "nogil"}  # fmt: skip
_OF_FUNCTIONS = ("fastmath", "boundscheck")


def check_options(what, options):
    unknown = set(options) - _OPTIONS
    if unknown:
        raise TypeError(
            f"[{what}] no such option; got {', '.join(sorted(unknown))}; expected one of "
            f"{', '.join(sorted(_OPTIONS))}"
        )
    if options.get("forceobj"):
        raise NotImplementedError(
            f"[{what}] there is no object mode; got forceobj={options['forceobj']!r}; expected a "
            "function that compiles"
        )
    if options.get("writable_args"):
        raise TypeError(
            f"[{what}] nothing that is an input is written to; got writable_args; expected none"
        )


def vectorize(signatures=None, *, identity=None, target="cpu", **options):
    """Makes a function of numbers one of arrays, compiled: @vectorize, @vectorize(['f8(f8, f8)']).

    signatures: one, or a list; without, compiled for the types it is called with. identity: what
    reduce starts with (0, 1, None or 'reorderable'). target: 'cpu', 'parallel' (several threads)
    or 'cuda' (a kernel on the device of kernels). fastmath: reassociates. nopython and cache are
    taken and always on. Raises TypeError where no declared signature fits.
    """
    check_options("vectorize", options)
    if signatures is not None and callable_function(signatures):
        return DUFunc(signatures, [], identity, target, options)
    declared = read_signatures(signatures)
    return lambda function: DUFunc(function, declared, identity, target, options)
