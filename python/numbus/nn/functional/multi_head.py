"""Attention of several heads between projections that the caller's weights make."""

from ...core.errors import message
from ...tensors import cat, zeros
from .attention import heads_attend, project_heads
from .products import linear

__all__ = ["multi_head_attention_forward"]


def projected(query, key, value, weights, bias):
    """Queries, keys and values for the heads: `weights` is one matrix for all three, or three."""
    if not isinstance(weights, (tuple, list)):
        return project_heads(query, key, value, weights, bias)
    biases = [None] * 3 if bias is None else bias.chunk(3)
    return [linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases, strict=True)]


def attended(
    heads, num_heads, bias_k, bias_v, add_zero_attn, attn_mask, key_padding_mask, dropout,
    need_weights, average,
):  # fmt: skip
    """What projected queries find, (N, L, E), before the last projection; and the weights."""
    q, k, v = heads
    batch, extent, more = q.shape[0], q.shape[-1], 0
    if bias_k is not None:
        k = cat([k, bias_k.expand(batch, 1, extent)], 1)
        v = cat([v, bias_v.expand(batch, 1, extent)], 1)
        more += 1
    if add_zero_attn:
        empty_line = zeros((batch, 1, extent), dtype=k.dtype, device=k.device)
        k, v = cat([k, empty_line], 1), cat([v, empty_line], 1)
        more += 1
    return heads_attend(
        q, k, v, num_heads, attn_mask, key_padding_mask, more, dropout, need_weights, average
    )


def checked(op, query, key, value, extents):
    """Raises for inputs of other dimensions or last extents."""
    if query.ndim not in (2, 3) or key.ndim != query.ndim or value.ndim != query.ndim:
        raise ValueError(
            message(op, "query, key and value do not fit",
                    f"{query.ndim}, {key.ndim}, {value.ndim} dimensions", "2 or 3 of each")
        )  # fmt: skip
    for name, x, extent in zip(
        ("query", "key", "value"), (query, key, value), extents, strict=True
    ):
        if x.shape[-1] != extent:
            raise ValueError(message(op, f"{name} has another last extent", tuple(x.shape), extent))


def multi_head_attention_forward(
    query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v,
    add_zero_attn, dropout_p, out_proj_weight, out_proj_bias, training=True, key_padding_mask=None,
    need_weights=True, attn_mask=None, use_separate_proj_weight=False, q_proj_weight=None,
    k_proj_weight=None, v_proj_weight=None, static_k=None, static_v=None,
    average_attn_weights=True, is_causal=False,
):  # fmt: skip
    """(output, weights or None) of `nn.MultiheadAttention` with the weights that are given.

    The inputs are (L, N, E) or (L, E); `is_causal` is a hint that attn_mask, which has to be given,
    is the causal one. NotImplementedError for keys and values that are projected already.
    """
    op = "multi_head_attention_forward"
    if static_k is not None or static_v is not None:
        raise NotImplementedError(
            message(op, "static_k= and static_v= are not yet available", "tensors", "None")
        )
    if is_causal and attn_mask is None:
        raise RuntimeError(message(op, "is_causal without attn_mask", "None", "the causal mask"))
    n = embed_dim_to_check
    separate = (q_proj_weight, k_proj_weight, v_proj_weight)
    weights = separate if use_separate_proj_weight else in_proj_weight
    extents = [w.shape[1] for w in separate] if use_separate_proj_weight else [n] * 3
    checked(op, query, key, value, extents)
    if n % num_heads:
        raise ValueError(
            message(op, "embed_dim must be divisible by num_heads", f"{n} and {num_heads}",
                    "a multiple")
        )  # fmt: skip
    alone = query.ndim == 2
    if alone:
        query, key, value = [x.unsqueeze(0) for x in (query, key, value)]
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    else:
        query, key, value = [x.transpose(0, 1) for x in (query, key, value)]
    y, found = attended(
        projected(query, key, value, weights, in_proj_bias), num_heads, bias_k, bias_v,
        add_zero_attn, attn_mask, key_padding_mask, dropout_p if training else 0.0, need_weights,
        average_attn_weights,
    )  # fmt: skip
    y = linear(y, out_proj_weight, out_proj_bias)
    if not alone:
        return y.transpose(0, 1), found
    return y.squeeze(0), None if found is None else found.squeeze(0)
