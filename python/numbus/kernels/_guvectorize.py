"""guvectorize: a function of small arrays becomes one over stacks of them, as gufuncs are."""

import contextlib
import functools
import inspect
import re

import numpy

from .. import _core
from .._core import ndarray
from ..core.host import runs_on_host, writing
from ..core.operands import to_ndarray
from . import _guv_axes
from ._direct import Direct
from ._dispatch import Dispatcher, callable_function, prange
from ._generate import PYTHON, compiled, host, make, new_array, on_gpu, operand
from ._resolve import program
from ._vectorize import (
    TARGETS,
    check_options,
    describe,
    fits,
    of_functions,
    plain_function,
    read_signatures,
)

__all__ = ["GUFunc", "guvectorize"]

_CORE = re.compile(r"\(\s*(?:\w+(?:\s*,\s*\w+)*)?\s*,?\s*\)")


def read_layout(text):
    """([names of each input's axes], [of each output's]) of '(m,n),(n)->(m)'."""

    def side(part):
        found = _CORE.findall(part)
        if _CORE.sub("", part).replace(",", "").strip():
            raise ValueError(
                f"[guvectorize] not a layout; got {text!r}; expected such as '(m,n),(n)->(m)'"
            )
        return [tuple(n.strip() for n in f.strip("() ").split(",") if n.strip()) for f in found]

    parts = text.split("->")
    if len(parts) == 1:  # inputs only, which the function writes to
        parts.append("")
    if len(parts) != 2 or not parts[0].strip():
        raise ValueError(
            f"[guvectorize] not a layout; got {text!r}; expected such as '(m,n),(n)->(m)'"
        )
    inputs, outputs = side(parts[0]), side(parts[1])
    return inputs, outputs


_made = []  # all of them, by the numbers under which compiled functions know them


def inside(number, types):
    """Called by the core: see GUFunc._inside."""
    return _made[number]._inside(types)


def inside_lines(gufunc, kinds, dtypes, boxed):
    """The source of a function that checks extents, makes outputs where none are given, and loops.

    kinds: (dtype, axes) of each argument given. Extents of one repeat their only row.
    """
    nin, layout = gufunc.nin, gufunc._all
    given = len(kinds) == gufunc.nargs
    split = [ndim - len(axes) for (_, ndim), axes in zip(kinds, layout)]
    rank = max(split[:nin], default=0)
    lines = [f"def rows({', '.join(f'x{k}' for k in range(len(kinds)))}):"]
    sizes = {}
    for k, axes in enumerate(layout[:nin]):
        for d, axis in enumerate(axes):
            extent = f"x{k}.shape[{split[k] + d}]"
            known = axis if axis.isdigit() else sizes.get(axis)
            if known is None:
                sizes[axis] = extent
                continue
            lines += [f"    if {extent} != {known}:",
                      f"        raise ValueError(f'core dimension {axis} differs: "
                      f"{{{known}}} and {{{extent}}}')"]  # fmt: skip
    for d in range(rank):
        lines.append(f"    n{d} = 1")
        for k in range(nin):
            own = d - (rank - split[k])
            if own >= 0:
                lines += [f"    e = x{k}.shape[{own}]",
                          "    if e != 1:",
                          f"        if n{d} != 1 and n{d} != e:",
                          "            raise ValueError(f'loop dimensions do not broadcast: "
                          f"{{n{d}}} and {{e}}')",
                          f"        n{d} = e"]  # fmt: skip
    for k in sorted(gufunc._writable):
        for d in range(split[k] if k < nin else 0):
            lines += [f"    if x{k}.shape[{d}] != n{d}:",
                      f"        raise ValueError(f'argument {k} is written to, and cannot be "
                      f"broadcast; got {{x{k}.shape[{d}]}}; expected {{n{d}}}')"]  # fmt: skip
    for k in range(nin):
        if kinds[k][0] != dtypes[k]:
            lines.append(f"    y{k} = {f'x{k}.astype(t{k})' if kinds[k][1] else f't{k}(x{k})'}")
        else:
            lines.append(f"    y{k} = x{k}")
        if boxed[k]:
            made = f"y{k}[..., None]" if kinds[k][1] else f"np.full(1, y{k})"
            lines.append(f"    y{k}b = {made}")
        for d in range(split[k]):
            lines.append(f"    s{k}_{d} = int(x{k}.shape[{d}] != 1)")
    for k in range(nin, gufunc.nargs):
        shape = [f"n{d}" for d in range(rank)]
        shape += [n if n.isdigit() else sizes[n] for n in layout[k]]
        if boxed[k]:
            shape.append("1")
        if not given:
            lines.append(f"    y{k} = np.empty(({', '.join(shape)},), t{k})")
        elif boxed[k] and kinds[k][1] == len(shape) - 1:
            lines.append(f"    y{k} = x{k}[..., None]")
        else:
            lines.append(f"    y{k} = x{k}")
        if given:
            for d, n in enumerate(shape):
                lines += [f"    if y{k}.shape[{d}] != {n}:",
                          f"        raise ValueError(f'output {k - nin} has the wrong shape: "
                          f"{{y{k}.shape[{d}]}} where {{{n}}} is expected')"]  # fmt: skip
    indent = "    "
    for d in range(rank):
        lines.append(f"{indent}for i{d} in range(n{d}):")
        indent += "    "
    rows = []
    for k in range(gufunc.nargs):
        own = split[k] if k < nin else rank
        skip = rank - own
        at = [f"i{skip + d}" + (f" * s{k}_{d}" if k < nin else "") for d in range(own)]
        what = f"y{k}b" if k < nin and boxed[k] else f"y{k}"
        rows.append(f"{what}[{', '.join(at)}]" if at else what)
    lines.append(f"{indent}f({', '.join(rows)})")
    results = []
    for k in range(nin, gufunc.nargs):
        if given:
            results.append(f"x{k}")
        elif boxed[k]:
            results.append(f"y{k}[..., 0]" if rank else f"y{k}[0]")
        else:
            results.append(f"y{k}")
    lines.append(f"    return {', '.join(results)}".rstrip())
    return lines


class GUFunc:
    """A function of arrays of given axes, run over all other axes of its arguments, broadcast.

    Made by @guvectorize. The function gets inputs and outputs, and writes into these. Called with
    the inputs, it allocates outputs of the declared types; with outputs too, it fills them.
    """

    def __init__(self, function, signatures, layout, identity, target, writable, options):
        function, options = plain_function(function, options)
        functools.update_wrapper(self, function)
        if target not in TARGETS:
            raise ValueError(
                f"[guvectorize] no such target; got {target!r}; expected one of "
                f"{', '.join(TARGETS)}"
            )
        self.py_func, self.signature = function, layout
        if target == "cuda":
            _core.ask_for_gpu()
        self.target, self.identity, self.targetoptions = target, identity, options
        self._inputs, self._outputs = read_layout(layout)
        self._all = self._inputs + self._outputs
        self.nin, self.nout = len(self._inputs), len(self._outputs)
        self.nargs = self.nin + self.nout
        names = list(inspect.signature(function).parameters)
        if len(names) != self.nargs:
            raise TypeError(
                f"[guvectorize] the layout and {function.__name__} differ; got {len(names)} "
                f"parameters for {layout!r}; expected {self.nargs}"
            )
        known = {n for axes in self._inputs for n in axes}
        for axes in self._outputs:
            for n in axes:
                if n not in known and not n.isdigit():
                    raise ValueError(
                        f"[guvectorize] an output's axis comes from no input; got {n!r} in "
                        f"{layout!r}; expected one of {', '.join(sorted(known))}"
                    )
        self._writable = {names.index(w) if isinstance(w, str) else int(w) for w in writable}
        if not self.nout:
            dims = [len(axes) for axes in self._all]
            self._writable |= _guv_axes.written_parameters(function, names, dims)
        self._options = of_functions(options)
        self.core = Dispatcher(function, self._options)
        self._loops, self._codes, self._insides = [], {}, {}
        self._number = len(_made)
        _made.append(self)
        for arguments, _ in signatures:
            self._declare(arguments)
        if not self.nout:  # numbers are not written to, but in arrays of one
            boxed = {k for _, b in self._loops for k in range(self.nargs) if b[k]}
            self._writable = {k for k in self._writable if self._all[k] or k in boxed}
        self._direct = None if target != "cpu" or self._writable or not self.nout else Direct(self)

    def _kernel_loops(self):
        """What compiled functions that call it see."""
        return "generalised", self._number, []

    def _inside(self, types):
        """The number of the function that loops over arguments of these types, in compiled code;
        where there is none, what is wrong.

        types: as the core describes them: (tag, dtype, axes, …).
        """
        name, given = self.__name__, len(types)
        if given not in (self.nin, self.nargs):
            return (
                f"{name}() takes {self.nin} inputs, and all {self.nout} outputs or none; got "
                f"{given} arguments"
            )
        kinds = tuple((numpy.dtype(t[1]), t[2] if t[0] == "array" else 0) for t in types)
        known = self._insides.get(kinds)
        if known is not None:
            return known
        for k, ((_, ndim), axes) in enumerate(zip(kinds, self._all)):
            if ndim < len(axes):
                return (
                    f"argument {k} of {name}() has too few dimensions; got {ndim}; expected "
                    f"{len(axes)} at least: ({','.join(axes)})"
                )
        if self._loops:
            try:
                dtypes, boxed = self._choose([d for d, _ in kinds[: self.nin]])
            except TypeError as error:
                return str(error)
        elif given == self.nin and self.nout:
            return (
                f"the types of the outputs of {name}() are not known; give the outputs too, or "
                "signatures in @guvectorize"
            )
        else:
            dtypes = tuple(d for d, _ in kinds)
            boxed = tuple(not axes and k >= self.nin for k, axes in enumerate(self._all))
        rank = max([n - len(a) for (_, n), a in zip(kinds, self._inputs)], default=0)
        for k in self._writable:
            if k < self.nin and kinds[k][0] != dtypes[k]:
                return (
                    f"argument {k} of {name}() is written to, and cannot be converted; got "
                    f"{kinds[k][0]}; expected {dtypes[k]}"
                )
            if k < self.nin and kinds[k][1] - len(self._all[k]) != rank:
                return f"argument {k} of {name}() is written to, and cannot be broadcast"
        lines = inside_lines(self, kinds, dtypes, boxed)
        types = {f"t{k}": d.type for k, d in enumerate(dtypes)}
        function = make("rows", lines, f=self.core, np=numpy, **types)
        self._insides[kinds] = program.function(function)
        return self._insides[kinds]

    def _declare(self, arguments):
        if len(arguments) != self.nargs:
            raise TypeError(
                f"[guvectorize] a signature of {self.__name__} has the wrong number of types; got "
                f"{len(arguments)}; expected {self.nargs}"
            )
        for k, (t, axes) in enumerate(zip(arguments, self._all, strict=True)):
            if t.tag not in ("number", "array"):
                raise TypeError(
                    f"[guvectorize] signatures are made of arrays and numbers; got {t!r}; "
                    "expected such as float64[:]"
                )
            dims = t.ndim if t.tag == "array" else 0
            scalar = not axes and (dims == 1 or (dims == 0 and k < self.nin))
            if dims != len(axes) and not scalar:
                raise TypeError(
                    f"[guvectorize] the type and the layout of argument {k} differ; got {t!r} for "
                    f"({','.join(axes)}); expected {max(1, len(axes))} dimensions"
                )
        # Whether an argument without axes is a number, or an array of one.
        boxed = tuple(
            not axes and t.tag == "array" for t, axes in zip(arguments, self._all, strict=True)
        )
        self._loops.append((tuple(numpy.dtype(t.dtype) for t in arguments), boxed))

    @property
    def types(self):
        """The declared types, as NumPy writes them."""
        n = self.nin
        return [
            "".join(d.char for d in ts[:n]) + "->" + "".join(d.char for d in ts[n:])
            for ts, _ in self._loops
        ]

    @property
    def ntypes(self):
        return len(self._loops)

    def build_ufunc(self):
        """Itself: it is one already."""
        return self

    def _choose(self, kinds):
        for dtypes, boxed in self._loops:
            if all(fits(d, k) for d, k in zip(dtypes, kinds, strict=False)):
                return dtypes, boxed
        raise TypeError(
            f"[{self.__name__}] no declared signature takes these types safely; got "
            f"({describe(kinds)}); expected one of {', '.join(self.types)}"
        )

    def __call__(self, *args, out=None, axis=None, axes=None, keepdims=False):
        kinds = None
        named = axis is not None or axes is not None or keepdims
        if out is None and not named and self._direct is not None:
            kinds = _core.kinds(args)
            quick = self._direct.quick.get(kinds)
            if quick is not None and (found := quick(*args)) is not None:
                return found
        name = self.__name__
        outs = list(args[self.nin :])
        if out is not None:
            outs = list(out) if isinstance(out, tuple) else [out]
        if len(args) < self.nin or len(outs) not in (0, self.nout):
            raise TypeError(
                f"[{name}] wrong number of arguments; got {len(args)}; expected {self.nin} inputs, "
                f"and all {self.nout} outputs or none"
            )
        if named:
            return _guv_axes.call(self, args[: self.nin], outs, axis, axes, keepdims)
        for k in self._writable:
            if k < self.nin and isinstance(args[k], (list, tuple)):
                raise TypeError(
                    f"[{name}] argument {k} is written to; got {type(args[k]).__name__}; expected "
                    "an array"
                )
        if any(on_gpu(a) and runs_on_host(a) for a in (*args, *outs)):
            return self._on_copies(args[: self.nin], outs)
        if self._direct is not None:
            found = self._direct(args[: self.nin], outs)
            if found is not None:
                if kinds is not None and kinds not in self._direct.quick:
                    self._direct.remember(kinds, args[: self.nin], outs)
                return found
        args = [operand(a) for a in args[: self.nin]]
        args = [numpy.asarray(a) if isinstance(a, PYTHON) and self._loops == [] else a
                for a in args]  # fmt: skip
        kinds = [a if isinstance(a, PYTHON) else a.dtype for a in args]
        if self._loops:
            dtypes, boxed = self._choose(kinds)
        elif outs or not self.nout:
            dtypes = (*kinds, *(o.dtype for o in outs))
            boxed = tuple(not axes and k >= self.nin for k, axes in enumerate(self._all))
        else:
            raise TypeError(
                f"[{name}] the types of its outputs are not known; got only the inputs; expected "
                "the outputs too, or signatures in @guvectorize"
            )
        numbus = any(isinstance(a, ndarray) for a in args)
        gpu = any(on_gpu(a) for a in (*args, *outs))
        converted = []
        for k, a in enumerate(args):
            if isinstance(a, PYTHON) or a.dtype != dtypes[k]:
                if k in self._writable:
                    raise TypeError(
                        f"[{name}] argument {k} is written to, and cannot be converted; got "
                        f"{describe([kinds[k]])}; expected {dtypes[k]}"
                    )
                a = a.astype(dtypes[k]) if isinstance(a, ndarray) else numpy.asarray(a, dtypes[k])
            converted.append(a)
        sizes, loops = self._sizes(converted)
        try:
            shape = numpy.broadcast_shapes(*loops)
        except ValueError:
            raise ValueError(
                f"[{name}] loop dimensions do not broadcast; got {', '.join(map(str, loops))}; "
                "expected equal extents or 1"
            ) from None
        for k in self._writable:
            if k < self.nin and loops[k] != shape:
                raise ValueError(
                    f"[{name}] argument {k} is written to, and cannot be broadcast; got "
                    f"{loops[k]}; expected {shape}"
                )
        results = []
        for k, axes in enumerate(self._outputs):
            full = (*shape, *(sizes[n] for n in axes))
            if not outs:
                results.append(
                    new_array(full, dtypes[self.nin + k], numbus, gpu or self.target == "cuda")
                )
                continue
            o = outs[k]
            core = tuple(o.shape[o.ndim - len(axes) :]) if axes else ()
            if tuple(o.shape[: o.ndim - len(axes)]) != shape or core != full[len(shape) :]:
                raise ValueError(
                    f"[{name}] output {k} has the wrong shape; got {tuple(o.shape)}; "
                    f"expected {full}"
                )
            results.append(o)
        # What has another type is computed aside.
        targets = [
            o if o.dtype == d else new_array(o.shape, d, isinstance(o, ndarray), on_gpu(o))
            for o, d in zip(results, dtypes[self.nin :], strict=True)
        ]
        if all(o.size for o in targets) or any(k < self.nin for k in self._writable):
            self._run(converted, targets, shape, boxed, gpu or self.target == "cuda")
        for o, t in zip(results, targets, strict=True):
            if o is not t:
                o[...] = t
        scalar = not outs and not numbus
        given = [o[()] if scalar and o.ndim == 0 else o for o in results]
        return given[0] if self.nout == 1 else tuple(given)

    def _on_copies(self, args, outs):
        """The call for arrays of a device whose work is code of the host, which cannot read its
        memory.
        """
        with contextlib.ExitStack() as stack:
            real = []
            for k, a in enumerate((*args, *outs)):
                written = k >= self.nin or k in self._writable
                if isinstance(a, ndarray):
                    a = stack.enter_context(writing(a)) if written else numpy.asarray(a)
                real.append(a)
            found = self(*real)
        if outs:
            return outs[0] if self.nout == 1 else tuple(outs)
        return to_ndarray(found) if self.nout == 1 else tuple([to_ndarray(x) for x in found])

    def _sizes(self, args):
        """Extents of core axes by name, and the loop dimensions of each input."""
        sizes, loops, first = {}, [], {}
        for k, (a, axes) in enumerate(zip(args, self._inputs, strict=True)):
            if a.ndim < len(axes):
                raise ValueError(
                    f"[{self.__name__}] argument {k} has too few dimensions; got {a.ndim}; "
                    f"expected {len(axes)} at least: ({','.join(axes)})"
                )
            split = a.ndim - len(axes)
            loops.append(tuple(a.shape[:split]))
            for n, extent in zip(axes, a.shape[split:], strict=True):
                known = int(n) if n.isdigit() else sizes.setdefault(n, extent)
                first.setdefault(n, k)
                if known != extent:
                    raise ValueError(
                        f"[{self.__name__}] core dimension {n} of {self.signature} differs; got "
                        f"{extent} in argument {k}; expected {known}, as in argument {first[n]}"
                    )
        for axes in self._outputs:
            for n in axes:
                if n.isdigit():
                    sizes[n] = int(n)
        return sizes, loops

    def _run(self, args, outs, shape, boxed, gpu):
        operands = [*args, *outs] if gpu else [host(a) for a in (*args, *outs)]
        rank = len(shape)
        # All loop dimensions are one where nothing is broadcast and all is dense.
        flat = rank > 1 and all(
            a.flags["C_CONTIGUOUS"] and tuple(a.shape[:rank]) == shape for a in operands
        )
        if flat:
            operands = [a.reshape((-1, *a.shape[rank:])) for a in operands]
        elif rank == 0:
            operands = [a.reshape((1, *a.shape)) for a in operands]
        space = (int(numpy.prod(shape, dtype=int)),) if flat or rank == 0 else shape
        views, loops = [], []
        for k, (a, axes) in enumerate(zip(operands, self._all, strict=True)):
            own = a.ndim - len(axes)
            skip = len(space) - own
            kept = [d for d in range(own) if a.shape[d] != 1 or space[skip + d] == 1]
            if len(kept) < own:
                a = a.reshape(tuple(a.shape[d] for d in (*kept, *range(own, a.ndim))))
            if boxed[k]:
                a = a.reshape((*a.shape, 1))
            views.append(a)
            loops.append(tuple(skip + d for d in kept))
        code = self._code(tuple(loops), tuple(boxed), len(space), gpu)
        if gpu:
            count = int(numpy.prod(space, dtype=int))
            code[-(-count // 128), 128](*space, *views)
            _core.check_faults()
        else:
            code(*space, *views)

    def _code(self, loops, boxed, rank, gpu):
        key = loops, boxed, rank, gpu
        code = self._codes.get(key)
        if code is not None:
            return code
        names = [f"x{k}" for k in range(self.nargs)]
        given = []
        for k, (axes, own) in enumerate(zip(self._all, loops, strict=True)):
            at = ", ".join(f"i{d}" for d in own)
            dims = len(axes) or boxed[k]
            if own:
                given.append(f"{names[k]}[{at}]")
            else:
                given.append(names[k] if dims else f"{names[k]}[()]")
        call = f"f({', '.join(given)})"
        extents = [f"n{d}" for d in range(rank)]
        head = ", ".join([*extents, *names])
        if gpu:
            from ..cuda._kernels import Kernel
            from ..cuda._names import grid

            title = self.__name__ if self.__name__.isidentifier() else "loop"
            lines = [f"def {title}({head}):", "    t = grid(1)",
                     f"    if t < {' * '.join(extents)}:"]  # fmt: skip
            for d in reversed(range(rank)):
                lines.append(f"        i{d} = t" + (f" % n{d}" if d else ""))
                if d:
                    lines.append(f"        t //= n{d}")
            lines.append("        " + call)
            function = make(title, lines, f=self.core, grid=grid)
            code = Kernel(function, {"fastmath": bool(self.targetoptions.get("fastmath"))})
        else:
            parallel = self.target == "parallel"
            lines, indent = [f"def loop({head}):"], "    "
            for d in range(rank):
                over = "prange" if parallel and d == 0 else "range"
                lines.append(f"{indent}for i{d} in {over}(n{d}):")
                indent += "    "
            lines.append(indent + call)
            options = {**self._options, "parallel": parallel}
            code = compiled("loop", lines, options, f=self.core, prange=prange)
        self._codes[key] = code
        return code

    def __repr__(self):
        return f"<numbus.guvectorize {self.py_func.__qualname__} {self.signature}>"


def guvectorize(*args, identity=None, target="cpu", writable_args=(), **options):
    """Makes a function of small arrays one over stacks: @guvectorize(types, '(n),()->(n)').

    types: signatures of inputs and outputs, such as [(float64[:], float64, float64[:])]; without,
    @guvectorize('(n),()->(n)') compiles for what comes, and outputs have to be given. An axis name
    stands for one extent in all arguments; an output of no axes is an array of one element in the
    function. target: 'cpu', 'parallel' or 'cuda'. writable_args: names or positions of inputs that
    are written to as well; of a layout without outputs, '(n),()', those that the function writes
    to. The function takes axis=, axes= and keepdims= as NumPy's do. Raises ValueError where extents
    differ, TypeError where types do.
    """
    check_options("guvectorize", options)
    if isinstance(writable_args, (str, int)):
        raise TypeError(
            f"[guvectorize] writable_args are several; got {writable_args!r}; expected a tuple of "
            "names or positions"
        )
    if len(args) == 1 and isinstance(args[0], str) and args[0].lstrip().startswith("("):
        signatures, layout = None, args[0]
    elif len(args) == 2 and isinstance(args[1], str):
        signatures, layout = args
    else:
        what = "a function" if args and callable_function(args[0]) else repr(args)
        raise TypeError(
            f"[guvectorize] a layout is needed; got {what}; expected "
            "@guvectorize(types, '(n),()->(n)')"
        )
    declared = read_signatures(signatures)
    return lambda function: GUFunc(
        function, declared, layout, identity, target, tuple(writable_args), options
    )
