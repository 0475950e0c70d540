"""Attention layers: MultiHeadAttention, Attention, AdditiveAttention."""

import math

import numbus as nb

from ....core.errors import message
from ....nn import functional as _f
from .. import _ops
from .._tensor import Tensor, convert
from . import _masks
from ._layers import Layer, _refuse, given_only


def _causal(n, m):
    """True where a query may see a key: those up to its own number."""
    return nb.arange(n)[:, None] >= nb.arange(m)[None, :]


def _both(a, b):
    return b if a is None else a if b is None else nb.logical_and(a, b)


def _bools(mask):
    return None if mask is None else convert(mask)._value().astype(bool)


class MultiHeadAttention(Layer):
    """Heads of softmax(query key / sqrt(key_dim)) value, each with projections of its own."""

    supports_masking = True
    regularized = (("kernel", "kernel"), ("bias", "bias"))

    def __init__(self, num_heads, key_dim, value_dim=None, dropout=0.0, use_bias=True,
                 output_shape=None, attention_axes=None, flash_attention=None,
                 kernel_initializer="glorot_uniform", bias_initializer="zeros",
                 kernel_regularizer=None, bias_regularizer=None, kernel_constraint=None,
                 bias_constraint=None, seed=None, **options):  # fmt: skip
        super().__init__(**given_only(
            kernel_regularizer=kernel_regularizer, bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint, bias_constraint=bias_constraint,
        ), **options)  # fmt: skip
        _refuse(self, attention_axes=attention_axes, seed=seed)
        if flash_attention not in (None, True, False):
            raise TypeError(message("MultiHeadAttention", "flash_attention is no bool",
                                    flash_attention, "a bool or None"))  # fmt: skip
        if output_shape is not None and not isinstance(output_shape, int):
            _refuse(self, output_shape=output_shape)
        self.num_heads, self.key_dim = num_heads, key_dim
        self.value_dim = key_dim if value_dim is None else value_dim
        self.dropout, self.use_bias, self.width = dropout, use_bias, output_shape
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer

    def __call__(self, query, value=None, key=None, **keywords):
        if value is None:
            raise TypeError("MultiHeadAttention.call() missing 1 required argument: 'value'")
        key = value if key is None else key
        if not self.built:
            self._build_for(*[x.shape[-1] for x in (query, value, key)])
        return super().__call__(query, value, key, **keywords)

    def _build_for(self, query, value, key):
        heads, width = self.num_heads, query if self.width is None else self.width
        shapes = [("query", (query, heads, self.key_dim)), ("key", (key, heads, self.key_dim)),
                  ("value", (value, heads, self.value_dim)),
                  ("attention_output", (heads, self.value_dim, width))]  # fmt: skip
        self._kernels, self._biases = [], []
        for name, shape in shapes:
            kernel = self.add_weight(shape, self.kernel_initializer, name=f"{name}_kernel",
                                     regularizer=self._regularizers.get("kernel"),
                                     constraint=self._constraints.get("kernel"))  # fmt: skip
            self._kernels.append(kernel)
            last = shape[2:] if name == "attention_output" else shape[1:]
            bias = self.add_weight(last, self.bias_initializer, name=f"{name}_bias",
                                   regularizer=self._regularizers.get("bias"),
                                   constraint=self._constraints.get("bias")) if (
                self.use_bias
            ) else None  # fmt: skip
            self._biases.append(bias)
        self.built = True

    def _projected(self, x, k):
        """(batch, heads, steps, width) of (batch, steps, …)."""
        w = self._kernels[k]._value()
        found = x @ w.reshape((w.shape[0], w.shape[1] * w.shape[2]))
        found = found.reshape((*x.shape[:-1], *w.shape[1:]))
        if self._biases[k] is not None:
            found = found + self._biases[k]._value()
        self._add_for_each(found)
        return nb.swapaxes(found, -3, -2)

    def call(self, query, value, key, query_mask=None, value_mask=None, key_mask=None,
             attention_mask=None, return_attention_scores=False, training=False,
             use_causal_mask=False):  # fmt: skip
        """The heads' values, joined and projected; and the weights, if they are asked for."""
        given = [query_mask, value_mask, key_mask]
        for k, x in enumerate((query, value, key)):
            given[k] = _bools(_masks.mask_of(x) if given[k] is None else given[k])
        x, v, k = query._value(), convert(value)._value(), convert(key)._value()
        if x.ndim != 3:
            raise NotImplementedError(
                message("MultiHeadAttention", "other axes than (batch, steps, features) are not"
                        " yet available", tuple(x.shape), "three axes")
            )  # fmt: skip
        mask = _bools(attention_mask)
        if given[0] is not None:
            mask = _both(mask, given[0][:, :, None])
        for m in given[1:]:
            if m is not None:
                mask = _both(mask, m[:, None, :])
        if use_causal_mask:
            mask = _both(mask, _causal(x.shape[1], v.shape[1])[None])
        if mask is not None:
            mask = mask[:, None] if mask.ndim == 3 else mask
        q, k, v = self._projected(x, 0), self._projected(k, 1), self._projected(v, 2)
        rate = self.dropout if training else 0.0
        low = q.dtype.type(-1e9 if q.dtype.itemsize > 2 else -3e4)
        added = None if mask is None else nb.where(mask, q.dtype.type(0), low)
        scores = None
        if return_attention_scores:
            scores = (q * q.dtype.type(1 / math.sqrt(self.key_dim))) @ nb.swapaxes(k, -1, -2)
            scores = scores if added is None else scores + added
            scores = _ops.softmax(_ops.tensor(scores))._value()
            found = (_f.dropout(scores, rate, True) if rate else scores) @ v
        else:
            found = _f.scaled_dot_product_attention(q, k, v, added, rate)
        found = nb.swapaxes(found, -3, -2)
        w = self._kernels[3]._value()
        found = found.reshape((*found.shape[:-2], w.shape[0] * w.shape[1]))
        found = found @ w.reshape((w.shape[0] * w.shape[1], w.shape[2]))
        if self._biases[3] is not None:
            found = found + self._biases[3]._value()
        self._add_for_each(found)
        made = _ops.tensor(found)
        return (made, _ops.tensor(scores)) if return_attention_scores else made

    def _add_for_each(self, found):
        """Adds what `activity_regularizer` gives of a projection."""
        if self.activity_regularizer is not None:
            super()._add_for_activity(_ops.tensor(found))

    def _add_for_activity(self, made):
        """Nothing: projections have added theirs."""


class Attention(Layer):
    """softmax(query key) value of [query, value] or [query, value, key]."""

    supports_masking = True
    modes = ("dot", "concat")
    by_element = False  # whether a scale is one number for each element of a query

    def __init__(self, use_scale=False, score_mode="dot", dropout=0.0, seed=None, **options):
        super().__init__(**options)
        _refuse(self, seed=seed)
        if score_mode not in self.modes:
            raise ValueError(
                message(type(self).__name__, "unknown score_mode", score_mode,
                        " or ".join(self.modes))
            )  # fmt: skip
        self.use_scale, self.score_mode, self.dropout = use_scale, score_mode, dropout

    def _built_for(self, inputs):
        shape, begin = ((inputs[0].shape[-1],), "glorot_uniform") if self.by_element else (
            (), "ones"
        )  # fmt: skip
        self.scale = self.add_weight(shape, begin, name="scale") if self.use_scale else None
        self.concat_score_weight = self.add_weight((), "ones", name="concat_score_weight") if (
            self.score_mode == "concat"
        ) else None  # fmt: skip
        self.built = True

    def _scores(self, q, k):
        if self.score_mode == "dot":
            found = q @ nb.swapaxes(k, -1, -2)
            return found if self.scale is None else found * self.scale._value()
        total = q[..., :, None, :] + k[..., None, :, :]
        total = total if self.scale is None else total * self.scale._value()
        return self.concat_score_weight._value() * nb.sum(nb.tanh(total), axis=-1)

    def call(self, inputs, mask=None, return_attention_scores=False, training=False,
             use_causal_mask=False):  # fmt: skip
        """The values, weighted; and the weights, if they are asked for."""
        if not isinstance(inputs, (list, tuple)) or len(inputs) not in (2, 3):
            raise ValueError(
                message(type(self).__name__, "not a list of two or three inputs", type(inputs),
                        "[query, value] or [query, value, key]")
            )  # fmt: skip
        q, v = [convert(x)._value() for x in inputs[:2]]
        k = convert(inputs[2])._value() if len(inputs) == 3 else v
        masks = list(mask) if isinstance(mask, (list, tuple)) else [None, None]
        of_query, of_value = _bools(masks[0]), _bools(masks[1])
        seen = None if of_value is None else of_value[..., None, :]
        scores = self._scores(q, k)
        if use_causal_mask:
            seen = _both(seen, _causal(scores.shape[-2], scores.shape[-1]))
        if seen is not None:
            low = 65504.0 if scores.dtype.itemsize == 2 else 1e9
            scores = scores - nb.where(seen, scores.dtype.type(0), scores.dtype.type(low))
        weights = _ops.softmax(_ops.tensor(scores))._value()
        if training and self.dropout:
            weights = _f.dropout(weights, self.dropout, True)
        found = weights @ v
        if of_query is not None:
            found = nb.where(of_query[..., None], found, found.dtype.type(0))
        made = _ops.tensor(found)
        return (made, _ops.tensor(weights)) if return_attention_scores else made

    def compute_mask(self, inputs, previous_mask=None):
        """That of the queries."""
        first = previous_mask[0] if isinstance(previous_mask, (list, tuple)) else None
        return first if isinstance(first, Tensor) else None


class AdditiveAttention(Attention):
    """softmax(sum(scale tanh(query + key))) value (Bahdanau et al., 2015)."""

    modes = ("dot",)
    by_element = True

    def __init__(self, use_scale=True, dropout=0.0, **options):
        super().__init__(use_scale, "dot", dropout, **options)

    def _scores(self, q, k):
        total = nb.tanh(q[..., :, None, :] + k[..., None, :, :])
        return nb.sum(total if self.scale is None else total * self.scale._value(), axis=-1)
