"""Distances of all pairs of rows."""

import functools

import numpy

import numbus as nb

from .. import _core
from ..core.dtypes import kind_of
from ..core.errors import message
from ..core.host import on_host
from ._functions import tensor_function

_MODES = (
    "use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist",
)  # fmt: skip
_NEVER = 2  # the mode without products

# Products of matrices are quicker for rows of so many elements, and so much work.
_LONG, _WORK = 32, 1 << 20
# Squares of distances below this share of the rows' own squares are computed by differences: more
# than three digits were lost there.
_NEAR = 0.01


@tensor_function
def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    """Distances of all pairs of rows, of order p.

    Those of order 2 of many long rows are found by a product of matrices on a CPU, unless
    `compute_mode` forbids it, and by differences again where rows are so near that digits would be
    lost.
    """
    mode = _MODES.index(compute_mode) if compute_mode in _MODES else compute_mode
    if mode not in (0, 1, _NEVER, None):
        raise ValueError(message("cdist", "unknown compute_mode", compute_mode, list(_MODES)))
    if kind_of(x1.dtype) != "f" or kind_of(x2.dtype) != "f":
        raise RuntimeError(
            message("cdist", "not floating point", f"{x1.dtype}, {x2.dtype}", "floating point")
        )
    t = x1.dtype
    usual = x1.ndim >= 2 <= x2.ndim and x1.shape[-1] == x2.shape[-1]
    if not usual or t != x2.dtype or not (on_host(x1) and on_host(x2)):
        return _of_order(x1[..., :, None, :] - x2[..., None, :, :], p, -1)
    if p == 2 and t.itemsize > 2 and x1.size and x2.size:
        batch = nb.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
        x1, x2 = [nb.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (x1, x2)]
        return _euclidean(x1, x2, mode == _NEVER)
    return _of_order(_by_columns(x1, x2), p, -3)


def _by_columns(x1, x2):
    """Differences with the rows' elements first, so that sums of them are those of columns, which
    a CPU's vectors do side by side.
    """
    first, second = [nb.ascontiguousarray(nb.swapaxes(x, -1, -2)) for x in (x1, x2)]
    return first[..., :, None] - second[..., None, :]


def _by_differences(x1, x2):
    return nb.sum(nb.square(_by_columns(x1, x2)), axis=-3)


def _by_products(x1, x2):
    """Squares of distances."""
    own = _own_squares(x1, x2)
    squares = own - 2 * (x1 @ nb.swapaxes(x2, -1, -2))
    near = nb.flatnonzero(~(squares >= _NEAR * own))
    if near.size > squares.size // 16:
        return _by_differences(x1, x2)
    if not near.size:
        return squares
    rows, columns = x1.shape[-2], x2.shape[-2]
    at, column = nb.divmod(near, columns)
    second = at // rows * columns + column
    flat = [nb.reshape(x, (-1, x.shape[-1])) for x in (x1, x2)]
    line = nb.reshape(squares, (-1,))
    line[near] = nb.sum(nb.square(flat[0][at] - flat[1][second]), -1)
    return nb.reshape(line, squares.shape)


def _own_squares(x1, x2):
    return nb.sum(nb.square(x1), -1)[..., :, None] + nb.sum(nb.square(x2), -1)[..., None, :]


@functools.partial(nb.custom_gradient, repeats=True)
def _euclidean(x1, x2, exact):
    # What is the same for all rows would cost digits.
    middle = nb.mean(nb.stop_gradient(x2), axis=-2, keepdims=True)
    x1, x2 = x1 - middle, x2 - middle
    watched = _core.watching() and (_core.depends(x1) or _core.depends(x2))
    work = x1.size * x2.shape[-2]
    known = not (watched or _core.capturing())  # elements may be looked at
    if exact or not known or x1.shape[-1] < _LONG or work < _WORK:
        squares = _by_differences(x1, x2)
    else:
        squares = _by_products(x1, x2)
    same = squares == 0
    one, zero = squares.dtype.type(1), squares.dtype.type(0)
    made = nb.sqrt(nb.where(same, one, squares))
    distances = nb.where(same, zero, made)

    def pull(g):
        share = nb.where(same, zero, g / made)
        near = ~same & ~(squares >= _NEAR * _own_squares(x1, x2))
        if exact or not known or _core.watching() or bool(nb.any(near)):
            parts = share[..., None, :, :] * _by_columns(x1, x2)
            sums = nb.sum(parts, axis=-1), -nb.sum(parts, axis=-2)
            return (*[nb.swapaxes(x, -1, -2) for x in sums], None)
        by_first = x1 * nb.sum(share, -1)[..., None] - share @ x2
        return by_first, x2 * nb.sum(share, -2)[..., None] - nb.swapaxes(share, -1, -2) @ x1, None

    return distances, pull


def _of_order(d, p, axis):
    from .reductions import norm

    if p == float("inf"):  # each of several largest differences counts as a whole in a derivative
        size = nb.abs(d)
        largest = nb.max(nb.stop_gradient(size), axis=axis, keepdims=True)
        is_largest = (nb.stop_gradient(size) == largest) & (largest > 0)
        exact = nb.max(nb.stop_gradient(size), axis=axis)
        moving = nb.sum(nb.where(is_largest, size, nb.zeros((), size.dtype)), axis=axis)
        return exact + (moving - nb.stop_gradient(moving))
    return norm.on_arrays(d, p, axis)


@tensor_function
def pdist(input, p=2.0):
    """Distances of all pairs of rows, each pair once, in the order of the upper triangle."""
    if input.ndim != 2 or kind_of(input.dtype) != "f":
        raise RuntimeError(
            message("pdist", "no matrix of floats", f"{input.dtype} of {input.ndim} dimensions",
                    "2 dimensions")
        )  # fmt: skip
    if p < 0:
        raise RuntimeError(message("pdist", "a negative order", p, "0 or more"))
    first, second = numpy.triu_indices(input.shape[0], 1)
    return _of_order(input[first] - input[second], p, -1)
