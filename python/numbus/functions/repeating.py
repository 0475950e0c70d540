"""Elements repeated or moved round: tile, repeat, roll."""

import operator

import numpy

from ..core.errors import message
from ..core.operands import whole_numbers
from ..core.quick import FUSING, few, quick
from . import names as np
from .axes import distinct, interleaved, leading, multiplied, product
from .joining import _along
from .names import compiled as _compiled
from .registry import Any, Array, AxisOrNumber, Flat, function

__all__ = []

_AxisError = numpy.exceptions.AxisError


@function("np.tile", few=FUSING)
def tile(A: Array, reps: Any):
    """`A` repeated along each axis: `reps` is an int or a sequence of ints, the last for the last
    axis. Raises TypeError for other numbers, ValueError for negative ones.
    """
    counts = _counts(reps)
    ndim = max(A.ndim, len(counts))
    shape, counts = leading(A.shape, ndim), leading(counts, ndim)
    blocks = A.reshape(interleaved((1,) * ndim, shape))
    spread = np.broadcast_to(blocks, interleaved(counts, shape)).copy()
    return spread.reshape(multiplied(counts, shape))


def _few_resized(a, new_shape):
    """What NumPy does with few elements, in fewer steps than its own function."""
    result = numpy.empty(new_shape, a.dtype)
    if a.size:
        result.flat = a  # which begins again as often as needed
    else:
        result.fill(0)
    return result


@function("np.resize")
@few(_few_resized, FUSING)
def resize(a: Array, new_shape: Any):
    """A new array of `new_shape` (an int or ints) with the elements of the flattened `a`, from the
    first one again and again; zeros where `a` has none. ValueError for negative extents.
    """
    shape = _counts(new_shape)
    size, n = product(shape), a.size
    for extent in shape:
        if extent < 0:
            raise ValueError(f"[resize] negative extent; got {extent}; expected 0 or more")
    if n == 0 or size == 0:
        return np.zeros(shape, a.dtype)
    flat = a.ravel()
    if size <= n:
        return flat[:size].copy().reshape(shape)
    rounds = -(-size // n)
    many = np.broadcast_to(flat[None, :], (rounds, n)).copy().reshape(rounds * n)
    return many[:size].reshape(shape)


def _counts(reps):
    """The numbers of repeats, a tuple."""
    if _compiled:
        return tuple(reps) if isinstance(reps, tuple) or np.ndim(reps) else (reps,)
    return tuple(map(operator.index, reps)) if np.ndim(reps) else (operator.index(reps),)


@function("np.repeat")
@quick("repeat")
@few(numpy.repeat)
def repeat(a: Array, repeats: Any, axis: AxisOrNumber | Flat = None):
    """Each element repeated: `repeats` is an int, or one int per element along `axis` (None:
    flattened). ValueError for negative ones and for another number of them.
    """
    counts = _integers("repeat", repeats)
    if np.ndim(counts) == 0:
        return _each_repeated(a, int(counts), axis)
    n = a.shape[axis]
    if counts.shape[0] != n and counts.shape[0] != 1:
        raise ValueError(f"[repeat] number of counts; got another; expected 1 or {n}")
    if counts.shape[0] != n:
        counts = np.broadcast_to(counts, (n,))
    if n > 0 and bool(np.any(counts < 0)):
        raise ValueError("[repeat] negative count; got one; expected counts >= 0")
    return a[_along(axis, a.ndim, _sources(counts))]


def _integers(op, x):
    """Counts as a number or one axis of int64; those of Python's may be floats, which are cut."""
    if _compiled:
        return np.asarray(x) if isinstance(x, (tuple, list)) else x
    counts = whole_numbers(x)
    if counts.ndim > 1:
        raise ValueError(message(op, "counts of several axes", counts.shape, "one axis"))
    if counts.dtype.kind not in "iub":
        raise TypeError(message(op, "counts", counts.dtype, "integers"))
    if counts.size == 1:
        return counts.item()
    return counts.astype(np.int64)


def _each_repeated(a, count, axis):
    n = a.shape[axis]
    if count < 0 and n > 0:
        raise ValueError(f"[repeat] negative count; got {count}; expected counts >= 0")
    before, after = a.shape[:axis], a.shape[axis + 1 :]
    spread = a[_along(axis + 1, a.ndim + 1, None)]
    many = np.broadcast_to(spread, before + (n, max(count, 0)) + after).copy()
    return many.reshape(before + (n * max(count, 0),) + after)


def _sources(counts):
    """Which element stands at each index where element k is repeated counts[k] times."""
    if _compiled:
        at, found = 0, np.empty(np.sum(counts), np.int64)
        for k in range(counts.shape[0]):
            found[at : at + counts[k]] = k
            at += counts[k]
        return found
    # One more at each index where the next element begins.
    ends = np.cumsum(counts)
    begun = np.zeros(int(ends[-1]) + 1 if counts.size else 1, np.int64)
    np.add.at(begun, ends, 1)
    return np.cumsum(begun[:-1])


@function("np.roll")
def roll(a: Array, shift: Any, axis: Any = None):
    """`a` with its elements moved by `shift` along `axis` (int or tuples; None: flattened), going
    round.
    """
    if axis is None:
        return np.roll(a.ravel(), shift, 0).reshape(a.shape)
    if _compiled:
        several = np.ndim(shift) > 0 and not isinstance(shift, tuple)
        if several or not isinstance(axis, (int, tuple)):
            shifts, axes = np.broadcast_arrays(np.asarray(shift), np.asarray(axis))
            return _rolled_everywhere(a, shifts.ravel(), axes.ravel())
        if isinstance(axis, tuple) and len(axis) == 0 and not isinstance(shift, tuple):
            return a.copy()
    return _rolled(a, _shifts(shift, axis))


def _rolled_everywhere(a, shifts, axes):
    """Along axes that are known when the compiled function runs."""
    if shifts.dtype.kind not in "iub" or axes.dtype.kind not in "iu":
        raise TypeError("[roll] shifts and axes; got other types; expected integers")
    by = np.zeros(a.ndim, np.int64)
    for k in range(axes.size):
        d = axes[k]
        if not (-a.ndim <= d < a.ndim):
            raise _AxisError(f"[roll] axis {d} is out of bounds for array of dimension {a.ndim}")
        by[d] += shifts[k]
    result = np.empty(a.shape, a.dtype)
    _place_parts(a, result, _of_each(by, a.ndim), (), ())
    return result


def _of_each(by, ndim):
    """Pairs of a shift and its axis, for all axes."""
    if ndim == 0:
        return ()
    return _of_each(by, ndim - 1) + ((by[ndim - 1], ndim - 1),)


def _shifts(shift, axis):
    """Pairs of a shift and its axis."""
    if isinstance(shift, int) and isinstance(axis, int):
        return ((shift, axis),)
    if not _compiled:
        shifts, axes = numpy.broadcast_arrays(shift, axis)
        return tuple(zip(map(int, shifts.ravel().tolist()), axes.ravel().tolist()))
    if isinstance(axis, tuple):
        if isinstance(shift, tuple):
            if len(axis) == 1:
                return tuple([(s, axis[0]) for s in shift])
            if len(shift) == 1:
                return tuple([(shift[0], d) for d in axis])
            if len(shift) != len(axis):
                raise ValueError("[roll] shifts and axes; got other numbers; expected as many")
            return tuple([(s, d) for s, d in zip(shift, axis)])
        return tuple([(shift, d) for d in axis])
    if isinstance(shift, tuple):
        return tuple([(s, axis) for s in shift])
    return ((shift, axis),)


def _rolled(a, pairs):
    result = np.empty(a.shape, a.dtype)
    known = tuple([(int(shift), distinct("roll", axis, a.ndim)[0]) for shift, axis in pairs])
    _place_parts(a, result, known, (), ())
    return result


def _place_parts(a, result, pairs, source, target):
    """Stores the parts of `a` whose indices of the first axes are known, by the further axes."""
    d = len(source)
    if d == a.ndim:
        result[target] = a[source]
        return
    n, moved = a.shape[d], _moves(pairs, d)
    first = -_shift(pairs, d) % max(n, 1) if moved else 0
    if not moved or (not _compiled and first == 0):
        _place_parts(a, result, pairs, source + (slice(None),), target + (slice(None),))
        return
    end = n - first
    _place_parts(a, result, pairs, source + (slice(first, n),), target + (slice(0, end),))
    _place_parts(a, result, pairs, source + (slice(0, first),), target + (slice(end, n),))


def _moves(pairs, d):
    """Whether there is a shift along axis d."""
    return len(pairs) > 0 and (pairs[0][1] == d or _moves(pairs[1:], d))


def _shift(pairs, d):
    """The sum of the shifts along axis d."""
    if len(pairs) == 0:
        return 0
    own = pairs[0][0] if pairs[0][1] == d else 0
    return own + _shift(pairs[1:], d)
