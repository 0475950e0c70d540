"""Attention with several heads, and the layers of transformers."""

import copy
import math

from ...core.errors import message
from ...tensors import Parameter, empty, zeros
from .. import functional as F
from .. import init
from ..functional.multi_head import attended, checked, projected
from .containers import ModuleList
from .dropouts import Dropout
from .module import Module
from .normalisation import LayerNorm
from .products import Linear, NonDynamicallyQuantizableLinear


def _get_clones(module, N):
    """N copies of a module."""
    return ModuleList([copy.deepcopy(module) for _ in range(N)])


class MultiheadAttention(Module):
    """Attention in `num_heads` parts of embed_dim / num_heads each (Vaswani et al., 2017).

    Parameters
    ----------
    embed_dim, num_heads : int
    dropout : float, default 0
        Of the weights, while training.
    bias : bool, default True
    add_bias_kv, add_zero_attn : bool, default False
        Adds a learned key and value, or ones of zeros, to each sequence.
    kdim, vdim : int, optional
        The extents of keys and values, `embed_dim` unless given.
    batch_first : bool, default False
        (batch, steps, …) instead of (steps, batch, …).

    Raises
    ------
    ValueError
        For heads that do not divide `embed_dim`, and for extents that do not fit.
    """

    def __init__(
        self,
        embed_dim,
        num_heads,
        dropout=0.0,
        bias=True,
        add_bias_kv=False,
        add_zero_attn=False,
        kdim=None,
        vdim=None,
        batch_first=False,
        device=None,
        dtype=None,
    ):
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0 or embed_dim % num_heads:
            raise ValueError(
                message("MultiheadAttention", "embed_dim must be divisible by num_heads",
                        f"{embed_dim} and {num_heads}", "a positive multiple")
            )  # fmt: skip
        where = {"device": device, "dtype": dtype}
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.dropout, self.batch_first, self.add_zero_attn = dropout, batch_first, add_zero_attn
        if self.kdim == embed_dim and self.vdim == embed_dim:
            self.in_proj_weight = Parameter(empty((3 * embed_dim, embed_dim), **where))
            for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight"):
                self.register_parameter(name, None)
        else:
            self.q_proj_weight = Parameter(empty((embed_dim, embed_dim), **where))
            self.k_proj_weight = Parameter(empty((embed_dim, self.kdim), **where))
            self.v_proj_weight = Parameter(empty((embed_dim, self.vdim), **where))
            self.register_parameter("in_proj_weight", None)
        made = Parameter(empty((3 * embed_dim,), **where)) if bias else None
        self.register_parameter("in_proj_bias", made)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, **where)
        for name in ("bias_k", "bias_v"):
            made = Parameter(empty((1, 1, embed_dim), **where)) if add_bias_kv else None
            self.register_parameter(name, made)
        self._reset_parameters()

    def _reset_parameters(self):
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            weight = getattr(self, name)
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for b in (self.bias_k, self.bias_v):
            if b is not None:
                init.xavier_normal_(b)

    def _weights(self):
        if self.in_proj_weight is not None:
            return self.in_proj_weight
        return [self.q_proj_weight, self.k_proj_weight, self.v_proj_weight]

    def forward(
        self,
        query,
        key,
        value,
        key_padding_mask=None,
        need_weights=True,
        attn_mask=None,
        average_attn_weights=True,
        is_causal=False,
    ):
        """(output, weights or None) of query (L, N, E), key (S, N, E), value (S, N, E); the N may
        be missing from all, or come first with `batch_first`.

        key_padding_mask: (N, S), bool (True is left out) or floats to add; attn_mask: (L, S) or
        (N * heads, L, S), likewise; is_causal: a hint that attn_mask, which has to be given, is the
        causal one; average_attn_weights: the weights' mean over the heads.
        """
        op = "MultiheadAttention"
        if is_causal and attn_mask is None:
            raise ValueError(message(op, "is_causal without attn_mask", "None", "the causal mask"))
        alone = query.ndim == 2
        checked(op, query, key, value, (self.embed_dim, self.kdim, self.vdim))
        axis = 0 if alone else 1
        if alone:
            query, key, value = query.unsqueeze(0), key.unsqueeze(0), value.unsqueeze(0)
            if key_padding_mask is not None:
                key_padding_mask = key_padding_mask.unsqueeze(0)
        elif not self.batch_first:
            query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        y, weights = attended(
            projected(query, key, value, self._weights(), self.in_proj_bias), self.num_heads,
            self.bias_k, self.bias_v, self.add_zero_attn, attn_mask, key_padding_mask,
            self.dropout if self.training else 0.0, need_weights, average_attn_weights,
        )  # fmt: skip
        y = self.out_proj(y)
        if alone:
            y = y.squeeze(axis)
            weights = None if weights is None else weights.squeeze(0)
        elif not self.batch_first:
            y = y.transpose(0, 1)
        return y, weights


def _activation(op, given):
    if callable(given):
        return given
    words = {"relu": F.relu, "gelu": F.gelu}
    if given not in words:
        raise ValueError(
            message(op, "activation not known", repr(given), "'relu', 'gelu' or a function")
        )
    return words[given]


class TransformerEncoderLayer(Module):
    """Self-attention and two linear layers, each with dropout, the sum with its input, and layer
    norm (after it, or before with `norm_first`).

    Parameters
    ----------
    d_model, nhead : int
        The extent of the last axis, and the heads of the attention.
    dim_feedforward : int, default 2048
    dropout : float, default 0.1
    activation : {"relu", "gelu"} or callable
    layer_norm_eps : float, default 1e-5
    batch_first, norm_first : bool, default False
    bias : bool, default True
    """

    def __init__(
        self,
        d_model,
        nhead,
        dim_feedforward=2048,
        dropout=0.1,
        activation=F.relu,
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
        bias=True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        where = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **where
        )
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **where)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **where)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **where)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **where)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        self.activation = _activation("TransformerEncoderLayer", activation)

    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        x = src
        masks = (src_mask, src_key_padding_mask, is_causal)
        if self.norm_first:
            x = x + self._attended(self.norm1(x), *masks)
            return x + self._fed(self.norm2(x))
        x = self.norm1(x + self._attended(x, *masks))
        return self.norm2(x + self._fed(x))

    def _attended(self, x, mask, padding, is_causal):
        y = self.self_attn(
            x, x, x, attn_mask=mask, key_padding_mask=padding, need_weights=False,
            is_causal=is_causal,
        )  # fmt: skip
        return self.dropout1(y[0])

    def _fed(self, x):
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerDecoderLayer(Module):
    """Self-attention, attention to `memory`, and two linear layers; arguments as for
    `TransformerEncoderLayer`.
    """

    def __init__(
        self,
        d_model,
        nhead,
        dim_feedforward=2048,
        dropout=0.1,
        activation=F.relu,
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
        bias=True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        where = {"device": device, "dtype": dtype}
        words = {"dropout": dropout, "bias": bias, "batch_first": batch_first, **where}
        self.self_attn = MultiheadAttention(d_model, nhead, **words)
        self.multihead_attn = MultiheadAttention(d_model, nhead, **words)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **where)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **where)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **where)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **where)
        self.norm3 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **where)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self.activation = _activation("TransformerDecoderLayer", activation)

    def forward(
        self,
        tgt,
        memory,
        tgt_mask=None,
        memory_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        tgt_is_causal=False,
        memory_is_causal=False,
    ):
        def own(x):
            y = self.self_attn(
                x, x, x, attn_mask=tgt_mask, key_padding_mask=tgt_key_padding_mask,
                is_causal=tgt_is_causal, need_weights=False,
            )  # fmt: skip
            return self.dropout1(y[0])

        def other(x):
            y = self.multihead_attn(
                x, memory, memory, attn_mask=memory_mask,
                key_padding_mask=memory_key_padding_mask, is_causal=memory_is_causal,
                need_weights=False,
            )  # fmt: skip
            return self.dropout2(y[0])

        def fed(x):
            return self.dropout3(self.linear2(self.dropout(self.activation(self.linear1(x)))))

        x = tgt
        if self.norm_first:
            x = x + own(self.norm1(x))
            x = x + other(self.norm2(x))
            return x + fed(self.norm3(x))
        x = self.norm1(x + own(x))
        x = self.norm2(x + other(x))
        return self.norm3(x + fed(x))


class TransformerEncoder(Module):
    """`num_layers` copies of an encoder layer one after the other, and a norm at the end."""

    def __init__(
        self, encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True
    ):
        super().__init__()
        self.layers = _get_clones(encoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check

    def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
        x = src
        for layer in self.layers:
            x = layer(x, mask, src_key_padding_mask, bool(is_causal))
        return x if self.norm is None else self.norm(x)


class TransformerDecoder(Module):
    """`num_layers` copies of a decoder layer one after the other, and a norm at the end."""

    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__()
        self.layers = _get_clones(decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self,
        tgt,
        memory,
        tgt_mask=None,
        memory_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        tgt_is_causal=None,
        memory_is_causal=False,
    ):
        x = tgt
        for layer in self.layers:
            x = layer(
                x, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask,
                bool(tgt_is_causal), memory_is_causal,
            )  # fmt: skip
        return x if self.norm is None else self.norm(x)


class Transformer(Module):
    """An encoder and a decoder (Vaswani et al., 2017); arguments as for their layers."""

    def __init__(
        self,
        d_model=512,
        nhead=8,
        num_encoder_layers=6,
        num_decoder_layers=6,
        dim_feedforward=2048,
        dropout=0.1,
        activation=F.relu,
        custom_encoder=None,
        custom_decoder=None,
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
        bias=True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        args = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first,
                norm_first, bias, device, dtype)  # fmt: skip
        where = {"eps": layer_norm_eps, "bias": bias, "device": device, "dtype": dtype}
        self.encoder, self.decoder = custom_encoder, custom_decoder
        if custom_encoder is None:
            layer = TransformerEncoderLayer(*args)
            self.encoder = TransformerEncoder(
                layer, num_encoder_layers, LayerNorm(d_model, **where)
            )
        if custom_decoder is None:
            layer = TransformerDecoderLayer(*args)
            self.decoder = TransformerDecoder(
                layer, num_decoder_layers, LayerNorm(d_model, **where)
            )
        for p in self.parameters():
            if p.ndim > 1:
                init.xavier_uniform_(p)
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(
        self,
        src,
        tgt,
        src_mask=None,
        tgt_mask=None,
        memory_mask=None,
        src_key_padding_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        src_is_causal=None,
        tgt_is_causal=None,
        memory_is_causal=False,
    ):
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        return self.decoder(
            tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask,
            tgt_is_causal, memory_is_causal,
        )  # fmt: skip

    @staticmethod
    def generate_square_subsequent_mask(sz, device=None, dtype=None):
        """-inf where a step would see later ones, else 0: (sz, sz)."""
        mask = zeros((sz, sz), device=device, dtype=dtype)
        for k in range(sz - 1):
            mask[k, k + 1 :] = -math.inf
        return mask
