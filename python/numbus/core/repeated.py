"""ufunc.at while derivatives are recorded: in rounds, in each of which no element comes twice, by
operations that have derivatives of all orders.
"""

import numpy

from .. import _core
from .errors import message
from .operands import to_ndarray, to_numpy

# Rounds of one value after the other; more values of an element are combined by pairs.
_ROUNDS = 64
_PAIRS = frozenset("multiply maximum minimum fmax fmin logaddexp logaddexp2 hypot".split())


def update(ufunc, target, axes, indices, first, b):
    """Combines elements of `target` at `indices` with `b`, in the order in which they come.

    axes: bits of the axes of `target` that are indexed. first: where the axes of the indices stand
    among those of what is indexed. Raises IndexError for indices out of range.
    """
    named = [d for d in range(target.ndim) if axes >> d & 1]
    others = [d for d in range(target.ndim) if not axes >> d & 1]
    flat, many = _flat(ufunc, [target.shape[d] for d in named], indices)
    rest = tuple([target.shape[d] for d in others])
    moved = target.transpose((*named, *others))  # a view
    lines = None
    if b is not None:
        shape = (*rest[:first], *many, *rest[first:])
        front = range(first, first + len(many))
        order = (*front, *[d for d in range(len(shape)) if d not in front])
        lines = _core.broadcast_to(to_ndarray(b), shape).transpose(order)
        lines = lines.reshape((flat.size, *rest))
    order = numpy.argsort(flat, kind="stable")
    flat = flat[order]
    ranks = _ranks(flat)
    many_values = ranks.max(initial=0) >= _ROUNDS
    if many_values and ufunc.name in _PAIRS and lines.dtype == target.dtype:
        lines = lines[order]
        while ranks.max() > 0:
            lines, flat = _pairs(ufunc, lines, flat, ranks)
            ranks = _ranks(flat)
        order = numpy.arange(flat.size)
    for r in range(ranks.max(initial=-1) + 1):
        now = ranks == r
        at = numpy.unravel_index(flat[now], [target.shape[d] for d in named])
        old = moved[at]
        new = ufunc(old) if lines is None else ufunc(old, lines[order[now]])
        moved[at] = new.astype(moved.dtype)


def _flat(ufunc, extents, indices):
    """The numbers of the elements that are indexed, and the shape of the indices."""
    indices = numpy.broadcast_arrays(*[to_numpy(i) for i in indices])
    flat = numpy.zeros(indices[0].size, numpy.int64)
    for n, index in zip(extents, indices, strict=True):
        i = index.reshape(-1).astype(numpy.int64)
        wrong = i[(i < -n) | (i >= n)]
        if wrong.size:
            raise IndexError(
                message(f"{ufunc.name}.at", "index out of range", wrong[0], f"-{n} to {n - 1}")
            )
        flat = flat * n + numpy.where(i < 0, i + n, i)
    return flat, indices[0].shape


def _ranks(flat):
    """How many equal numbers stand before each of sorted ones."""
    begins = numpy.searchsorted(flat, flat)
    return numpy.arange(flat.size) - begins


def _pairs(ufunc, lines, flat, ranks):
    """Half as many values of each element."""
    even = numpy.flatnonzero(ranks % 2 == 0)
    both = numpy.flatnonzero(numpy.append(flat[1:] == flat[:-1], False)[even])
    left = even[both]
    fewer = lines[even]
    combined = ufunc(lines[left], lines[left + 1])
    fewer[both] = combined
    return fewer, flat[even]
