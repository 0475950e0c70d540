"""stencil: a function of an element's neighbours, for every element of an array."""

import ast
import functools
import inspect
import typing

import numpy

from .. import _core
from .._core import ndarray
from ..core.dtypes import kind_of
from ._dispatch import Dispatcher, callable_function, prange
from ._errors import CompileError, UnsupportedError
from ._generate import compiled, make, on_gpu
from ._resolve import Global, program

__all__ = ["StencilFunc", "stencil"]

# Elements from which on a GPU takes the interior alone faster than all with its borders guarded.
_LARGE = 1 << 22
_BLOCKS = {1: 256, 2: (32, 8), 3: (32, 4, 2)}


class _Number:
    """A function that the core knows by its number only."""

    def __init__(self, number):
        self._number = number

    def _kernel_function(self):
        return self._number


def _constant(node):
    """The integer that an index is, or None where it is known only at run time."""
    if isinstance(node, Global):
        literal = node.value if node.literal else None
        return int(literal) if isinstance(literal, (int, numpy.integer)) else None
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, ast.UnaryOp):
        inner = _constant(node.operand)
        if inner is not None and isinstance(node.op, ast.USub):
            return -inner
        return inner if isinstance(node.op, ast.UAdd) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)):
        left, right = _constant(node.left), _constant(node.right)
        if left is None or right is None:
            return None
        if isinstance(node.op, ast.Add):
            return left + right
        return left - right if isinstance(node.op, ast.Sub) else left * right
    return None


class _Relative(ast.NodeTransformer):
    """a[-1, 0] becomes a[i0 - 1, i1]; notes which offsets there are."""

    def __init__(self, function, names, standard, bounded):
        self.function, self.names, self.standard = function, set(names), set(standard)
        self.bounded = bounded  # the neighbourhood is given
        self.ndim, self.used, self.low, self.high = None, set(), None, None

    def wrong(self, message, node, hint="", kind=CompileError):
        raise kind(message, node, self.function, hint)

    def visit_Subscript(self, node):
        name = node.value.id if isinstance(node.value, ast.Name) else None
        if name not in self.names or name in self.standard:
            return self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            self.wrong(
                f"a stencil's kernel cannot assign to its array '{name}'",
                node,
                "return the new value of the element",
            )
        index = node.slice
        offsets = index.elts if isinstance(index, ast.Tuple) else [index]
        if isinstance(index, Global) and index.text == "tuple":
            offsets = index.elts
        if self.ndim is None:
            self.ndim = len(offsets)
            self.low, self.high = [0] * self.ndim, [0] * self.ndim
        if len(offsets) != self.ndim:
            self.wrong(
                f"all arrays of a stencil have the same dimensions; got {len(offsets)} indices "
                f"here and {self.ndim} before",
                node,
                f"stencil(standard_indexing=('{name}',)) for one that is indexed absolutely",
            )
        positions = []
        for d, offset in enumerate(offsets):
            if isinstance(offset, (ast.Slice, ast.Starred)):
                self.wrong(
                    "not yet in stencils: slices as relative indices",
                    node,
                    "write the elements one by one",
                    UnsupportedError,
                )
            known = _constant(offset)
            if known is None:
                if isinstance(offset, ast.Constant) or not self.bounded:
                    self.wrong(
                        "a relative index has to be a constant integer",
                        node,
                        "or give the range: stencil(neighborhood=((-1, 1), …))",
                    )
                offset = self.visit(offset)
            else:
                self.low[d] = min(self.low[d], known)
                self.high[d] = max(self.high[d], known)
            at = ast.Name(f"i{d}.position", ast.Load())
            if known != 0:
                at = ast.BinOp(at, ast.Add(), offset)
            positions.append(at)
        self.used.add(name)
        node.slice = positions[0] if self.ndim == 1 else ast.Tuple(positions, ast.Load())
        for new in positions:
            ast.copy_location(new, node)
            ast.fix_missing_locations(new)
        ast.copy_location(node.slice, node)
        return node


class _Elements(ast.NodeTransformer):
    """a[-1, 0] becomes a parameter of its own; notes which element it is."""

    def __init__(self, names):
        self.names, self.found = set(names), {}

    def visit_Subscript(self, node):
        name = node.value.id if isinstance(node.value, ast.Name) else None
        if name not in self.names:
            return self.generic_visit(node)
        index = node.slice
        offsets = index.elts if hasattr(index, "elts") else [index]
        key = name, tuple(_constant(o) for o in offsets)
        parameter = self.found.setdefault(key, f"e{len(self.found)}.element")
        return ast.copy_location(ast.Name(parameter, ast.Load()), node)


class Positions(typing.NamedTuple):
    """Where a stencil writes, reads its elements, and has borders, as slices."""

    interior: tuple
    elements: list
    borders: list


class StencilFunc:
    """A kernel of relative indices, for every element of its first array.

    Made by @stencil. Called with arrays (and numbers) as the kernel takes them, gives an array of
    the first one's shape and the type that the kernel returns, or fills out=. Elements whose
    neighbours lie outside get cval, and stay as they are where out= is given and cval is not.
    """

    def __init__(self, function, mode, options):
        functools.update_wrapper(self, function)
        if mode != "constant":
            raise NotImplementedError(f"[stencil] no such mode; got {mode!r}; expected 'constant'")
        self.py_func, self.options = function, options
        self.neighborhood = options.get("neighborhood")
        self._fills = "cval" in options
        self._cval = options.get("cval", 0)
        if not isinstance(self._cval, (bool, int, float, complex, numpy.generic)):
            raise TypeError(
                f"[stencil] cval has to be a number; got {type(self._cval).__name__}; expected a "
                "number of the kernel's result type"
            )
        self._names = list(inspect.signature(function).parameters)
        standard = options.get("standard_indexing") or ()
        self._standard = (standard,) if isinstance(standard, str) else tuple(standard)
        for name in self._standard:
            if name not in self._names:
                raise ValueError(
                    f"[stencil] standard_indexing names no parameter; got {name!r}; expected one "
                    f"of {', '.join(self._names)}"
                )
        if self._names and self._names[0] in self._standard:
            raise ValueError(
                "[stencil] the first parameter is the array that is indexed relatively; got "
                f"standard_indexing={self._standard}; expected others"
            )
        self._element = self._driver = None
        self._kernel = {}
        self._checked = set()

    def _make(self):
        """The kernel with absolute indices, and the loops around it."""
        program.function(self.py_func)  # first of all, so that names are known
        tree = program.tree(self.py_func)
        change = _Relative(self.py_func, self._names, self._standard, self.neighborhood is not None)
        body = tree.body if isinstance(tree.body, list) else [tree.body]
        body = [change.visit(n) for n in body]
        tree.body = body if isinstance(tree.body, list) else body[0]
        first = self._names[0] if self._names else "?"
        if first not in change.used:
            raise CompileError(
                f"the first parameter '{first}' is not indexed relatively",
                None,
                self.py_func,
                f"{first}[0] for the element itself",
            )
        self.ndim = change.ndim
        self._arrays = [n for n in self._names if n in change.used]
        low, high = change.low, change.high
        if self.neighborhood is not None:
            given = [tuple(n) for n in self.neighborhood]
            if len(given) != self.ndim or any(len(n) != 2 or n[0] > n[1] for n in given):
                raise ValueError(
                    "[stencil] neighborhood has a (low, high) for each axis; got "
                    f"{self.neighborhood}; expected {self.ndim} of them"
                )
            for d, (a, b) in enumerate(given):
                if low[d] < a or high[d] > b:
                    raise ValueError(
                        f"[stencil] an index lies outside of the neighborhood; got {low[d]} to "
                        f"{high[d]} on axis {d}; expected {a} to {b}"
                    )
            low, high = [a for a, _ in given], [b for _, b in given]
        self._slices = {}  # by shape
        self._before = [max(0, -a) for a in low]
        self._after = [max(0, b) for b in high]
        position = tree.args.args[-1]
        for d in range(self.ndim):
            tree.args.args.append(ast.copy_location(ast.arg(f"i{d}.position"), position))
        self._element = _Number(self._define(tree))
        self._elements = self._of_elements()
        title = self.__name__ if self.__name__.isidentifier() else "kernel"
        # `out` is the one name that a caller can use for it.
        self._driver = Dispatcher(
            make(
                title,
                self._loops(title),
                element=self._element,
                prange=prange,
                np=numpy,
                cval=self._cval,
            ),
            {"parallel": True, "error_model": "numpy", **self._flags()},
        )

    def _define(self, tree):
        """The number of a function of that tree."""
        number = _core.add_function(self.py_func.__name__, self.py_func.__code__.co_filename, 0)
        _core.define_function(number, tree)
        return number

    def _of_elements(self):
        """(function, numbers, elements): the kernel as a function of its numbers and the elements
        [(name, offsets)] that it reads. None where these are not all constants."""
        if self._standard:
            return None
        tree, change = program.tree(self.py_func), _Elements(self._arrays)
        body = tree.body if isinstance(tree.body, list) else [tree.body]
        body = [change.visit(n) for n in body]
        tree.body = body if isinstance(tree.body, list) else body[0]
        names = {n.id for b in body for n in ast.walk(b) if isinstance(n, ast.Name)}
        if names & set(self._arrays) or any(None in offsets for _, offsets in change.found):
            return None
        position = tree.args.args[0]
        numbers = [n for n in self._names if n not in self._arrays]
        tree.args.args = [a for a in tree.args.args if a.arg in numbers]
        tree.args.args += [ast.copy_location(ast.arg(p), position) for p in change.found.values()]
        function = _core.Dispatcher(
            self._define(tree), {"python_errors": False}, self.__name__, len(tree.args.args)
        )
        return function, numbers, list(change.found)

    def _flags(self):
        return {k: v for k, v in self.options.items() if k in ("fastmath", "boundscheck")}

    def _call(self):
        at = [f"i{d}" for d in range(self.ndim)]
        return f"element({', '.join([*self._offsets(), *at])})"

    def _offsets(self):
        """Names of the arguments in what is generated, where the user's may mean something."""
        return [f"x{k}" for k in range(len(self._names))]

    def _loops(self, title):
        """The text of the loops: the interior by the kernel, what lies around by cval."""
        n, names = self.ndim, self._offsets()
        a = names[0]
        rank = range(n)
        zeros = ", ".join([*names, *["0"] * n])
        at = ", ".join(f"i{d}" for d in rank)
        extents = ", ".join(f"{a}.shape[{d}]" for d in rank) + ","
        enough = " and ".join(f"{a}.shape[{d}] > {self._before[d] + self._after[d]}" for d in rank)
        lines = [f"def {title}({', '.join(names)}, out=None):"]
        for name in self._arrays[1:]:
            other = names[self._names.index(name)]
            small = " or ".join(f"{other}.shape[{d}] < {a}.shape[{d}]" for d in rank)
            lines += [
                f"    if {small}:",
                f"        raise ValueError('[stencil] array {name} is smaller than "
                f"{self._names[0]}; expected the same extents at least')",
            ]
        lines += [
            # Has no items: says what type the kernel's result has.
            f"    w = np.array([element({zeros}) for _ in range(0)])",
            "    if out is None:",
            f"        r = np.empty(({extents}), w.dtype)",
            "    else:",
            "        r = out",
        ]
        wrong = " or ".join(f"r.shape[{d}] != {a}.shape[{d}]" for d in rank)
        lines += [
            f"    if {wrong}:",
            "        raise ValueError('[stencil] out has the wrong shape; expected that of the "
            "first array')",
        ]
        fill = "out is None" if not self._fills else "True"
        lines += [f"    if {enough}:"]
        indent = " " * 8
        # Rows before and after, then each row: its beginning, the interior, its end.
        for d in rank:
            b, e = self._before[d], self._after[d]
            over = "prange" if d == 0 else "range"
            sides = ([f"range({b})"] if b else []) + (
                [f"range({a}.shape[{d}] - {e}, {a}.shape[{d}])"] if e else []
            )
            if sides:
                lines.append(f"{indent}if {fill}:")
            for side in sides:
                inner = indent + "    "
                lines.append(f"{inner}for i{d} in {side}:")
                for later in range(d + 1, n):
                    inner += "    "
                    lines.append(f"{inner}for i{later} in range({a}.shape[{later}]):")
                lines.append(f"{inner}    r[{at}] = cval")
            stop = f"{a}.shape[{d}] - {e}" if e else f"{a}.shape[{d}]"
            lines.append(f"{indent}for i{d} in {over}({b}, {stop}):")
            indent += "    "
            if d == 0:
                # What the rows see of outside is named before loops inside of them do.
                lines += [f"{indent}{name}" for name in ("r", *names)]
        lines.append(f"{indent}r[{at}] = {self._call()}")
        lines += [f"    elif {fill}:", "        r[...] = cval", "    return r"]
        return lines

    def _device_kernel(self, fills):
        """The same as a kernel, a thread for each element."""
        made = self._kernel.get(fills)
        if made is not None:
            return made
        from ..cuda._kernels import Kernel
        from ..cuda._names import grid

        n, a, rank = self.ndim, "x0", range(self.ndim)
        title = self.__name__ if self.__name__.isidentifier() else "kernel"
        at = ", ".join(f"i{d}" for d in rank)
        lines = [f"def {title}(r, {', '.join(self._offsets())}):"]
        if n <= 3:
            lines.append(f"    {', '.join(f'i{d}' for d in reversed(rank))} = grid({n})")
        else:
            lines.append("    t = grid(1)")
            for d in reversed(rank):
                lines.append(f"    i{d} = t % r.shape[{d}]" if d else "    i0 = t")
                lines.append(f"    t //= r.shape[{d}]")
        there = " and ".join(f"i{d} < r.shape[{d}]" for d in rank)
        inside = " and ".join(
            f"i{d} >= {self._before[d]} and i{d} < {a}.shape[{d}] - {self._after[d]}" for d in rank
        )
        lines += [f"    if {there}:", f"        if {inside}:"]
        lines.append(f"            r[{at}] = {self._call()}")
        if fills:
            lines += ["        else:", f"            r[{at}] = cval"]
        function = make(title, lines, element=self._element, grid=grid, cval=self._cval)
        options = {k: v for k, v in self._flags().items() if k == "fastmath"}
        made = self._kernel[fills] = Kernel(function, options)
        return made

    def _kernel_function(self):
        if self._driver is None:
            self._make()
        return self._driver._kernel_function()

    def __call__(self, *args, out=None):
        if self._driver is None:
            self._make()
        if len(args) != len(self._names):
            raise TypeError(
                f"[{self.__name__}] wrong number of arguments; got {len(args)}; expected "
                f"{len(self._names)}: {', '.join(self._names)}"
            )
        first = args[0]
        if not isinstance(first, (numpy.ndarray, ndarray)) or first.ndim != self.ndim:
            got = f"{first.ndim} dimensions" if hasattr(first, "ndim") else type(first).__name__
            raise TypeError(
                f"[{self.__name__}] the first argument has to be an array; got {got}; expected "
                f"{self.ndim} dimensions"
            )
        if self._cval != 0:
            self._check_cval(args, out)
        if out is not None:
            if not isinstance(out, (numpy.ndarray, ndarray)) or out.shape != first.shape:
                got = getattr(out, "shape", type(out).__name__)
                raise ValueError(
                    f"[{self.__name__}] out has the wrong shape; got {got}; expected {first.shape}"
                )
            args = [
                a.copy()
                if isinstance(a, numpy.ndarray)
                and isinstance(out, numpy.ndarray)
                and numpy.may_share_memory(a, out)
                else a
                for a in args
            ]
        result = self._record(args, out)
        if result is not None:
            return result
        if any(on_gpu(a) for a in (*args, out)):
            return self._on_device(args, out)
        return self._driver(*args) if out is None else self._driver(*args, out)

    def _record(self, args, out):
        """The call as steps over shifted views, which fuse with whatever else is pending; None
        where an array is NumPy's or the kernel has to run as loops of its own."""
        given = dict(zip(self._names, args, strict=True))
        if (
            self._elements is None
            or not all(isinstance(given[n], ndarray) for n in self._arrays)
            or not (out is None or isinstance(out, ndarray))
        ):
            return None
        self._check_extents(args)
        function, numbers, elements = self._elements
        shape = args[0].shape
        positions = self._slices.get(shape) or self._find_positions(shape)
        if not positions.interior:
            return None
        values = [given[n] for n in numbers]
        values += [given[n][at] for (n, _), at in zip(elements, positions.elements, strict=True)]
        inner = function.record(*values)
        if inner is None:
            return None
        result = out
        if out is None:
            if inner.shape == shape:
                return inner
            result = _core.to_device(_core.empty(shape, inner.dtype), args[0]._device)
        if out is None or self._fills:
            if on_gpu(result) and result.size >= _LARGE:
                for edge in positions.borders:
                    result[edge] = self._cval
            else:
                result[...] = self._cval
        result[positions.interior] = inner
        return result

    def _find_positions(self, shape):
        """The slices of an array of that shape that a call works with."""
        sides = list(zip(self._before, self._after, shape, strict=True))
        if any(b + e >= n for b, e, n in sides):
            return Positions((), (), ())
        elements = []
        for _, offsets in self._elements[2]:
            at = zip(sides, offsets, strict=True)
            elements.append(tuple([slice(b + o, n - e + o) for (b, e, n), o in at]))
        inside, borders = [], []
        for b, e, n in sides:
            # Two edges of one element are one slice, and so one kernel.
            edges = (slice(0, n, n - 1),) if b == e == 1 < n else (slice(0, b), slice(n - e, n))
            borders += [(*inside, edge) for edge in edges if edge.start < edge.stop]
            inside.append(slice(b, n - e))
        if len(self._slices) > 64:
            self._slices.clear()
        self._slices[shape] = positions = Positions(tuple(inside), elements, borders)
        return positions

    def _check_extents(self, args):
        first = args[0].shape
        for name, a in zip(self._names, args, strict=True):
            if name in self._arrays and any(m < n for m, n in zip(a.shape, first, strict=True)):
                raise ValueError(
                    f"[stencil] array {name} is smaller than {self._names[0]}; got {a.shape}; "
                    f"expected {first} at least"
                )

    def _check_cval(self, args, out):
        dtype = out.dtype if out is not None else self._dtype(args)
        cval = numpy.asarray(self._cval)
        kinds = "biufc"
        ok = kinds.index(cval.dtype.kind) <= kinds.index(kind_of(dtype))
        if ok and dtype.kind in "iu":
            ok = numpy.iinfo(dtype).min <= int(self._cval) <= numpy.iinfo(dtype).max
        if dtype.kind == "u" and cval.dtype.kind == "i":
            ok = 0 <= int(self._cval) <= numpy.iinfo(dtype).max
        if not ok:
            raise TypeError(
                f"[{self.__name__}] cval does not fit into the result; got {self._cval!r}; "
                f"expected a number of type {dtype}"
            )

    def _dtype(self, args):
        """The type of the kernel's result."""
        key = tuple((a.dtype, a.ndim) if hasattr(a, "dtype") else type(a) for a in args)
        known = self._kernel.get(key)
        if known is None:
            samples = [
                numpy.empty((0,) * a.ndim, a.dtype) if hasattr(a, "dtype") and a.ndim else a
                for a in args
            ]
            names = [f"x{k}" for k in range(len(args))]
            zeros = ", ".join([*names, *["0"] * self.ndim])
            lines = [
                f"def probe({', '.join(names)}):",
                f"    return np.array([element({zeros}) for _ in range(0)])",
            ]
            probe = compiled(
                "probe", lines, {"error_model": "numpy"}, element=self._element, np=numpy
            )
            known = self._kernel[key] = probe(*samples).dtype
        return known

    def _on_device(self, args, out=None):
        """Run by a kernel on the device of kernels."""
        if self._driver is None:
            self._make()
        first = args[0]
        fills = out is None or self._fills
        result = out
        if out is None:
            result = _core.empty(first.shape, self._dtype(args))
        self._check_extents(args)
        if result.size:
            block = _BLOCKS.get(self.ndim, 256)
            sizes = block if isinstance(block, tuple) else (block,)
            if self.ndim > 3:
                blocks = (-(-result.size // 256),)
            else:
                extents = first.shape[::-1]
                blocks = tuple(-(-n // b) for n, b in zip(extents, sizes, strict=True))
            self._device_kernel(fills)[blocks, sizes](result, *args)
        return result

    def __repr__(self):
        return f"<numbus.stencil {self.py_func.__qualname__}>"


_OPTIONS = {"cval", "neighborhood", "standard_indexing", "fastmath", "boundscheck", "func_or_mode"}


def stencil(func_or_mode="constant", **options):
    """Computes each element of an array from its neighbours: a[0, -1] is the one to the left.

    As @stencil, @stencil(cval=1.0) or stencil(function). Options: cval (what elements get whose
    neighbours lie outside, 0 by default), neighborhood (((low, high), …) for each axis, needed
    where indices are computed), standard_indexing (names of arrays that are indexed as usual).
    Called from Python or compiled functions, with out= or not; the outermost axis runs on several
    threads. Raises TypeError where cval does not fit into the result's type.
    """
    unknown = set(options) - _OPTIONS
    if unknown:
        raise TypeError(
            f"[stencil] no such option; got {', '.join(sorted(unknown))}; expected one of "
            f"{', '.join(sorted(_OPTIONS))}"
        )
    given = options.pop("func_or_mode", func_or_mode)
    if not isinstance(given, str) and callable_function(given):
        return StencilFunc(given, "constant", options)
    return lambda function: StencilFunc(function, given, options)
