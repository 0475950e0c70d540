"""jax.nn.initializers: functions of a key and a shape that give what parameters begin as."""

import math

from ....core.errors import message
from ..._missing import missing as _missing
from .. import numpy as jnp
from .. import random

__name__ = "jax.nn.initializers"


def _kind(dtype):
    """The dtype that an initializer is asked for."""
    return jnp.float_.dtype if dtype is None else getattr(dtype, "dtype", dtype)


def zeros(key, shape, dtype=jnp.float_):
    """0 everywhere; the key is not drawn from."""
    del key
    return jnp.zeros(shape, dtype)


def ones(key, shape, dtype=jnp.float_):
    """1 everywhere; the key is not drawn from."""
    del key
    return jnp.ones(shape, dtype)


def constant(value, dtype=jnp.float_):
    """One value everywhere."""
    given = dtype

    def init(key, shape, dtype=given):
        del key
        return jnp.full(shape, value, dtype)

    return init


def normal(stddev=1e-2, dtype=jnp.float_):
    """Normal numbers of a standard deviation."""
    given = dtype
    return lambda key, shape, dtype=given: random.normal(key, shape, _kind(dtype)) * stddev


def uniform(scale=1e-2, dtype=jnp.float_):
    """Uniform numbers in [0, scale)."""
    given = dtype
    return lambda key, shape, dtype=given: random.uniform(key, shape, _kind(dtype)) * scale


def variance_scaling(scale, mode, distribution, in_axis=-2, out_axis=-1, batch_axis=(),
                     dtype=jnp.float_):  # fmt: skip
    """Numbers whose variance is `scale` over the number of inputs ('fan_in'), outputs ('fan_out')
    or their mean ('fan_avg').
    """
    given = dtype
    if mode not in ("fan_in", "fan_out", "fan_avg"):
        raise ValueError(message("variance_scaling", "unknown mode", mode, "'fan_in', 'fan_out'"))
    if distribution not in ("truncated_normal", "normal", "uniform"):
        raise ValueError(
            message("variance_scaling", "unknown distribution", distribution, "'normal', 'uniform'")
        )

    def init(key, shape, dtype=given):
        field = math.prod(shape) / (shape[in_axis] * shape[out_axis])
        field /= math.prod(shape[k] for k in batch_axis)
        fans = shape[in_axis] * field, shape[out_axis] * field
        fan = {"fan_in": fans[0], "fan_out": fans[1], "fan_avg": sum(fans) / 2}[mode]
        variance = scale / fan
        if distribution == "uniform":
            return random.uniform(key, shape, _kind(dtype), -1) * math.sqrt(3 * variance)
        if distribution == "normal":
            return random.normal(key, shape, _kind(dtype)) * math.sqrt(variance)
        # The standard deviation of the normal distribution between -2 and 2.
        stddev = math.sqrt(variance) / 0.87962566103423978
        return random.truncated_normal(key, -2, 2, shape, _kind(dtype)) * stddev

    return init


def truncated_normal(stddev=1e-2, dtype=jnp.float_, lower=-2.0, upper=2.0):
    """Normal numbers between bounds, times `stddev`."""
    given = dtype

    def init(key, shape, dtype=given):
        return random.truncated_normal(key, lower, upper, shape, _kind(dtype)) * stddev

    return init


def orthogonal(scale=1.0, column_axis=-1, dtype=jnp.float_):
    """Matrices whose shorter lines are orthogonal and of length `scale`."""
    given = dtype

    def init(key, shape, dtype=given):
        if len(shape) < 2:
            raise ValueError("orthogonal initializer requires at least a 2D shape")
        if 0 in shape:
            return jnp.zeros(shape, dtype)
        columns = shape[column_axis]
        rest = list(shape)
        del rest[column_axis]
        q = random.orthogonal(key, math.prod(rest), (), _kind(dtype), columns)
        return scale * jnp.moveaxis(q.reshape((*rest, columns)), -1, column_axis)

    return init


def _scaled(name, scale, mode, distribution):
    def make(in_axis=-2, out_axis=-1, batch_axis=(), dtype=jnp.float_):
        return variance_scaling(scale, mode, distribution, in_axis, out_axis, batch_axis, dtype)

    make.__name__ = name
    make.__doc__ = f"`variance_scaling({scale}, {mode!r}, {distribution!r})`."
    return make


glorot_uniform = xavier_uniform = _scaled("glorot_uniform", 1.0, "fan_avg", "uniform")
glorot_normal = xavier_normal = _scaled("glorot_normal", 1.0, "fan_avg", "truncated_normal")
lecun_uniform = _scaled("lecun_uniform", 1.0, "fan_in", "uniform")
lecun_normal = _scaled("lecun_normal", 1.0, "fan_in", "truncated_normal")
he_uniform = kaiming_uniform = _scaled("he_uniform", 2.0, "fan_in", "uniform")
he_normal = kaiming_normal = _scaled("he_normal", 2.0, "fan_in", "truncated_normal")


def __getattr__(name):
    return _missing("jax.nn.initializers", name)
