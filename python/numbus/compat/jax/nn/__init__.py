"""jax.nn: activations and their kin, of numbus.nn.functional, for JAX's arrays."""

import importlib as _importlib

import numbus as _nb

from ....core.dtypes import kind_of
from ....nn import functional as _f
from ..._missing import missing as _missing
from .. import _dtypes
from .. import numpy as _jnp
from .._array import Array, as_array, cast, made
from .._functions import expect_arrays

__name__ = "jax.nn"


def _floating(x):
    expect_arrays("jax.nn", x)
    x = made(x)
    t = x.dtype if kind_of(x.dtype) in "fc" else _dtypes.canonical("f8")
    return cast(x._a, t), x.weak_type and x.dtype == t


def _activation(name, function, keeps_integers=False):
    def body(x):
        expect_arrays(name, x)
        if keeps_integers and made(x).dtype.kind in "iu":
            return Array(as_array(function(made(x)._a)))
        a, weak = _floating(x)
        return Array(as_array(function(a)), weak)

    body.__name__ = name
    body.__doc__ = function.__doc__
    return body


relu = _activation("relu", _f.relu, True)
relu6 = _activation("relu6", _f.relu6)
sigmoid = _activation("sigmoid", _f.sigmoid)
softplus = _activation("softplus", lambda a: _nb.logaddexp(a, a.dtype.type(0)))
soft_sign = _activation("soft_sign", _f.softsign)
silu = swish = _activation("silu", _f.silu)
hard_tanh = _activation("hard_tanh", _f.hardtanh)
hard_sigmoid = _activation("hard_sigmoid", _f.hardsigmoid)
hard_silu = hard_swish = _activation("hard_silu", _f.hardswish)
log_sigmoid = _activation("log_sigmoid", _f.logsigmoid)
selu = _activation("selu", _f.selu)
mish = _activation("mish", _f.mish)


def tanh(x):
    """The hyperbolic tangent."""
    return _jnp.tanh(x)


def identity(x):
    """The array itself."""
    return made(x)


def leaky_relu(x, negative_slope=1e-2):
    """x, or `negative_slope * x` below zero."""
    a, weak = _floating(x)
    return Array(as_array(_f.leaky_relu(a, negative_slope)), weak)


def elu(x, alpha=1.0):
    """x, or `alpha * (exp(x) - 1)` below zero."""
    a, weak = _floating(x)
    return Array(as_array(_f.elu(a, alpha)), weak)


def celu(x, alpha=1.0):
    """x, or `alpha * (exp(x / alpha) - 1)` below zero."""
    a, weak = _floating(x)
    return Array(as_array(_f.celu(a, alpha)), weak)


def gelu(x, approximate=True):
    """x times the normal distribution function, approximately by a tanh or exactly."""
    a, weak = _floating(x)
    return Array(as_array(_f.gelu(a, "tanh" if approximate else "none")), weak)


def glu(x, axis=-1):
    """One half along an axis times the sigmoid of the other."""
    a, _ = _floating(x)
    return Array(as_array(_f.glu(a, axis)))


def _axes(axis, ndim):
    axes = (axis,) if isinstance(axis, int) else range(ndim) if axis is None else axis
    return tuple([k % ndim for k in axes])


def _over_axes(function, x, axis, where, initial):
    if where is not None or initial is not None:
        raise NotImplementedError(
            "[jax.nn] where= is not yet available; got an array; expected None"
        )
    a, weak = _floating(x)
    if isinstance(axis, int):
        return Array(as_array(function(a, axis)), weak)
    axes = _axes(axis, a.ndim)
    last = _nb.moveaxis(a, axes, tuple(range(-len(axes), 0)))
    found = function(last.reshape((*last.shape[: a.ndim - len(axes)], -1)), -1)
    return Array(_nb.moveaxis(found.reshape(last.shape), tuple(range(-len(axes), 0)), axes), weak)


def softmax(x, axis=-1, where=None):
    """exp(x) as parts of its sum along axes."""
    return _over_axes(_f.softmax, x, axis, where, None)


def log_softmax(x, axis=-1, where=None):
    """The logarithm of `softmax`."""
    return _over_axes(_f.log_softmax, x, axis, where, None)


def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False, where=None):
    """log(sum(b * exp(a))) along axes, without overflow."""
    if return_sign or where is not None:
        raise NotImplementedError(
            "[logsumexp] return_sign= and where= are not yet available; got one; expected the "
            "default"
        )
    x, weak = _floating(a)
    top = _nb.stop_gradient(_nb.max(x, axis=axis, keepdims=True))
    top = _nb.where(_nb.isfinite(top), top, x.dtype.type(0))
    terms = _nb.exp(x - top)
    terms = terms if b is None else made(b)._a * terms
    total = _nb.log(_nb.sum(terms, axis=axis, keepdims=True)) + top
    total = total if keepdims else _nb.squeeze(total, axis=axis)
    return Array(cast(as_array(total), x.dtype), weak)


def logmeanexp(x, axis=None, where=None, keepdims=False):
    """log(mean(exp(x))) along axes."""
    found = logsumexp(x, axis=axis, keepdims=keepdims, where=where)
    count = made(x).size // max(1, found.size)
    return found - _jnp.log(float(count))


def standardize(x, axis=-1, mean=None, variance=None, epsilon=1e-5, where=None):
    """(x - mean) / sqrt(variance + epsilon) along axes."""
    if where is not None:
        raise NotImplementedError(
            "[standardize] where= is not yet available; got an array; expected None"
        )
    mean = _jnp.mean(x, axis=axis, keepdims=True) if mean is None else mean
    if variance is None:
        square = _jnp.mean(_jnp.square(made(x)), axis=axis, keepdims=True)
        variance = square - _jnp.square(mean)
    return (made(x) - mean) / _jnp.sqrt(variance + epsilon)


def one_hot(x, num_classes, *, dtype=None, axis=-1):
    """1 at the index that `x` tells along a new axis, else 0; indices beyond give only 0."""
    x = made(x)
    axis = axis % (x.ndim + 1)
    t = _dtypes.canonical("f8" if dtype is None else dtype)
    spread = _nb.expand_dims(x._a, axis)
    shape = (1,) * axis + (num_classes,) + (1,) * (x.ndim - axis)
    return Array(cast(spread == _nb.arange(num_classes).reshape(shape), t))


def squareplus(x, b=4):
    """(x + sqrt(x² + b)) / 2."""
    return 0.5 * (made(x) + _jnp.sqrt(_jnp.square(x) + b))


def dot_product_attention(
    query, key, value, bias=None, mask=None, *, scale=None, is_causal=False, **options
):
    """Attention of arrays of shape (batch, length, heads, size), by
    `numbus.nn.functional.scaled_dot_product_attention`.
    """
    if any(v is not None for v in options.values()):
        raise NotImplementedError(
            f"[dot_product_attention] options that are not yet available; got {sorted(options)}; "
            "expected bias, mask, scale, is_causal"
        )
    q, k, v = [_nb.moveaxis(made(x)._a, -2, -3) for x in (query, key, value)]
    extra = None if bias is None else made(bias)._a
    if mask is not None:
        low = _nb.where(made(mask)._a, q.dtype.type(0), q.dtype.type(-_nb.inf))
        extra = low if extra is None else extra + low
    found = _f.scaled_dot_product_attention(q, k, v, extra, 0.0, is_causal, scale)
    return Array(_nb.moveaxis(as_array(found), -3, -2))


def __getattr__(name):
    if name == "initializers":
        return _importlib.import_module(f"{__package__}.initializers")
    return _missing("jax.nn", name)
