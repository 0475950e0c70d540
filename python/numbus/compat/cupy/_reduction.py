"""ReductionKernel: C text for mapping, combining and finishing, over axes of arrays."""

import numpy

from numbus import _core, cuda
from numbus.kernels._generate import make

from ._elementwise import THREADS, identifier, launch_of
from ._parameters import (
    argument,
    check_names,
    decide_types,
    flat_raw,
    number,
    parameters,
    unravel,
)
from .ctext import maths
from .ctext.parser import Parser
from .ctext.tokens import Source, fail
from .ctext.translate import Functions, Translator
from .ctext.values import Name, names_in, zero

BLOCKS = 1024  # that share the elements of few results


def plan(results, elements):
    """(blocks for one result, elements of one block); 0 blocks where one thread does a result.

    Only numbers of elements decide, so that sums repeat bit for bit.
    """
    if elements <= 64 or (results >= 4096 and elements <= 1024):
        return 0, elements
    parts = 1 if results >= 256 else min(-(-elements // (16 * THREADS)), -(-BLOCKS // results))
    run = -(-elements // parts)
    return -(-elements // run), run


class ReductionKernel:
    """A reduction whose parts are written in C.

    in_params, out_params: as of ElementwiseKernel. map_expr: an expression of the inputs.
    reduce_expr: an expression that combines `a` and `b`. post_map_expr: statements that set the
    outputs from `a`. identity: an expression to begin with; without it, empty input is an error.
    reduce_type: C's type of `a` and `b`, the first output's by default. `_in_ind.size()` and
    `_out_ind.size()` are the numbers of elements and of results, `i` is a result's index and `_j`
    an element's. Called with the inputs, and axis=, keepdims=, out=.

    The order of combining depends on the numbers of elements alone. Raises what ElementwiseKernel
    raises.
    """

    def __init__(
        self, in_params, out_params, map_expr, reduce_expr, post_map_expr, identity,
        name="reduce_kernel", reduce_type=None, reduce_dims=True, preamble="", options=(),
    ):  # fmt: skip
        what = "ReductionKernel"
        self.in_params = parameters(in_params, what, False)
        self.out_params = parameters(out_params, what, True)
        self.params = [*self.in_params, *self.out_params]
        check_names(self.params, what)
        if not self.out_params or any(p.raw for p in self.out_params):
            raise ValueError(
                f"[{what}] outputs that are not results; got {out_params!r}; expected one or "
                "more, not raw"
            )
        for p in self.params:
            if p.name in ("a", "b"):
                raise ValueError(
                    f"[{what}] an argument with a name that means something else; got "
                    f"{p.name!r}; expected a name other than a and b"
                )
        self.nin, self.nout = len(self.in_params), len(self.out_params)
        self.nargs = self.nin + self.nout
        self.name = self.__name__ = name
        self.options, self.reduce_type, self.identity = tuple(options), reduce_type, identity
        placeholders = {p.type for p in self.params if p.dtype is None}
        macros = {}

        def parse(text, part):
            parser = Parser(Source(text, what, name, part), placeholders, macros)
            parser.typedefs = dict(typedefs)
            return parser

        typedefs = {}
        first = parse(preamble, "the preamble")
        self._functions = first.preamble()
        typedefs = first.typedefs
        self._map = parse(map_expr, "map_expr").only_expression()
        self._reduce = parse(reduce_expr, "reduce_expr").only_expression()
        self._post = parse(post_map_expr, "post_map_expr").body()
        empty = identity is None or not str(identity).strip()
        self._identity = None if empty else parse(str(identity), "identity").only_expression()
        self._type = None
        if reduce_type is not None:
            self._type = parse(reduce_type, "reduce_type").type_name()
        self._codes = {}

    def __call__(self, *args, out=None, axis=None, keepdims=False, stream=None, block_size=None):
        name = self.name
        if len(args) == self.nargs and out is None and self.nout == 1:
            *args, out = args
        if len(args) != self.nin:
            raise TypeError(
                f"[{name}] wrong number of arguments; got {len(args)}; expected {self.nin}"
            )
        given = [argument(a, name) for a in args]
        for p, a in zip(self.params, given):
            if p.raw and not isinstance(a, _core.ndarray):
                raise TypeError(
                    f"[{name}] {p.name} has to be an array; got {type(a).__name__}; expected an "
                    "array"
                )
        outs = [None] * self.nout
        if out is not None:
            outs = list(out) if isinstance(out, tuple) else [out]
        dtypes, bound = decide_types(self.params, [*given, *outs], name)
        plain = [
            a for p, a in zip(self.params, given) if isinstance(a, _core.ndarray) and not p.raw
        ]
        if not plain:
            raise ValueError(
                f"[{name}] the number of elements is not known; got no array that is not raw; "
                "expected one"
            )
        try:
            shape = numpy.broadcast_shapes(*[tuple(a.shape) for a in plain])
        except ValueError:
            raise ValueError(
                f"[{name}] shapes do not broadcast; got "
                f"{', '.join(str(tuple(a.shape)) for a in plain)}; expected equal extents or 1"
            ) from None
        over = self._axes(axis, len(shape))
        kept = [d for d in range(len(shape)) if d not in over]
        final = tuple(
            1 if d in over else shape[d] for d in range(len(shape)) if keepdims or d not in over
        )
        small = tuple(shape[d] for d in kept)
        results = int(numpy.prod(small, dtype=int))
        elements = int(numpy.prod([shape[d] for d in over], dtype=int))
        if elements == 0 and self._identity is None:
            raise ValueError(
                f"[{name}] nothing to reduce, and no identity; got an array of shape {shape}; "
                "expected elements"
            )
        made = []
        for k, o in enumerate(outs):
            if o is not None and tuple(o.shape) != final:
                raise ValueError(
                    f"[{name}] the output has another shape; got {tuple(o.shape)}; expected {final}"
                )
            made.append(_core.empty((results,), dtypes[self.nin + k]))
        if results:
            order = [*kept, *over]
            sizes = results, elements
            self._run(given, made, dtypes, bound, shape, order, len(kept), *sizes, stream)
        done = []
        for o, m in zip(outs, made):
            m = m.reshape(final)
            if o is not None:
                o[...] = m
            done.append(m if o is None else o)
        return done[0] if self.nout == 1 else tuple(done)

    def _axes(self, axis, rank):
        if axis is None:
            return list(range(rank))
        found = []
        for d in axis if isinstance(axis, (tuple, list)) else (axis,):
            if not -rank <= d < rank:
                raise numpy.exceptions.AxisError(
                    f"[{self.name}] no such axis; got {d}; expected {-rank} to {rank - 1}"
                )
            found.append(d % rank)
        if len(set(found)) != len(found):
            raise ValueError(
                f"[{self.name}] an axis is given twice; got {axis}; expected different ones"
            )
        return sorted(found)

    def _run(self, args, outs, dtypes, bound, shape, order, kept, results, elements, stream):
        full = [shape[d] for d in order]
        layout, values = [], []
        merged = True
        turned = []
        for p, a in zip(self.params, args):
            if isinstance(a, _core.ndarray) and not p.raw:
                a = a.reshape((1,) * (len(shape) - a.ndim) + tuple(a.shape)).transpose(order)
                merged &= list(a.shape) == full and bool(a.flags["C_CONTIGUOUS"])
            turned.append(a)
        rank = (1, 1) if merged else (kept, len(order) - kept)
        for p, a, dtype in zip(self.params, turned, dtypes):
            if not isinstance(a, _core.ndarray):
                layout.append(None)
                values.append(number(a, dtype))
            elif p.raw:
                layout.append("raw")
                values.append(flat_raw(a, False)[0])
            elif merged:
                layout.append(("o0", "j0"))
                values.append(a.reshape((results, elements)))
            else:
                own = [d for d in range(a.ndim) if a.shape[d] != 1]
                layout.append(tuple(f"o{d}" if d < kept else f"j{d - kept}" for d in own))
                values.append(a.reshape([a.shape[d] for d in own] or [1]))
        parts, run = plan(results, elements)
        extents = [] if merged else [*full[1:kept], *full[kept + 1 :]]
        t = dtypes[self.nin].name
        if self._type is not None:
            t = bound.get(self._type.name, self._type.name)

        def code(form, given):
            key = (form, *given, *dtypes, *rank, t, *sorted(bound.items()))
            if key not in self._codes:
                self._codes[key] = self._compile(form, given, dtypes, bound, rank, t)
            return self._codes[key]

        counts = numpy.int64(results), numpy.int64(elements)
        extents = [numpy.int64(e) for e in extents]
        if parts == 0:
            at = launch_of(-(-results // THREADS), stream)
            code("thread", layout)[at](*counts, run, *extents, *outs, *values)
        elif parts == 1:
            at = launch_of(results, stream)
            code("block", layout)[at](*counts, run, *extents, *outs, *values)
        else:
            partial = _core.empty((results * parts,), numpy.dtype(t))
            at = launch_of(results * parts, stream)
            code("part", layout)[at](*counts, run, *extents, partial, *values)
            at = launch_of(results, stream)
            code("merge", layout)[at](*counts, parts, *extents, *outs, *values, partial)

    def _compile(self, form, layout, dtypes, bound, rank, t):
        """One kernel. thread: a thread for each result; block: a block; part: several blocks,
        which leave what they have combined; merge: a block, which combines that."""
        functions = Functions(self._functions, bound)
        inputs = [f"x{k}" for k in range(self.nin)]
        outputs = [f"r{k}" for k in range(self.nout)]
        extra = ["_i", "_j", "_results", "_elements"]
        lines = []

        def scope(translator):
            s = translator.scopes[-1]
            s["i"] = Name("_i", "int64", writable=False, why="the result's index")
            s["_j"] = Name("_j", "int64", writable=False, why="the element's index")
            s["_in_ind.size"] = Name("_results * _elements", "int64", writable=False)
            s["_out_ind.size"] = Name("_results", "int64", writable=False)
            for k, (p, dtype) in enumerate(zip(self.in_params, dtypes)):
                raw = layout[k] == "raw"
                s[p.name] = Name(f"x{k}", dtype.name, writable=False, raw=raw, why="an input")

        def function(name, parameters, tree, variables):
            """An expression as a function that returns it in the reduction's type."""
            translator = Translator(bound, functions)
            scope(translator)
            for v in variables:
                translator.scopes[-1][v] = Name(f"v_{v}", t, writable=False, why="a part")
            translator.indent = "    "
            translator.constants([tree])
            value = translator.value(tree)
            if value.type == "void":
                fail(tree.at, "this has no value", "void", "a number")
            text = translator.convert(value, t, tree.at)
            lines.extend([f"def {name}({', '.join(parameters)}):", *translator.lines,
                          f"    return {text}"])  # fmt: skip

        function("map_", [*inputs, *extra], self._map, [])
        function("combine", ["v_a", "v_b", *inputs, *extra], self._reduce, ["a", "b"])
        if self._identity is not None:
            function("identity", extra, self._identity, [])
        if form != "part":
            self._finish(lines, functions, scope, dtypes, bound, t, [*inputs, *extra])

        extents = [f"e{d}" for d in range(1, rank[0])], [f"f{d}" for d in range(1, rank[1])]
        title = identifier(self.name)
        targets = ["partial"] if form == "part" else outputs
        tail = ["partial"] if form == "merge" else []
        head = ["_results", "_elements", "run", *extents[0], *extents[1], *targets, *inputs, *tail]
        body = [f"def {title}({', '.join(head)}):"]
        loads = []
        for k, position in enumerate(layout):
            if position is None or position == "raw":
                loads.append(f"x{k}")
            else:
                loads.append(f"x{k}[{', '.join(position) or '0'}]")
        values = ", ".join([*loads, "_i", "_j", "_results", "_elements"])
        # What combine() and finish() see of inputs that are no numbers or raw arrays has no value.
        whole = [
            x if position is None or position == "raw" else zero(dtype.name)
            for x, position, dtype in zip(inputs, layout, dtypes)
        ]
        fixed = ", ".join([*whole, "_i", "_j", "_results", "_elements"])
        where = unravel("", "_i", ["", *extents[0]], "o") if rank[0] else []
        element = unravel("", "_j", ["", *extents[1]], "j") if rank[1] else []
        value = f"map_({values})"
        if form == "merge":
            element, value = [], "partial[_i * run + _j]"

        def add(indent, *texts):
            body.extend("    " * indent + text for text in texts)

        def finish(indent, text):
            if form == "part":
                add(indent, f"partial[blockIdx.x] = {text}")
                return
            add(indent, f"_v = finish({text}, {fixed})")
            for k, o in enumerate(outputs):
                add(indent, f"{o}[_i] = _v{f'[{k}]' if self.nout > 1 else ''}")

        start = "identity(_i, _j, _results, _elements)"
        if form == "thread":
            add(1, "_i = int64(grid(1))", "if _i < _results:")
            add(2, *where, "_j = int64(0)")
            if self._identity is None:
                add(2, *element, f"acc = {value}", "_j = int64(1)")
            else:
                add(2, f"acc = {start}")
            add(2, "while _j < _elements:")
            add(3, *element, f"acc = combine(acc, {value}, {fixed})", "_j += int64(1)")
            finish(2, "acc")
        else:
            self._block(add, form, where, element, value, fixed, start, t)
            finish(2, "total")
        function_ = make(title, [*functions.lines, *lines, *body], **maths.GLOBALS)
        return cuda.jit(fastmath="--use_fast_math" in self.options)(function_)

    def _block(self, add, form, where, element, value, fixed, start, t):
        """The lines of a block that combines a run of elements in shared memory."""
        dtype = "bool_" if t == "bool" else t
        add(1, f"s = shared.array({THREADS}, {dtype})", "t = int64(threadIdx.x)")
        if form == "part":
            add(1, "parts = (_elements + run - 1) // run", "_i = int64(blockIdx.x) // parts")
            add(1, "begin = int64(blockIdx.x) % parts * run", "end = min(begin + run, _elements)")
        else:
            end = "int64(run)" if form == "merge" else "_elements"
            add(1, "_i = int64(blockIdx.x)", "begin = int64(0)", f"end = {end}")
        add(1, f"live = min(int64({THREADS}), end - begin)", "_j = begin + t", "if t < live:")
        add(2, *where, *element, f"acc = {value}", f"_j += int64({THREADS})", "while _j < end:")
        add(3, *element, f"acc = combine(acc, {value}, {fixed})", f"_j += int64({THREADS})")
        add(2, "s[t] = acc")
        add(1, "syncthreads()", "step = int64(1)", f"while step < {THREADS}:")
        add(2, "if t % (2 * step) == 0 and t + step < live:")
        add(3, f"s[t] = combine(s[t], s[t + step], {fixed})")
        add(2, "syncthreads()", "step *= int64(2)")
        add(1, "if t == 0:")
        add(2, "total = s[0]")
        if form != "part" and self._identity is not None:
            add(2, f"total = combine({start}, total, {fixed})")

    def _finish(self, lines, functions, scope, dtypes, bound, t, parameters_):
        """post_map_expr as a function that returns the outputs."""
        translator = Translator(bound, functions)
        scope(translator)
        translator.scopes[-1]["a"] = Name("v_a", t)
        translator.used.add("v_a")
        translator.indent = "    "
        translator.constants(self._post)
        outputs = []
        for p, dtype in zip(self.out_params, dtypes[self.nin :]):
            made = translator.declare(p.name, dtype.name)
            translator.emit(f"{made.text} = {zero(dtype.name)}")
            outputs.append(made.text)
        missing = {p.name for p in self.out_params} - names_in(self._post)
        if missing and self._post:
            fail(self._post[0].at, "an output is not set", sorted(missing)[0],
                 f"{sorted(missing)[0]} = …")  # fmt: skip

        def leave():
            translator.emit(f"return {', '.join(outputs)}")

        translator.on_return = lambda: None
        for s in self._post:
            translator.statement(s)
        leave()
        lines.extend([f"def finish(v_a, {', '.join(parameters_)}):", *translator.lines])

    def __repr__(self):
        return f"<cupy.ReductionKernel {self.name}>"
