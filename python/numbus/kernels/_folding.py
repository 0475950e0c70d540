"""What ufuncs have beside being called: reduce, accumulate, reduceat, outer, at."""

import numpy

from .. import _core
from .._core import ndarray
from ._generate import PYTHON, compiled, host, on_gpu, operand

_NOTHING = object()


class Folding:
    """The methods of a function of two numbers; made for DUFunc, whose loops it uses."""

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
        positions = numpy.ascontiguousarray(indices, numpy.int64)
        n = a.shape[axis]
        if positions.size and (positions.min() < 0 or positions.max() >= n):
            raise IndexError(
                f"[{self.__name__}.reduceat] an index is out of bounds; got "
                f"{positions.min()} to {positions.max()}; expected 0 to {n - 1}"
            )
        outer = int(numpy.prod(a.shape[:axis], dtype=int))
        result = numpy.empty((*a.shape[:axis], len(positions), *a.shape[axis + 1 :]), loop.output)
        if result.size:
            code = self._fold("reduceat", _REDUCEAT, loop)
            dense = numpy.ascontiguousarray(a).reshape(outer, n, -1)
            code(dense, positions, result.reshape(outer, len(positions), -1))
        return _give(result, out, ours)

    def outer(self, a, b, **kwargs):
        """The function of all pairs; shape a.shape + b.shape."""
        self._binary("outer")
        a, b = operand(a), operand(b)
        if not isinstance(a, PYTHON):
            ndim = 0 if isinstance(b, PYTHON) else b.ndim
            a = a.reshape((*a.shape, *(1,) * ndim))
        return self(a, b, **kwargs)

    def at(self, a, indices, b=None):
        """Applies the function at these positions of `a` in place, repeated ones repeatedly."""
        if (b is None) != (self.nin == 1) or self.nin > 2:
            raise ValueError(
                f"[{self.__name__}.at] takes one value for each further argument; got "
                f"{self.nin} arguments; expected 1 or 2"
            )
        target = host(a)
        if on_gpu(a):
            target = numpy.array(a)
        numbers = numpy.arange(target.size).reshape(target.shape)
        at = tuple(map(host, indices)) if isinstance(indices, tuple) else host(indices)
        positions = numpy.asarray(numbers[at])
        flat = target.reshape(-1) if target.flags.c_contiguous else target.ravel()
        flat_positions = numpy.ascontiguousarray(positions.reshape(-1))
        if self.nin == 1:
            loop = self._choose((target.dtype,))
            self._fold("at1", _AT_ONE, loop)(flat, flat_positions)
        else:
            b = operand(b)
            kind = b if isinstance(b, PYTHON) else b.dtype
            loop = self._choose((target.dtype, kind))
            if not isinstance(b, PYTHON):
                b = numpy.broadcast_to(host(b), positions.shape).reshape(-1)
                self._fold("at", _AT, loop)(flat, flat_positions, b)
            else:
                self._fold("at_number", _AT_NUMBER, loop)(flat, flat_positions, b)
        if not target.flags.c_contiguous:
            target[...] = flat.reshape(target.shape)
        if on_gpu(a):
            a[...] = target


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
def reduceat(a, positions, o):
    for i in range(a.shape[0]):
        for p in range(positions.shape[0]):
            begin = positions[p]
            end = a.shape[1]
            if p + 1 < positions.shape[0]:
                end = positions[p + 1]
            for j in range(a.shape[2]):
                o[i, p, j] = a[i, begin, j]
            for k in range(begin + 1, end):
                for j in range(a.shape[2]):
                    o[i, p, j] = @{o[i, p, j]}{R(a[i, k, j])}
""".strip().split("\n")

_AT = """
def at(a, positions, b):
    for k in range(positions.shape[0]):
        a[positions[k]] = @{a[positions[k]]}{b[k]}
""".strip().split("\n")

_AT_NUMBER = [line.replace("b[k]", "b") for line in _AT]
_AT_NUMBER[0] = "def at_number(a, positions, b):"
_AT_ONE = """
def at1(a, positions):
    for k in range(positions.shape[0]):
        a[positions[k]] = @{a[positions[k]]}
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
    """(before, combined, after) as a dense array of three axes, and the order of kept axes."""
    run = axes and axes == tuple(range(axes[0], axes[-1] + 1))
    if run and a.flags["C_CONTIGUOUS"]:
        before = int(numpy.prod(a.shape[: axes[0]], dtype=int))
        count = int(numpy.prod([a.shape[d] for d in axes], dtype=int))
        after = int(numpy.prod(a.shape[axes[-1] + 1 :], dtype=int))
        return a.reshape(before, count, after), kept
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
