"""jax.nn: activations and their kin, of numbus.nn.functional, for JAX's arrays."""

import importlib as _importlib
import math

import numpy as _numpy

import numbus as _nb

from ....core.dtypes import finfo as _finfo
from ....core.dtypes import kind_of
from ....nn import functional as _f
from ..._missing import missing as _missing
from .. import _dtypes
from .. import numpy as _jnp
from .._array import Array, as_array, cast, made
from .._functions import expect_arrays, together
from .._functions import silent as _silent

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
            return Array(as_array(function(made(x)._a)), made(x).weak_type)
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
log_sigmoid = _activation("log_sigmoid", _f.logsigmoid)
mish = _activation("mish", _f.mish)


def tanh(x):
    """The hyperbolic tangent."""
    return _jnp.tanh(x)


def identity(x):
    """The array itself."""
    return made(x)


def leaky_relu(x, negative_slope=1e-2):
    """x, or `negative_slope * x` below zero."""
    expect_arrays("leaky_relu", x)
    x = made(x)
    return _jnp.where(x >= 0, x, negative_slope * x)


def hard_tanh(x):
    """x within -1 and 1, the nearer one of these elsewhere; at them its derivative is 1."""
    expect_arrays("hard_tanh", x)
    x = made(x)
    return _jnp.where(x > 1, 1, _jnp.where(x < -1, -1, x))


def hard_sigmoid(x):
    """`relu6(x + 3) / 6`."""
    expect_arrays("hard_sigmoid", x)
    return relu6(made(x) + 3.0) / 6.0


def hard_silu(x):
    """`x * hard_sigmoid(x)`."""
    expect_arrays("hard_silu", x)
    return made(x) * hard_sigmoid(x)


hard_swish = hard_silu


def elu(x, alpha=1.0):
    """x, or `alpha * (exp(x) - 1)` below zero."""
    a, weak = _floating(x)
    return Array(as_array(_f.elu(a, alpha)), weak or made(x).dtype.kind in "iu")


def selu(x):
    """A multiple of `elu` that keeps means and variances of layers."""
    a, weak = _floating(x)
    return Array(as_array(_f.selu(a)), weak or made(x).dtype.kind in "iu")


def celu(x, alpha=1.0):
    """x, or `alpha * (exp(x / alpha) - 1)` below zero."""
    expect_arrays("celu", x)
    x = made(x)
    return _jnp.maximum(x, 0.0) + alpha * _jnp.expm1(_jnp.minimum(x, 0.0) / alpha)


def sparse_plus(x):
    """0 up to -1, x from 1 on, and (x + 1)² / 4 between them."""
    expect_arrays("sparse_plus", x)
    x = made(x)
    return _jnp.where(x <= -1.0, 0.0, _jnp.where(x >= 1.0, x, (x + 1.0) ** 2 / 4))


def sparse_sigmoid(x):
    """The derivative of `sparse_plus`: a line between 0 and 1."""
    expect_arrays("sparse_sigmoid", x)
    return 0.5 * _jnp.clip(made(x) + 1.0, 0.0, 2.0)


def log1mexp(x):
    """log(1 - exp(-x)), by the formula that is exact near zero, or the one for large numbers."""
    expect_arrays("log1mexp", x)
    x = made(x)
    small = x < math.log(2.0)
    near = _jnp.log(-_jnp.expm1(-_jnp.where(small, x, 0.5)))
    return _jnp.where(small, near, _jnp.log1p(-_jnp.exp(-_jnp.where(small, 1.0, x))))


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


def _over_axes(function, x, axis):
    a, weak = _floating(x)
    if isinstance(axis, int):
        return Array(as_array(function(a, axis)), weak)
    axes = _axes(axis, a.ndim)
    last = _nb.moveaxis(a, axes, tuple(range(-len(axes), 0)))
    found = function(last.reshape((*last.shape[: a.ndim - len(axes)], -1)), -1)
    return Array(_nb.moveaxis(found.reshape(last.shape), tuple(range(-len(axes), 0)), axes), weak)


def _chosen(x, axis, where):
    """The elements where a condition holds less their greatest, the condition, and the sums of
    their exponentials; -inf elsewhere.
    """
    a, weak = _floating(x)
    held = as_array(_nb.broadcast_to(made(where)._a.astype(bool), a.shape))
    low = a.dtype.type(-math.inf)
    top = _nb.max(_nb.where(held, a, low), axis=axis, keepdims=True, initial=low)
    moved = _nb.where(held, a - _nb.stop_gradient(top), low)
    return as_array(moved), held, weak


def softmax(x, axis=-1, where=None):
    """exp(x) as parts of its sum along axes; of the elements where `where` holds, 0 elsewhere."""
    if where is None:
        return _over_axes(_f.softmax, x, axis)
    moved, held, weak = _chosen(x, axis, where)
    parts = _nb.where(held, _nb.exp(moved), moved.dtype.type(0))
    total = _nb.sum(parts, axis=axis, keepdims=True)
    return Array(cast(as_array(_nb.where(held, parts / total, 0)), moved.dtype), weak)


def log_softmax(x, axis=-1, where=None):
    """The logarithm of `softmax`: -inf where `where` does not hold."""
    if where is None:
        return _over_axes(_f.log_softmax, x, axis)
    moved, held, weak = _chosen(x, axis, where)
    total = _nb.sum(_nb.where(held, _nb.exp(moved), 0), axis=axis, keepdims=True)
    found = _nb.where(held, moved - _nb.log(total), -math.inf)
    return Array(cast(as_array(found), moved.dtype), weak)


def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False, where=None):
    """log(sum(b * exp(a))) along axes, without overflow; of the elements where `where` holds.

    With `return_sign` the logarithm of the absolute value of the sum, and its sign; without it
    the result for a negative sum is NaN.
    """
    expect_arrays("logsumexp", a)
    if b is None:
        x, weak = _floating(a)
    else:
        expect_arrays("logsumexp", b)
        (x, factor), weak = together("logsumexp", (made(a), made(b)), True)
    held = None
    if where is not None:
        held = made(where)._a.astype(bool)
    if b is not None:
        used = factor != 0
        held = used if held is None else _nb.logical_and(held, used)
    if held is not None:
        shape = _numpy.broadcast_shapes(x.shape, held.shape)
        x = _nb.broadcast_to(x, shape)
        x = as_array(_nb.where(held, x, -math.inf)).astype(x.dtype)
    axis = tuple(axis) if isinstance(axis, list) else axis
    low = -math.inf
    top = _nb.max(_nb.stop_gradient(_nb.real(x)), axis=axis, keepdims=True, initial=low)
    top = as_array(_nb.where(_nb.isfinite(top), top, 0)).astype(_nb.real(x).dtype)
    terms = _nb.exp(x - top)
    terms = terms if b is None else factor * terms
    if held is not None:
        terms = _nb.where(held, terms, 0)
    total = _nb.sum(terms, axis=axis, keepdims=True)
    real = x.dtype.kind != "c"
    size = abs(total) if return_sign or (real and b is not None) else total
    found = as_array(_nb.log(size) + top)
    sign = as_array(_nb.sign(total))
    if b is not None and real and not return_sign:
        found = as_array(_nb.where(sign < 0, math.nan, found))
    if not keepdims:
        found, sign = _nb.squeeze(found, axis=axis), _nb.squeeze(sign, axis=axis)
    t = _nb.real(x).dtype if return_sign else x.dtype
    result = Array(cast(as_array(found), t), weak)
    return (result, Array(cast(as_array(sign), x.dtype), weak)) if return_sign else result


def logmeanexp(x, axis=None, where=None, keepdims=False):
    """log(mean(exp(x))) along axes, of the elements where `where` holds."""
    found = logsumexp(x, axis=axis, keepdims=keepdims, where=where)
    if where is None:
        return found - _jnp.log(float(made(x).size // max(1, found.size)))
    held = _jnp.broadcast_to(where, made(x).shape)
    count = _jnp.sum(held, axis=axis, keepdims=keepdims)
    return found - _jnp.log(count.astype(found.dtype))


def standardize(x, axis=-1, mean=None, variance=None, epsilon=1e-5, where=None, *,
                algorithm="fast"):  # fmt: skip
    """(x - mean) / sqrt(variance + epsilon) along axes, of the elements where `where` holds.

    algorithm: "fast" has mean(x²) - mean(x)² for the variance, "stable" mean((x - mean)²).
    """
    if algorithm not in ("fast", "stable"):
        raise ValueError(f"Unknown algorithm '{algorithm}'. Expected 'fast' or 'stable'.")
    expect_arrays("standardize", x)
    x = made(x)
    of = {"axis": axis, "keepdims": True}
    if where is not None:
        of["where"] = where
    mean = _jnp.mean(x, **of) if mean is None else mean
    if variance is None and algorithm == "stable":
        variance = _jnp.mean(_jnp.square(x - mean), **of)
    elif variance is None:
        variance = _jnp.clip(_jnp.mean(_jnp.square(x), **of) - _jnp.square(mean), 0)
    return (x - mean) / _jnp.sqrt(variance + epsilon)


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


def _least(t):
    """What stands for minus infinity: where nothing is left, all have equal parts."""
    return t.type(-0.7 * float(_finfo(t).max))


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
        low = _nb.where(made(mask)._a, q.dtype.type(0), _least(q.dtype))
        extra = low if extra is None else extra + low
    found = _f.scaled_dot_product_attention(q, k, v, extra, 0.0, is_causal, scale)
    return Array(_nb.moveaxis(as_array(found), -3, -2))


for _name, _value in list(globals().items()):  # JAX has no warnings of floating-point errors
    if getattr(_value, "__module__", None) == __name__ and not _name.startswith("_"):
        globals()[_name] = _silent(_value)


def __getattr__(name):
    if name == "initializers":
        return _importlib.import_module(f"{__package__}.initializers")
    return _missing("jax.nn", name)
