"""Attention: weighted means of values, by the similarity of queries and keys."""

import math

from ...core.dtypes import kind_of
from ...core.errors import message
from ...functions import names as np
from ...gradients import custom_gradient
from ...tensors import tensor_function
from ...tensors._arrays import in_single
from ._shared import array, constant, floating
from .dropouts import kept

__all__ = ["scaled_dot_product_attention"]


@tensor_function
@in_single(True)
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

    Where there are many scores, these are never stored as a whole: keys are taken in blocks, with
    the largest score and the sum of exponentials so far (Milakov and Gimelshein, 2018; Rabe and
    Staats, 2021), also for the derivative. With dropout, or where leading extents differ, memory
    for all scores is needed.
    """
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
    if _many(q, k, v, dropout_p) and _spreads(given, (*q.shape[:-1], k.shape[-2])):
        if given is not None and given.ndim == 0:
            given = given.reshape((1,))
        return _in_blocks(q, k, v, given, is_causal, factor)
    mask = _causal(q, k) if is_causal else given
    scores = np.matmul(q * factor, np.swapaxes(k, -1, -2))
    return np.matmul(weights(scores, mask, dropout_p), v)


# How many scores are stored as a whole, and how many keys are taken at once where there are more.
LIMITS = {"scores": 1 << 24, "keys": 512}


def _many(q, k, v, dropout_p):
    """Whether there are too many scores to store them, and blocks can do without."""
    lead = q.shape[:-2]
    plain = dropout_p == 0 and k.shape[:-2] == lead and v.shape[:-2] == lead
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


def _in_blocks(q, k, v, mask, causal, factor):
    """Attention with memory for one block of keys at a time."""
    step, count = LIMITS["keys"], k.shape[-2]
    starts = range(0, count, step)
    rows = np.arange(q.shape[-2])[:, None] if causal else None
    kind = q.dtype.type

    added = mask is not None and mask.dtype != bool  # and so may have a derivative

    def scores(q, k, mask, at):
        s = np.matmul(q * kind(factor), np.swapaxes(k[..., at : at + step, :], -1, -2))
        if causal:
            columns = np.arange(at, min(at + step, count))
            return np.where(columns[None, :] <= rows, s, kind(-np.inf))
        if mask is None:
            return s
        part = mask if mask.shape[-1] == 1 else mask[..., at : at + step]
        if part.dtype == bool:
            return np.where(part, s, kind(-np.inf))
        return s + part.astype(q.dtype)

    def attended(q, k, v, mask=mask):
        most = np.full((*q.shape[:-1], 1), -np.inf, q.dtype)
        total = np.zeros((*q.shape[:-1], 1), q.dtype)
        found = np.zeros((*q.shape[:-1], v.shape[-1]), q.dtype)
        for at in starts:
            s = scores(q, k, mask, at)
            more = np.maximum(most, np.max(s, axis=-1, keepdims=True))
            base = np.where(more == -np.inf, kind(0), more)
            e, old = np.exp(s - base), np.exp(most - base)
            total = total * old + np.sum(e, axis=-1, keepdims=True)
            found = found * old + np.matmul(e, v[..., at : at + step, :])
            most = more
        empty = total == 0
        y = found / np.where(empty, kind(1), total)
        # Of a row that nothing takes part in, no exponential of a score is left.
        level = np.where(empty, kind(np.inf), most + np.log(np.where(empty, kind(1), total)))

        def pull(g):
            along = np.sum(g * y, axis=-1, keepdims=True)
            slope_q, slopes_k, slopes_v, slopes = np.zeros(q.shape, q.dtype), [], [], []
            for at in starts:
                p = np.exp(scores(q, k, mask, at) - level)
                slopes_v.append(np.matmul(np.swapaxes(p, -1, -2), g))
                back = np.matmul(g, np.swapaxes(v[..., at : at + step, :], -1, -2))
                d = p * (back - along)
                if added:
                    slopes.append(_summed_to(d, mask.shape))
                d = d * kind(factor)
                slope_q = slope_q + np.matmul(d, k[..., at : at + step, :])
                slopes_k.append(np.matmul(np.swapaxes(d, -1, -2), q))
            found = (
                slope_q,
                np.concatenate(slopes_k, axis=-2),
                np.concatenate(slopes_v, axis=-2),
            )
            if not added:
                return found
            of_mask = np.concatenate(slopes, axis=-1)
            if mask.shape[-1] == 1:
                of_mask = np.sum(of_mask, axis=-1, keepdims=True)
            return *found, of_mask.astype(mask.dtype)

        return y, pull

    if added:
        return custom_gradient(attended)(q, k, v, mask)
    return custom_gradient(attended)(q, k, v)


def _summed_to(d, shape):
    """The sum of a block of scores over the axes along which a mask of that shape is spread, but
    the last one.
    """
    axes = tuple(range(d.ndim - len(shape)))
    d = np.sum(d, axis=axes) if axes else d
    ones = tuple([k for k, n in enumerate(shape[:-1]) if n == 1 and d.shape[k] != 1])
    return np.sum(d, axis=ones, keepdims=True) if ones else d


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


def weights(scores, mask, dropout_p):
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
        found = found * (kept(found.shape, dropout_p, found) * (1 / (1 - dropout_p)))
    return found


def _added(op, mask, name, shape, dtype):
    """A mask, of bool (True is left out) or of floats, as what is added to scores."""
    m = array(op, mask, name)
    if m.shape != shape:
        raise ValueError(message(op, f"{name} does not fit", m.shape, shape))
    if m.dtype == bool:
        return np.where(m, dtype.type(-np.inf), dtype.type(0))
    return m.astype(dtype)


@tensor_function
def heads_attend(
    q, k, v, heads, attn_mask, key_padding_mask, more, dropout_p, need_weights, average
):  # fmt: skip
    """(output, weights or None) of projected q (N, L, E), k and v (N, S, E) in `heads` parts.

    Masks leave out where they are True; `more` keys at the end are none that they know.
    """
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
    if not need_weights and _many(lined_q, lined_k, lined_v, dropout_p):
        y = _in_blocks(lined_q, lined_k, lined_v, mask, False, factor)
    else:
        scores = np.matmul(lined_q * factor, lined_k.transpose((0, 1, 3, 2)))
        found = weights(scores, mask, dropout_p)
        y = np.matmul(found, lined_v)
    y = y.transpose((0, 2, 1, 3)).reshape((batch, rows, extent))
    if not need_weights:
        return y, None
    return y, np.mean(found, axis=1) if average else found
