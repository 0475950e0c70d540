"""Elements repeated or moved round: tile, repeat, roll."""

import itertools
import operator

import numpy

from .. import _core
from ..core.errors import message, one_axis
from ..core.operands import to_ndarray
from .joining import _along
from .manipulation import expand_dims

__all__ = ["repeat", "roll", "tile"]


def tile(A, reps):
    """`A` repeated `reps` times along each axis."""
    a = to_ndarray(A)
    reps = (operator.index(reps),) if hasattr(reps, "__index__") else tuple(map(int, reps))
    ndim = max(a.ndim, len(reps))
    shape = (1,) * (ndim - a.ndim) + a.shape
    reps = (1,) * (ndim - len(reps)) + reps
    pairs = tuple(itertools.chain.from_iterable([(1, extent) for extent in shape]))
    spread = tuple(itertools.chain.from_iterable(zip(reps, shape)))
    result = _core.broadcast_to(a.reshape(pairs), spread).copy()
    return result.reshape(tuple([rep * extent for rep, extent in zip(reps, shape)]))


def repeat(a, repeats, axis=None):
    """Each element repeated: `repeats` is an int, or one int per element along `axis` (None:
    flattened).
    """
    a = to_ndarray(a)
    if axis is None:
        a, axis = a.ravel(), 0
    axis = one_axis("repeat", axis, a.ndim)
    counts = numpy.asarray(repeats)
    if counts.size == 1:
        count = operator.index(counts.reshape(())[()])
        if count < 0:
            raise ValueError(message("repeat", "negative count", count, "counts >= 0"))
        shape = a.shape[: axis + 1] + (count,) + a.shape[axis + 1 :]
        result = _core.broadcast_to(expand_dims(a, axis + 1), shape).copy()
        return result.reshape(a.shape[:axis] + (a.shape[axis] * count,) + a.shape[axis + 1 :])
    if counts.shape != (a.shape[axis],):
        raise ValueError(
            message("repeat", "wrong number of counts", counts.shape, (a.shape[axis],))
        )
    chosen = numpy.repeat(numpy.arange(a.shape[axis]), counts)
    return a[_along(axis, a.ndim, _core.from_numpy(chosen))]


def roll(a, shift, axis=None):
    """`a` with its elements moved by `shift` along `axis` (int or tuples; None: flattened), going
    round.
    """
    a = to_ndarray(a)
    if axis is None:
        return roll(a.ravel(), shift, 0).reshape(a.shape)
    shifts, axes = numpy.broadcast_arrays(shift, axis)
    moves = [0] * a.ndim
    for amount, where in zip(shifts.ravel().tolist(), axes.ravel().tolist()):
        moves[one_axis("roll", where, a.ndim)] += int(amount)
    if a.size == 0:
        return a.copy()
    pieces = []
    for extent, move in zip(a.shape, moves):
        move %= extent
        whole = [(slice(None), slice(None))]
        around = [
            (slice(move, None), slice(0, extent - move)),
            (slice(0, move), slice(extent - move, None)),
        ]
        pieces.append(around if move else whole)
    result = _core.empty(a.shape, a.dtype)
    for piece in itertools.product(*pieces):
        result[tuple([to for to, _ in piece])] = a[tuple([source for _, source in piece])]
    return result
