"""Elements repeated or moved round: tile, repeat, roll."""

import operator

import numpy

from .. import _core
from ..core.errors import message, one_axis
from ..core.operands import to_ndarray, whole_numbers
from ..core.quick import FUSING, few, quick
from . import names as np
from .axes import interleaved, leading, multiplied, product
from .joining import _along
from .manipulation import expand_dims
from .names import compiled as _compiled
from .registry import Any, Array, function

__all__ = ["repeat", "roll"]


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


@quick("repeat")
@few(numpy.repeat)
def repeat(a, repeats, axis=None):
    """Each element repeated: `repeats` is an int, or one int per element along `axis` (None:
    flattened).
    """
    a = to_ndarray(a)
    if axis is None or (not a.ndim and axis in (0, -1)):
        a, axis = a.ravel(), 0
    axis = one_axis("repeat", axis, a.ndim)
    counts = numpy.asarray(whole_numbers(repeats))
    if counts.ndim > 1:
        raise ValueError(message("repeat", "counts of several axes", counts.shape, "one axis"))
    if counts.dtype.kind not in "iub":
        raise TypeError(message("repeat", "counts", counts.dtype, "integers"))
    counts = counts.astype(numpy.int64)
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
    if type(shift) is int and type(axis) is int:
        pairs = ((shift, axis),)
    else:
        shifts, axes = numpy.broadcast_arrays(shift, axis)
        pairs = zip(shifts.ravel().tolist(), axes.ravel().tolist())
    shape = a.shape
    moves = [0] * len(shape)
    for amount, where in pairs:
        d = one_axis("roll", where, len(shape))
        moves[d] = (moves[d] + int(amount)) % max(shape[d], 1)
    return _core.roll(a, moves)
