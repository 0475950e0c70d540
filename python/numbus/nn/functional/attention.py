"""Attention: weighted means of values, by the similarity of queries and keys."""

import math

import numpy

import numbus as nb

from ... import _core
from ...core.dtypes import kind_of
from ...core.errors import message
from ...functions import names as np
from ...gradients import custom_gradient
from ...tensors import pure_function, tensor_function
from ...tensors._arrays import beside, in_single, moved_to
from ...tensors.random import uniform_parts
from ._shared import array, constant, floating
from .dropouts import kept, probability, scale_of
from .products import linear

__all__ = ["scaled_dot_product_attention"]


def scaled_dot_product_attention(
    query,
    key,
    value,
    attn_mask=None,
    dropout_p=0.0,
    is_causal=False,
    scale=None,
    enable_gqa=False,
):
    """softmax(query @ key.T * scale + mask) @ value (Vaswani et al., 2017).

    query: (..., L, E), key: (..., S, E), value: (..., S, V). attn_mask: bool (True takes part) or
    floats to add, which broadcasts to (..., L, S); is_causal: each takes part up to its own number,
    without attn_mask; scale: 1 / sqrt(E) unless given; enable_gqa: heads of keys and values (axis
    -3) serve several heads of queries each. A query that nothing takes part in gives 0. Raises
    ValueError for extents that do not fit.

    Where there are many scores, these are never stored as a whole: queries are taken in blocks, and
    for the derivative once more (Rabe and Staats, 2021), with the same elements taken out by
    dropout. Where leading extents differ, memory for all scores is needed.
    """
    probability("scaled_dot_product_attention", dropout_p)
    # What draws no numbers depends on the operands alone.
    attend = _attend if dropout_p > 0 else _attend_surely
    return attend(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)


@in_single(True)
def _attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa):
    op = "scaled_dot_product_attention"
    q, k, v = floating(op, query, "query"), floating(op, key, "key"), floating(op, value, "value")
    if min(q.ndim, k.ndim, v.ndim) < 2 or q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError(
            message(op, "query, key and value do not fit", f"{q.shape}, {k.shape}, {v.shape}",
                    "(..., L, E), (..., S, E), (..., S, V)")
        )  # fmt: skip
    if enable_gqa:
        k, v = _shared_heads(op, q, k), _shared_heads(op, q, v)
    factor = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    given = None if attn_mask is None else array(op, attn_mask, "attn_mask")
    if given is not None and is_causal:
        raise ValueError(message(op, "attn_mask with is_causal", "both", "one of them"))
    if _many(q, k, v) and _spreads(given, (*q.shape[:-1], k.shape[-2])):
        return _in_blocks(q, k, v, given, is_causal, factor, dropout_p)
    mask = _causal(q, k) if is_causal else given
    scores = np.matmul(q * factor, np.swapaxes(k, -1, -2))
    return np.matmul(weights(scores, mask, dropout_p), v)


def _made(make, body, name):
    """A function of tensors that goes by another name, by which autocast knows it."""

    def function(*args):
        return body(*args)

    function.__name__ = function.__qualname__ = name
    return make(function)


_attend = _made(tensor_function, _attention, "scaled_dot_product_attention")
_attend_surely = _made(pure_function, _attention, "scaled_dot_product_attention")


# How many scores are stored as a whole, and how many at once where there are more.
LIMITS = {"scores": 1 << 24, "block": 1 << 23}


def _many(q, k, v):
    """Whether there are too many scores to store them, and blocks can do without."""
    lead = q.shape[:-2]
    plain = k.shape[:-2] == lead and v.shape[:-2] == lead
    plain = plain and q.dtype == k.dtype == v.dtype and kind_of(q.dtype) == "f"
    return plain and math.prod(lead) * q.shape[-2] * k.shape[-2] > LIMITS["scores"]


def _spreads(mask, shape):
    """Whether a mask broadcasts to scores of that shape."""
    if mask is None:
        return True
    last = shape[len(shape) - mask.ndim :] if mask.ndim else ()
    return mask.ndim <= len(shape) and all(
        [n in (1, extent) for n, extent in zip(mask.shape, last, strict=True)]
    )


class _Mask:
    """A mask of (..., rows, columns), of which blocks of the scores take their part."""

    def __init__(self, mask, lead):
        shape = (1,) * (len(lead) + 2 - mask.ndim) + tuple(mask.shape)
        self.rows, self.columns = shape[-2] > 1, shape[-1] > 1
        count = math.prod(shape[:-2])
        self.parts = (count, *shape[-2:])
        # Which part of the mask the scores of a leading index take.
        numbers = numpy.arange(count).reshape(shape[:-2])
        self.takes = numpy.broadcast_to(numbers, lead).reshape(-1)

    def _index(self, block):
        (first, last), (top, bottom), width = block
        takes = self.takes[first:last]
        one = (takes == takes[0]).all()
        lead = slice(int(takes[0]), int(takes[0]) + 1) if one else nb.asarray(takes)
        rows = slice(top, bottom) if self.rows else slice(None)
        return one, lead, rows, slice(0, width) if self.columns else slice(None)

    def of(self, mask, block):
        """The part of a block, which broadcasts to its scores."""
        _, lead, rows, columns = self._index(block)
        return mask.reshape(self.parts)[:, rows, columns][lead]

    def add(self, slopes, d, block):
        """Adds the derivative by the scores of a block to that by the mask."""
        one, lead, rows, columns = self._index(block)
        axes = [axis for axis, many in ((1, self.rows), (2, self.columns)) if not many]
        axes = tuple([0] * bool(one) + axes)
        d = np.sum(d, axis=axes, keepdims=True) if axes else d
        part = slopes[:, rows, columns]
        if one:
            part[lead] += d
        else:
            np.add.at(part, lead, d)


def _in_blocks(q, k, v, mask, causal, factor, dropout_p):
    """Attention with memory for the scores of one block of queries at a time; of a block all
    scores of its queries are there.

    What dropout takes out is drawn again for the derivative, from the same counters.
    """
    lead, rows, columns = q.shape[:-2], q.shape[-2], k.shape[-2]
    count = math.prod(lead)
    kind = q.dtype.type
    drawn = None
    if dropout_p > 0:
        drawn = uniform_parts(count * rows * columns, beside(q))
    by_mask = mask is not None and mask.dtype != bool and _core.depends(mask)
    of_mask = None if mask is None else _Mask(mask, lead)

    many = max(1, LIMITS["block"] // max(1, rows * columns))  # whole leading indices of a block
    tall = max(1, LIMITS["block"] // max(1, columns)) if many == 1 else rows
    leads = [(first, min(first + many, count)) for first in range(0, count, many)]
    tops = [(top, min(top + tall, rows)) for top in range(0, rows, tall)]

    def block_of(part, lines):
        return part, lines, min(lines[1], columns) if causal else columns

    def lines_of(x):
        return x.reshape((count, *x.shape[-2:]))

    def softmax(q, k, mask, block):
        """The weights of a block before dropout: those of `weights`."""
        (first, last), (top, bottom), width = block
        keys = k[first:last, :width]
        scores = np.matmul(q[first:last, top:bottom] * factor, np.swapaxes(keys, -1, -2))
        of_block = None
        if causal:
            of_block = np.arange(width)[None, :] <= np.arange(top, bottom)[:, None]
        elif mask is not None:
            of_block = of_mask.of(mask, block)
        return weights(scores, of_block)

    def left(block):
        """What weights are multiplied by in dropout."""
        (first, last), (top, bottom), width = block
        begin, end = first * rows + top, (last - 1) * rows + bottom
        found = drawn.part(begin * columns, end * columns)
        found = moved_to(found, q).reshape((last - first, bottom - top, columns))[..., :width]
        return (found >= dropout_p).astype(q.dtype) * scale_of(dropout_p)

    def attended(q, k, v, mask=mask):
        q, k, v = lines_of(q), lines_of(k), lines_of(v)
        found = []
        for part in leads:
            of_part = []
            for lines in tops:
                block = block_of(part, lines)
                p = softmax(q, k, mask, block)
                p = p if drawn is None else p * left(block)
                of_part.append(np.matmul(p, v[slice(*part), : block[2]]))
            found.append(_joined(of_part, 1))
        y = _joined(found, 0)

        def pull(g):
            g = lines_of(g)
            along = np.sum(g * y, axis=-1, keepdims=True)
            of_q, of_k, of_v = [], [], []
            slopes = np.zeros(of_mask.parts, q.dtype) if by_mask else None
            for part in leads:
                at = slice(*part)
                part_q = []
                part_k, part_v = np.zeros(k[at].shape, k.dtype), np.zeros(v[at].shape, v.dtype)
                for lines in tops:
                    block = block_of(part, lines)
                    along_rows, width = slice(*lines), block[2]
                    p = softmax(q, k, mask, block)
                    back = g[at, along_rows]
                    d = np.matmul(back, np.swapaxes(v[at, :width], -1, -2))
                    remains = p
                    if drawn is not None:
                        scale = left(block)
                        remains, d = p * scale, d * scale
                    part_v[:, :width] += np.matmul(np.swapaxes(remains, -1, -2), back)
                    d = p * (d - along[at, along_rows])
                    if by_mask:
                        of_mask.add(slopes, d, block)
                    d = d * kind(factor)
                    part_q.append(np.matmul(d, k[at, :width]))
                    part_k[:, :width] += np.matmul(np.swapaxes(d, -1, -2), q[at, along_rows])
                of_q.append(_joined(part_q, 1))
                of_k.append(part_k)
                of_v.append(part_v)
            found = [_joined(x, 0).reshape((*lead, *x[0].shape[1:])) for x in (of_q, of_k, of_v)]
            if not by_mask:
                return tuple(found)
            return *found, slopes.reshape(mask.shape).astype(mask.dtype)

        return y.reshape((*lead, rows, v.shape[-1])), pull

    with_derivative = custom_gradient(attended, repeats=True)
    y = with_derivative(q, k, v, mask) if by_mask else with_derivative(q, k, v)
    if drawn is not None:
        drawn.finish()
    return y


def _joined(parts, axis):
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=axis)


def _shared_heads(op, q, x):
    if q.ndim < 3 or x.ndim < 3 or q.shape[-3] % x.shape[-3]:
        raise ValueError(
            message(op, "heads of queries are no multiple of others", f"{q.shape}, {x.shape}",
                    "a multiple in axis -3")
        )  # fmt: skip
    return np.repeat(x, q.shape[-3] // x.shape[-3], axis=-3)


def _causal(q, k):
    rows, columns = (np.arange(x.shape[-2]) for x in (q, k))
    return columns[None, :] <= rows[:, None]


def weights(scores, mask, dropout_p=0.0):
    """softmax of scores along the last axis under a mask, with dropout; rows that are masked wholly
    are 0.
    """
    if mask is not None:
        if mask.dtype == bool:
            scores = np.where(mask, scores, scores.dtype.type(-np.inf))
        else:
            scores = scores + mask.astype(scores.dtype)
    most = constant(np.max(scores, axis=-1, keepdims=True))
    if mask is not None:
        most = np.where(most == -np.inf, scores.dtype.type(0), most)
    e = np.exp(scores - most)
    total = np.sum(e, axis=-1, keepdims=True)
    if mask is not None:
        total = np.where(total == 0, scores.dtype.type(1), total)
    found = e / total
    if dropout_p > 0:
        found = found * (kept(found.shape, dropout_p, found) * scale_of(dropout_p))
    return found


def _added(op, mask, name, shape, dtype):
    """A mask, of bool (True is left out) or of floats, as what is added to scores."""
    m = array(op, mask, name)
    if m.shape != shape:
        raise ValueError(message(op, f"{name} does not fit", m.shape, shape))
    if m.dtype == bool:
        return np.where(m, dtype.type(-np.inf), dtype.type(0))
    return m.astype(dtype)


def heads_attend(
    q, k, v, heads, attn_mask, key_padding_mask, more, dropout_p, need_weights, average
):  # fmt: skip
    """(output, weights or None) of projected q (N, L, E), k and v (N, S, E) in `heads` parts.

    Masks leave out where they are True; `more` keys at the end are none that they know.
    """
    attend = _heads_attend if dropout_p > 0 else _heads_attend_surely
    made = attend(
        q, k, v, heads, attn_mask, key_padding_mask, more, dropout_p, need_weights, average
    )
    return made if need_weights else (made, None)


def _heads(q, k, v, heads, attn_mask, key_padding_mask, more, dropout_p, need_weights, average):
    op = "MultiheadAttention"
    batch, rows, extent = q.shape
    columns = k.shape[1]
    known = columns - more
    each_head = extent // heads

    def parts(x):
        return x.reshape((batch, x.shape[1], heads, each_head)).transpose((0, 2, 1, 3))

    kind = np.result_type(q.dtype, k.dtype)
    mask = None
    if attn_mask is not None:
        m = array(op, attn_mask, "attn_mask")
        shape = (rows, known) if m.ndim == 2 else (batch * heads, rows, known)
        lined = (1, 1, rows, known) if m.ndim == 2 else (batch, heads, rows, known)
        mask = _added(op, m, "attn_mask", shape, kind).reshape(lined)
    if key_padding_mask is not None:
        name = "key_padding_mask"
        m = _added(op, key_padding_mask, name, (batch, known), kind)[:, None, None, :]
        mask = m if mask is None else mask + m
    if mask is not None and more:
        end = np.zeros((*mask.shape[:-1], more), mask.dtype)
        mask = np.concatenate([mask, end], axis=-1)
    lined_q, lined_k, lined_v = parts(q), parts(k), parts(v)
    factor = 1 / math.sqrt(each_head)
    found = None
    if not need_weights and _many(lined_q, lined_k, lined_v):
        y = _in_blocks(lined_q, lined_k, lined_v, mask, False, factor, dropout_p)
    else:
        scores = np.matmul(lined_q * factor, lined_k.transpose((0, 1, 3, 2)))
        found = weights(scores, mask, dropout_p)
        y = np.matmul(found, lined_v)
    y = y.transpose((0, 2, 1, 3)).reshape((batch, rows, extent))
    if not need_weights:
        return y
    return y, np.mean(found, axis=1) if average else found


_heads_attend = _made(tensor_function, _heads, "heads_attend")
_heads_attend_surely = _made(pure_function, _heads, "heads_attend")


def _projected(query, key, value, weight, bias):
    """The three operands by the parts of one matrix, and of one line where there is a bias."""
    n = weight.shape[0] // 3
    made = []
    for k, x in enumerate((query, key, value)):
        part = slice(k * n, (k + 1) * n)
        made.append(linear.on_arrays(x, weight[part], None if bias is None else bias[part]))
    return tuple(made)


project_heads = _made(pure_function, _projected, "linear")
