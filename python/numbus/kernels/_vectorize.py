"""vectorize: a function of numbers becomes a function of arrays, as NumPy's ufuncs are."""

import functools
import inspect

import numpy

from .. import _core
from .._core import ndarray
from . import types
from ._dispatch import Dispatcher, callable_function, prange
from ._generate import compiled, host, make, new_array, on_gpu, place, result_dtype
from ._resolve import program

__all__ = ["DUFunc", "vectorize"]

_PYTHON = (bool, int, float, complex)
_DOUBLE = numpy.dtype(numpy.float64)
_NOTHING = object()
TARGETS = ("cpu", "parallel", "cuda")
THREADS = 256  # of a block, where a GPU runs the loop


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
        return dtype.kind in "fc"
    if isinstance(value, float):
        return dtype.kind in "fc"
    if isinstance(value, complex):
        return dtype.kind == "c"
    return numpy.can_cast(value, dtype, "safe")


def describe(values):
    """'float64, int' of dtypes and Python numbers."""
    return ", ".join(
        type(v).__name__ if isinstance(v, _PYTHON) else numpy.dtype(v).name for v in values
    )


class Loop:
    """One declared combination of types."""

    def __init__(self, inputs, output):
        self.inputs, self.output = inputs, output

    @property
    def text(self):
        return "".join(d.char for d in self.inputs) + "->" + self.output.char


class DUFunc:
    """A function of numbers as a function of arrays: broadcasts, with NumPy's ufunc methods.

    Made by @vectorize. Called with arrays and numbers of any shapes that broadcast; gives a NumPy
    array, a Numbus array where an argument is one, and a number for numbers. Declared signatures:
    the first one that the arguments fit into safely. Without: compiled for what comes.
    """

    def __init__(self, function, signatures, identity, target, options):
        functools.update_wrapper(self, function)
        if target not in TARGETS:
            raise ValueError(
                f"[vectorize] no such target; got {target!r}; expected one of {', '.join(TARGETS)}"
            )
        self.py_func = function
        self.target, self.identity, self.targetoptions = target, identity, options
        self.nin = len(inspect.signature(function).parameters)
        self.nout, self.nargs, self.signature = 1, self.nin + 1, None
        flags = {k: v for k, v in options.items() if k in ("fastmath", "boundscheck")}
        self._options = {**flags, "error_model": "numpy"}
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

    def _kernel_function(self):
        return program.function(self.py_func)

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
        samples = [a if isinstance(a, _PYTHON) else numpy.zeros(0, a) for a in args]
        return result_dtype(self.scalar, samples)

    def _choose(self, kinds):
        """The loop for dtypes and Python numbers."""
        key = tuple(
            (type(k), k if type(k) is int and self._declared else None)
            if isinstance(k, _PYTHON)
            else k
            for k in kinds
        )
        found = self._found.get(key)
        if found is not None:
            return found
        if self._declared:
            tries = [kinds]
            if all(isinstance(k, _PYTHON) for k in kinds):
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
            loop = Loop(None, self._output(kinds))
            if not any(isinstance(k, _PYTHON) for k in kinds):
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
        args = [_operand(a) for a in args]
        gpu = any(on_gpu(a) for a in (*args, out))
        device = gpu or self.target == "cuda"
        numbus = gpu or any(isinstance(a, ndarray) for a in args)
        kinds = tuple(a if isinstance(a, _PYTHON) else a.dtype for a in args)
        if dtype is not None:
            loop = self._typed(numpy.dtype(dtype), kinds)
        else:
            loop = self._choose(kinds)
        shapes = [() if isinstance(a, _PYTHON) else a.shape for a in args]
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
            result = new_array(shape, loop.output, numbus, device)
            arrays = [a for a in args if not isinstance(a, _PYTHON)]
            if len(shape) > 1 and all(
                a.shape == shape and a.flags["F_CONTIGUOUS"] and not a.flags["C_CONTIGUOUS"]
                for a in arrays
            ):
                result = new_array(shape[::-1], loop.output, numbus, device).T
        else:
            result = self._checked(out, shape, loop, casting)
            args = [_apart(a, result) for a in args]
        self._run(loop, result, args, where if masked else None, device)
        return result[()] if out is None and shape == () and not numbus else result

    def _typed(self, dtype, kinds):
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
            args = [a if isinstance(a, _PYTHON) else a[()] for a in args]
        return loop.output.type(self.scalar(*args))

    def _checked(self, out, shape, loop, casting):
        if not isinstance(out, (numpy.ndarray, ndarray)):
            raise TypeError(
                f"[{self.__name__}] out= has to be an array; got {type(out).__name__}; "
                "expected an array"
            )
        if not numpy.can_cast(loop.output, out.dtype, casting):
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
        if where is not None:
            operands.append(where)
        if not target.size:
            return
        target, operands = flatten(target, operands)
        axes, views = [], []
        for a in operands:
            if isinstance(a, _PYTHON):
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

    # --- methods, as NumPy's ufuncs have them

    def _binary(self, method):
        if self.nin != 2:
            raise ValueError(
                f"[{self.__name__}.{method}] only functions of two numbers have it; got "
                f"{self.nin} arguments; expected 2"
            )

    def _folding(self, dtype):
        """The type in which values are combined, so that a result is an operand again."""
        for _ in range(4):
            loop = self._choose((dtype, dtype))
            if loop.output == dtype:
                return loop
            dtype = loop.output
        return loop

    def _fold(self, method, lines, loop):
        key = method, loop.inputs, loop.output
        code = self._codes.get(key)
        if code is None:
            names = _cast_names(loop)
            call = "f(A({}), B({}))" if loop.inputs else "f({}, {})"
            lines = [_fill_call(line, call) for line in lines]
            code = self._codes[key] = compiled(
                method, lines, dict(self._options), f=self.scalar, R=loop.output.type, **names
            )
        return code

    def reduce(
        self, array, axis=0, dtype=None, out=None, keepdims=False, initial=_NOTHING, where=True
    ):
        """Combines the elements along an axis, several axes, or all (None), from the first on.

        initial: what stands before the first. Raises ValueError for nothing to combine where there
        is no identity.
        """
        self._binary("reduce")
        ours = isinstance(array, ndarray)
        a = numpy.asarray(array)
        if where is not True:
            return self._reduce_where(a, axis, dtype, keepdims, initial, where)
        axes = _axes(axis, a.ndim, self.__name__)
        loop = self._folding(numpy.dtype(dtype) if dtype is not None else a.dtype)
        start = initial
        if start is _NOTHING or start is None:
            start = self._identity() if initial is _NOTHING else _NOTHING
        count = int(numpy.prod([a.shape[d] for d in axes], dtype=int))
        if start is _NOTHING and count == 0:
            raise ValueError(
                f"[{self.__name__}.reduce] nothing to combine, and there is no identity; got "
                f"shape {a.shape}; expected one element at least, or initial="
            )
        kept = [d for d in range(a.ndim) if d not in axes]
        shape = tuple(1 if d in axes else a.shape[d] for d in range(a.ndim))
        three, order = _three(a, axes, kept)
        result = numpy.empty((three.shape[0], three.shape[2]), loop.output)
        has = start is not _NOTHING
        first = loop.output.type(start if has else 0)
        code = self._fold("reduce", _REDUCE, loop)
        if result.size:
            code(three, first, has, result)
        result = result.reshape([a.shape[d] for d in order]).transpose(
            numpy.argsort(order) if order != sorted(order) else range(len(order))
        )
        result = result.reshape(shape if keepdims else [a.shape[d] for d in kept])
        return _give(result, out, ours)

    def _reduce_where(self, a, axis, dtype, keepdims, initial, where):
        start = self._identity() if initial is _NOTHING else initial
        if start is _NOTHING or start is None:
            raise ValueError(
                f"[{self.__name__}.reduce] where= needs a value to begin with; got none; "
                "expected initial="
            )
        axes = _axes(axis, a.ndim, self.__name__)
        mask = numpy.broadcast_to(where, a.shape)
        kept = [d for d in range(a.ndim) if d not in axes]
        order = kept + list(axes)
        rows = int(numpy.prod([a.shape[d] for d in kept], dtype=int))
        count = int(numpy.prod([a.shape[d] for d in axes], dtype=int))
        flat = numpy.ascontiguousarray(a.transpose(order)).reshape(rows, count)
        marks = numpy.ascontiguousarray(mask.transpose(order)).reshape(rows, count)
        results = [self.reduce(r[m], dtype=dtype, initial=start) for r, m in zip(flat, marks)]
        shape = [1 if d in axes else a.shape[d] for d in range(a.ndim)]
        return numpy.array(results).reshape(shape if keepdims else [a.shape[d] for d in kept])[()]

    def _identity(self):
        known = self.identity is not None and self.identity != "reorderable"
        return self.identity if known else _NOTHING

    def accumulate(self, array, axis=0, dtype=None, out=None):
        """All results on the way of reduce along one axis."""
        self._binary("accumulate")
        ours = isinstance(array, ndarray)
        a = numpy.asarray(array)
        (axis,) = _axes(axis, a.ndim, self.__name__)
        loop = self._folding(numpy.dtype(dtype) if dtype is not None else a.dtype)
        dense = numpy.ascontiguousarray(a)
        n = a.shape[axis]
        outer = int(numpy.prod(a.shape[:axis], dtype=int))
        result = numpy.empty(a.shape, loop.output)
        if result.size:
            code = self._fold("accumulate", _ACCUMULATE, loop)
            code(dense.reshape(outer, n, -1), result.reshape(outer, n, -1))
        return _give(result, out, ours)

    def reduceat(self, array, indices, axis=0, dtype=None, out=None):
        """reduce over array[i : j] for each index i and the next one j; array[i] where i >= j."""
        self._binary("reduceat")
        ours = isinstance(array, ndarray)
        a = numpy.asarray(array)
        (axis,) = _axes(axis, a.ndim, self.__name__)
        loop = self._folding(numpy.dtype(dtype) if dtype is not None else a.dtype)
        places = numpy.ascontiguousarray(indices, numpy.int64)
        n = a.shape[axis]
        if places.size and (places.min() < 0 or places.max() >= n):
            raise IndexError(
                f"[{self.__name__}.reduceat] an index is out of bounds; got "
                f"{places.min()} to {places.max()}; expected 0 to {n - 1}"
            )
        outer = int(numpy.prod(a.shape[:axis], dtype=int))
        result = numpy.empty((*a.shape[:axis], len(places), *a.shape[axis + 1 :]), loop.output)
        if result.size:
            code = self._fold("reduceat", _REDUCEAT, loop)
            dense = numpy.ascontiguousarray(a).reshape(outer, n, -1)
            code(dense, places, result.reshape(outer, len(places), -1))
        return _give(result, out, ours)

    def outer(self, a, b, **kwargs):
        """The function of all pairs; shape a.shape + b.shape."""
        self._binary("outer")
        a, b = _operand(a), _operand(b)
        if not isinstance(a, _PYTHON):
            ndim = 0 if isinstance(b, _PYTHON) else b.ndim
            a = a.reshape((*a.shape, *(1,) * ndim))
        return self(a, b, **kwargs)

    def at(self, a, indices, b=None):
        """Applies the function at these places of `a` in place, repeated ones repeatedly."""
        if (b is None) != (self.nin == 1) or self.nin > 2:
            raise ValueError(
                f"[{self.__name__}.at] takes one value for each further argument; got "
                f"{self.nin} arguments; expected 1 or 2"
            )
        target = host(a)
        if on_gpu(a):
            target = numpy.array(a)
        numbers = numpy.arange(target.size).reshape(target.shape)
        places = numbers[tuple(map(host, indices)) if isinstance(indices, tuple) else host(indices)]
        places = numpy.asarray(places)
        flat = target.reshape(-1) if target.flags.c_contiguous else target.ravel()
        flat_places = numpy.ascontiguousarray(places.reshape(-1))
        if self.nin == 1:
            loop = self._choose((target.dtype,))
            self._fold("at1", _AT_ONE, loop)(flat, flat_places)
        else:
            b = _operand(b)
            kind = b if isinstance(b, _PYTHON) else b.dtype
            loop = self._choose((target.dtype, kind))
            if not isinstance(b, _PYTHON):
                b = numpy.broadcast_to(host(b), places.shape).reshape(-1)
                self._fold("at", _AT, loop)(flat, flat_places, b)
            else:
                self._fold("at_number", _AT_NUMBER, loop)(flat, flat_places, b)
        if not target.flags.c_contiguous:
            target[...] = flat.reshape(target.shape)
        if on_gpu(a):
            a[...] = target

    def __repr__(self):
        return f"<numbus.vectorize {self.py_func.__qualname__} {self.types}>"


def _operand(a):
    if isinstance(a, (numpy.ndarray, ndarray)) or type(a) in _PYTHON:
        return a
    return numpy.asarray(a)


def _apart(a, out):
    """An operand that shares memory with `out` otherwise than element by element, copied."""
    if isinstance(a, _PYTHON):
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
    arrays = [a for a in operands if not isinstance(a, _PYTHON)]
    if rank != 1:
        same = all(a.shape == target.shape or a.size == 1 for a in arrays)
        if same and all(a.flags["C_CONTIGUOUS"] for a in (target, *arrays)):
            return target.reshape((-1,)), [
                a if isinstance(a, _PYTHON) else a.reshape((-1,)) for a in operands
            ]
    full = [
        a if isinstance(a, _PYTHON) else a.reshape((1,) * (rank - a.ndim) + tuple(a.shape))
        for a in operands
    ]
    if rank > 1 and isinstance(target, numpy.ndarray):
        # The innermost loop goes along the axis of the smallest step.
        order = sorted(range(rank), key=lambda d: -abs(target.strides[d]))
        if order != list(range(rank)):
            target = target.transpose(order)
            full = [a if isinstance(a, _PYTHON) else a.transpose(order) for a in full]
    return target, full


def _cast_names(loop):
    if not loop.inputs:
        return {}
    return {chr(65 + k): d.type for k, d in enumerate(loop.inputs)}


def _fill_call(line, call):
    """Replaces `@{a}{b}` by the call of the function with a and b."""
    while "@" in line:
        head, rest = line.split("@", 1)
        parts = []
        for _ in range(call.count("{}")):
            end = rest.index("}")
            parts.append(rest[1:end])
            rest = rest[end + 1 :]
        line = head + call.format(*parts) + rest
    return line


def scalar_call(count, casts, axes, function="f"):
    """'f(A(x0[i0]), …)' of the first operands."""
    inner = []
    for k in range(count):
        x = place(f"x{k}", axes[k])
        inner.append(f"T{k}({x})" if casts else x)
    return f"{function}({', '.join(inner)})"


def _loop_nest(u, axes, casts, rank, masked):
    names = [f"x{k}" for k in range(len(axes))]
    target = place("o", range(rank))
    call = f"{target} = {scalar_call(u.nin, casts, axes)}"
    env = {f"T{k}": d.type for k, d in enumerate(casts or ())}
    if masked:
        call = f"if {place(names[-1], axes[-1])}: {call}"
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
    return compiled("loop", lines, options, f=u.scalar, prange=prange, **env)


def _kernel_nest(u, axes, casts, rank, masked):
    from ..cuda import grid, jit

    names = [f"x{k}" for k in range(len(axes))]
    title = u.__name__ if u.__name__.isidentifier() else "loop"  # what messages and PTX show
    call = f"{place('o', range(rank))} = {scalar_call(u.nin, casts, axes)}"
    if masked:
        call = f"if {place(names[-1], axes[-1])}: {call}"
    env = {f"T{k}": d.type for k, d in enumerate(casts or ())}
    lines = [
        f"def {title}(o, {', '.join(names)}):",
        "    t = grid(1)",
        "    if t < o.size:",
    ]
    for d in reversed(range(rank)):
        last = d == 0
        lines.append(f"        i{d} = t" + ("" if last else f" % o.shape[{d}]"))
        if not last:
            lines.append(f"        t //= o.shape[{d}]")
    lines.append("        " + call)
    env.update(f=u.scalar, grid=grid)
    return jit(fastmath=bool(u.targetoptions.get("fastmath")))(make(title, lines, **env))


_REDUCE = """
def reduce(a, first, has, o):
    for i in range(a.shape[0]):
        if a.shape[2] == 1:
            t = first
            begin = 0
            if not has:
                t = R(a[i, 0, 0])
                begin = 1
            row = a[i, begin:, 0]
            for k in range(row.shape[0]):
                t = R(@{t}{R(row[k])})
            o[i, 0] = t
        else:
            begin = 0
            if has:
                for j in range(a.shape[2]):
                    o[i, j] = first
            else:
                begin = 1
                for j in range(a.shape[2]):
                    o[i, j] = a[i, 0, j]
            for k in range(begin, a.shape[1]):
                for j in range(a.shape[2]):
                    o[i, j] = @{o[i, j]}{R(a[i, k, j])}
""".strip().split("\n")

_ACCUMULATE = """
def accumulate(a, o):
    for i in range(a.shape[0]):
        for j in range(a.shape[2]):
            o[i, 0, j] = a[i, 0, j]
        for k in range(1, a.shape[1]):
            for j in range(a.shape[2]):
                o[i, k, j] = @{o[i, k - 1, j]}{R(a[i, k, j])}
""".strip().split("\n")

_REDUCEAT = """
def reduceat(a, places, o):
    for i in range(a.shape[0]):
        for p in range(places.shape[0]):
            begin = places[p]
            end = a.shape[1]
            if p + 1 < places.shape[0]:
                end = places[p + 1]
            for j in range(a.shape[2]):
                o[i, p, j] = a[i, begin, j]
            for k in range(begin + 1, end):
                for j in range(a.shape[2]):
                    o[i, p, j] = @{o[i, p, j]}{R(a[i, k, j])}
""".strip().split("\n")

_AT = """
def at(a, places, b):
    for k in range(places.shape[0]):
        a[places[k]] = @{a[places[k]]}{b[k]}
""".strip().split("\n")

_AT_NUMBER = [line.replace("b[k]", "b") for line in _AT]
_AT_NUMBER[0] = "def at_number(a, places, b):"
_AT_ONE = """
def at1(a, places):
    for k in range(places.shape[0]):
        a[places[k]] = @{a[places[k]]}
""".strip().split("\n")


def _axes(axis, ndim, name):
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, tuple) else (axis,)
    found = []
    for d in given:
        if not -ndim <= d < ndim:
            raise numpy.exceptions.AxisError(d, ndim, f"[{name}] no such axis")
        found.append(d % ndim)
    return tuple(sorted(found))


def _three(a, axes, kept):
    """(before, combined, behind) as a dense array of three axes, and the order of kept axes."""
    run = axes and axes == tuple(range(axes[0], axes[-1] + 1))
    if run and a.flags["C_CONTIGUOUS"]:
        before = int(numpy.prod(a.shape[: axes[0]], dtype=int))
        count = int(numpy.prod([a.shape[d] for d in axes], dtype=int))
        behind = int(numpy.prod(a.shape[axes[-1] + 1 :], dtype=int))
        return a.reshape(before, count, behind), kept
    dense = numpy.ascontiguousarray(a.transpose([*kept, *axes]))
    before = int(numpy.prod([a.shape[d] for d in kept], dtype=int))
    count = int(numpy.prod([a.shape[d] for d in axes], dtype=int))
    return dense.reshape(before, count, 1), kept


def _give(result, out, ours):
    if isinstance(out, tuple):
        (out,) = out
    if out is not None:
        out[...] = result
        return out
    if ours and result.ndim:
        made = _core.empty(result.shape, result.dtype)
        made[...] = result
        return made
    return result[()]


_OPTIONS = {"identity", "target", "nopython", "cache", "fastmath", "forceobj", "boundscheck",
            "writable_args", "nogil", "signature"}  # fmt: skip


def check_options(what, options):
    unknown = set(options) - _OPTIONS
    if unknown:
        raise TypeError(
            f"[{what}] no such option; got {', '.join(sorted(unknown))}; expected one of "
            f"{', '.join(sorted(_OPTIONS))}"
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
