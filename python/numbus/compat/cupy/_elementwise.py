"""ElementwiseKernel: C text for one element, run over broadcast arrays on either device."""

from keyword import iskeyword

import numpy

from numbus import _core, cuda
from numbus.kernels._generate import make

from ._parameters import (
    argument,
    check_names,
    decide_types,
    flat_raw,
    number,
    overlapping,
    parameters,
    unravel,
)
from .ctext import maths
from .ctext.parser import Parser
from .ctext.tokens import Source
from .ctext.translate import Functions, Translator
from .ctext.values import Name, has, members_in, names_in
from .cuda.stream import get_current_stream

THREADS = 256


def identifier(name):
    """The name of a kernel as one of a Python function, beside the others of its text."""
    taken = name in maths.GLOBALS or name in ("map_", "combine", "identity", "finish")
    return name if name.isidentifier() and not taken and not iskeyword(name) else "kernel"


def settled(body, name):
    """Whether statements assign to a variable before anything reads it or leaves."""
    if has(body, "return", "continue"):
        return False
    for s in body:
        if name in names_in(s):
            a = s.value if s.kind == "do" else None
            return (
                a is not None
                and a.kind == "assign"
                and not a.op
                and a.target.kind == "name"
                and a.target.name == name
                and name not in names_in(a.value)
            )
    return False


def launch_of(blocks, stream):
    """What a kernel is indexed with: the stream is the current one where none is given."""
    stream = get_current_stream() if stream is None else stream
    handle = getattr(stream, "_stream", 0)
    return (blocks, THREADS) if handle == 0 else (blocks, THREADS, handle)


def separate(args, outs):
    """The arguments, with copies of those that share memory with outputs not element by element."""
    return [
        a.copy() if type(a) is _core.ndarray and any(overlapping(a, o) for o in outs) else a
        for a in args
    ]


class ElementwiseKernel:
    """A kernel over the elements of arrays that broadcast, its body written in C.

    in_params, out_params: declarations such as 'T x, float32 y, raw S z'; a single letter stands
    for a type that arguments decide, `raw` for arrays that the body indexes itself. operation:
    statements; `i` is the element's index, `n` (and `_ind.size()`) their number. Called with the
    inputs it allocates outputs; with outputs too it fills them. size: how many elements where
    only raw arrays are given. Without arrays that are raw in all, shapes broadcast.

    preamble: #define, constants, __device__ functions. loop_prep and after_loop: statements before
    and after the operation. options: of compilers; '--use_fast_math' reassociates. reduce_dims and
    block_size have nothing to change.

    C text that does not compile raises CompileException when the kernel is made or first called;
    wrong arguments TypeError or ValueError.
    """

    def __init__(
        self, in_params, out_params, operation, name="kernel", reduce_dims=True, preamble="",
        no_return=False, return_tuple=False, doc="", loop_prep="", after_loop="", options=(),
    ):  # fmt: skip
        what = "ElementwiseKernel"
        self.in_params = parameters(in_params, what, False)
        self.out_params = parameters(out_params, what, True)
        self.params = [*self.in_params, *self.out_params]
        check_names(self.params, what)
        self.nin, self.nout = len(self.in_params), len(self.out_params)
        self.nargs = self.nin + self.nout
        self.operation, self.name, self.__name__ = operation, name, name
        self.reduce_dims, self.preamble, self.options = reduce_dims, preamble, tuple(options)
        self.no_return, self.return_tuple = no_return, return_tuple
        self.__doc__ = doc or type(self).__doc__
        placeholders = {p.type for p in self.params if p.dtype is None}
        macros = {}

        def parse(text, part):
            return Parser(Source(text, what, name, part), placeholders, macros)

        first = parse(preamble, "the preamble")
        self._functions = first.preamble()
        typedefs = first.typedefs

        def statements(text, part):
            parser = parse(text, part)
            parser.typedefs = dict(typedefs)
            return parser.body()

        self._prep = statements(loop_prep, "loop_prep")
        self._body = statements(operation, "the operation")
        self._after = statements(after_loop, "after_loop")
        body = [*self._prep, *self._body, *self._after]
        # Whether shapes and strides of raw arrays are passed along.
        self._asked = bool(members_in(body) & {"shape", "strides"})
        self._codes = {}
        self._quick = {}  # layouts of dense arrays, and numbers' types, to what they need

    def __call__(self, *args, stream=None, size=None, block_size=-1):
        key = known = None
        if size is None:
            key = tuple(
                [
                    (a.dtype, a.shape, a._contiguous[0], a._device)
                    if type(a) is _core.ndarray
                    else type(a)
                    for a in args
                ]
            )
            known = self._quick.get(key)
        if known is not None:
            outputs = self._again(known, args, stream)
        else:
            outputs = self._general(args, size, key, stream)
        if self.no_return:
            return None
        return tuple(outputs) if self.nout != 1 or self.return_tuple else outputs[0]

    def _again(self, known, args, stream):
        """A call with dense arrays and numbers such as there has been one."""
        code, blocks, n, dtypes, shape = known
        outputs = list(args[self.nin :])
        if outputs:
            args = separate(args, outputs)
        else:
            outputs = [_core.empty(shape, d) for d in dtypes[self.nin :]]
            args = (*args, *outputs)
        values = [
            a.reshape((-1,)) if type(a) is _core.ndarray else number(a, d)
            for a, d in zip(args, dtypes)
        ]
        code[launch_of(blocks, stream)](n, *values)
        return outputs

    def _general(self, args, size, quick, stream):
        name = self.name
        if len(args) not in (self.nin, self.nargs):
            raise TypeError(
                f"[{name}] wrong number of arguments; got {len(args)}; expected {self.nin}, or "
                f"{self.nargs} with the outputs"
            )
        given = [argument(a, name) for a in args]
        for p, a in zip(self.params[: len(given)], given):
            if not isinstance(a, _core.ndarray) and (p.raw or p in self.out_params):
                raise TypeError(
                    f"[{name}] {p.name} has to be an array; got {type(a).__name__}; expected an "
                    "array"
                )
        for p, a in zip(self.params, args):
            if p.writable and (type(a) is not _core.ndarray or a._device != _core.get_device()):
                where = a._device if type(a) is _core.ndarray else f"a {type(a).__name__}"
                raise TypeError(
                    f"[{name}] {p.name} is written to and has to be on the device in use; got "
                    f"{where}; expected an array on {_core.get_device()}"
                )
        every = [*given, *[None] * (self.nargs - len(given))]
        dtypes, bound = decide_types(self.params, every, name)
        shape = self._shape(every, size)
        outputs = []
        for k in range(self.nin, self.nargs):
            p = self.params[k]
            if every[k] is None:
                if p.raw:
                    raise ValueError(
                        f"[{name}] the size of {p.name} is not known; got no array; expected the "
                        "raw output among the arguments"
                    )
                every[k] = _core.empty(shape, dtypes[k])
            elif not p.raw and tuple(every[k].shape) != shape:
                raise ValueError(
                    f"[{name}] the output {p.name} has another shape; got "
                    f"{tuple(every[k].shape)}; expected {shape}"
                )
            outputs.append(args[k] if k < len(args) else every[k])
        n = int(numpy.prod(shape, dtype=int))
        if n:
            self._run(every, dtypes, bound, shape, n, quick, stream)
        return outputs

    def _shape(self, args, size):
        arrays = [
            a for p, a in zip(self.params, args) if isinstance(a, _core.ndarray) and not p.raw
        ]
        if arrays:
            if size is not None:
                raise ValueError(
                    f"[{self.name}] size is for raw arrays; got size={size} and arrays that are "
                    "not raw; expected no size"
                )
            try:
                return numpy.broadcast_shapes(*[tuple(a.shape) for a in arrays])
            except ValueError:
                raise ValueError(
                    f"[{self.name}] shapes do not broadcast; got "
                    f"{', '.join(str(tuple(a.shape)) for a in arrays)}; expected equal extents or 1"
                ) from None
        if size is None:
            raise ValueError(
                f"[{self.name}] the number of elements is not known; got only raw arrays and "
                "numbers; expected size=…"
            )
        return tuple(size) if isinstance(size, (tuple, list)) else (int(size),)

    def _run(self, args, dtypes, bound, shape, n, quick, stream):
        plain = [a for p, a in zip(self.params, args) if isinstance(a, _core.ndarray) and not p.raw]
        outs = [a for p, a in zip(self.params, args) if p.writable and isinstance(a, _core.ndarray)]
        dense = all(
            a.flags["C_CONTIGUOUS"] and (tuple(a.shape) == shape or a.size == 1) for a in plain
        )
        space = (n,) if dense else shape
        layout, values, back = [], [], []
        args = separate(args, outs)
        for p, a, dtype in zip(self.params, args, dtypes):
            if not isinstance(a, _core.ndarray):
                layout.append(None)
                values.append(number(a, dtype))
                continue
            if p.raw:
                flat, copied = flat_raw(a, p.writable)
                layout.append(f"raw {a.ndim}")
                values.append(flat)
                if self._asked:
                    steps = numpy.cumprod([a.itemsize, *a.shape[:0:-1]])[::-1]
                    extents = a.shape, steps if a.ndim else ()
                    values += [tuple([numpy.int64(e) for e in part]) for part in extents]
                if copied:
                    back.append((a, flat))
                continue
            if dense:
                axes = (0,) if a.size > 1 or n == 1 else ()
                values.append(a.reshape((-1,)))
            else:
                skip = len(space) - a.ndim
                own = [d for d in range(a.ndim) if a.shape[d] != 1]
                axes = tuple(skip + d for d in own)
                values.append(a.reshape([a.shape[d] for d in own] or [1]))
            layout.append(axes)
        key = (*layout, *dtypes, len(space), *sorted(bound.items()))
        code = self._codes.get(key)
        if code is None:
            code = self._codes[key] = self._compile(layout, dtypes, bound, len(space))
        blocks = -(-n // THREADS)
        extents = [numpy.int64(e) for e in space]
        code[launch_of(blocks, stream)](numpy.int64(n), *extents[1:], *values)
        raw = any(isinstance(position, str) for position in layout)
        if dense and not raw and quick is not None and len(self._quick) < 256:
            self._quick[quick] = code, blocks, numpy.int64(n), dtypes, shape
        for a, flat in back:
            a[...] = flat.reshape(a.shape)

    def _compile(self, layout, dtypes, bound, rank):
        functions = Functions(self._functions, bound)
        t = Translator(bound, functions)
        t.indent = "        "
        t.scopes[-1]["i"] = Name("v_i", "int64", writable=False, why="the element's index")
        t.scopes[-1]["n"] = Name("n", "int64", writable=False, why="the number of elements")
        t.scopes[-1]["_ind.size"] = Name("n", "int64", writable=False)
        t.used |= {"v_i"}
        body = [*self._prep, *self._body, *self._after]
        stores, arguments = [], []
        for k, (p, dtype) in enumerate(zip(self.params, dtypes)):
            position = layout[k]
            arguments.append(f"x{k}")
            if isinstance(position, str):
                made = t.scopes[-1][p.name] = Name(
                    f"x{k}", dtype.name, writable=p.writable, raw=True, why="an input"
                )
                made.rank = int(position.split()[1])
                if self._asked:
                    arguments += [f"x{k}_shape", f"x{k}_strides"]
                continue
            if position is None:
                text = f"x{k}"
            else:
                text = f"x{k}[{', '.join(f'i{d}' for d in position) or '0'}]"
            name = t.declare(p.name, dtype.name, writable=p.writable, why="an input")
            if not p.writable or not settled(body, p.name):
                t.emit(f"{name.text} = {text}")
            if p.writable and position is not None:
                stores.append(f"{text} = {name.text}")

        def store():
            for line in stores:
                t.emit(line)

        t.on_return = store
        t.constants(body)
        for s in self._prep:
            t.statement(s)
        t.scopes.append({})
        for s in self._body:
            t.statement(s)
        t.scopes.pop()
        for s in self._after:
            t.statement(s)
        store()
        extents = [f"s{d}" for d in range(1, rank)]
        arguments = ["n", *extents, *arguments]
        title = identifier(self.name)
        lines = [
            *functions.lines,
            f"def {title}({', '.join(arguments)}):",
            "    v_i = int64(grid(1))",
            "    if v_i < n:",
            *unravel("        ", "v_i", ["n", *extents], "i"),
            *t.lines,
        ]
        function = make(title, lines, **maths.GLOBALS)
        return cuda.jit(fastmath="--use_fast_math" in self.options)(function)

    def __repr__(self):
        return f"<cupy.ElementwiseKernel {self.name}>"
