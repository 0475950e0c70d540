"""jax.example_libraries.stax: layers as pairs of functions (init, apply).

`init(key, input_shape)` gives the shape of the result and the parameters,
`apply(params, inputs, rng=key)` the result.
"""

import functools
import math

from ..._missing import missing as _missing
from .. import lax, random
from .. import numpy as jnp
from ..nn import (
    elu,
    gelu,
    leaky_relu,
    log_softmax,
    relu,
    selu,
    sigmoid,
    softmax,
    softplus,
    standardize,
)
from ..nn.initializers import glorot_normal, normal, ones, zeros

__name__ = "jax.example_libraries.stax"
_WEIGHTS, _BIAS, _SMALL = glorot_normal(), normal(), normal(1e-6)


def _shape_after(apply, params, input_shape):
    """The shape of a result; an axis of unknown length (-1) keeps being so."""
    known = [1 if n == -1 else n for n in input_shape]
    found = list(apply(params, jnp.zeros(tuple(known))).shape)
    for k, n in enumerate(input_shape):
        if n == -1:
            found[k] = -1
    return tuple(found)


def Dense(out_dim, W_init=_WEIGHTS, b_init=_BIAS):
    """A product with a matrix, and a bias."""

    def init(rng, input_shape):
        k1, k2 = random.split(rng)
        params = W_init(k1, (input_shape[-1], out_dim)), b_init(k2, (out_dim,))
        return (*input_shape[:-1], out_dim), params

    def apply(params, inputs, **options):
        del options
        w, b = params
        return jnp.dot(inputs, w) + b

    return init, apply


def _convolution(transposed):
    def layer(dimension_numbers, out_chan, filter_shape, strides=None, padding="VALID",
              W_init=None, b_init=_SMALL):  # fmt: skip
        """A convolution in the layouts that `dimension_numbers` names, and a bias."""
        left, kernel, out = dimension_numbers
        strides = strides or (1,) * len(filter_shape)
        make = W_init or glorot_normal(kernel.index("I"), kernel.index("O"))

        def init(rng, input_shape):
            sizes = iter(filter_shape)
            known = {"O": out_chan, "I": input_shape[left.index("C")]}
            shape = tuple([known[c] if c in known else next(sizes) for c in kernel])
            k1, k2 = random.split(rng)
            bias = tuple([out_chan if c == "C" else 1 for c in out])
            params = make(k1, shape), b_init(k2, bias)
            return _shape_after(apply, params, input_shape), params

        def apply(params, inputs, **options):
            del options
            w, b = params
            if transposed:
                found = lax.conv_transpose(inputs, w, strides, padding,
                                           dimension_numbers=dimension_numbers)  # fmt: skip
            else:
                found = lax.conv_general_dilated(inputs, w, strides, padding,
                                                 dimension_numbers=dimension_numbers)  # fmt: skip
            return found + b

        return init, apply

    return layer


GeneralConv, GeneralConvTranspose = _convolution(False), _convolution(True)
Conv = functools.partial(GeneralConv, ("NHWC", "HWIO", "NHWC"))
Conv1DTranspose = functools.partial(GeneralConvTranspose, ("NHC", "HIO", "NHC"))
ConvTranspose = functools.partial(GeneralConvTranspose, ("NHWC", "HWIO", "NHWC"))


def BatchNorm(axis=(0, 1, 2), epsilon=1e-5, center=True, scale=True, beta_init=zeros,
              gamma_init=ones):  # fmt: skip
    """Mean 0 and variance 1 over axes, then a factor and a summand for each place of the others."""
    axis = (axis,) if jnp.isscalar(axis) else tuple(axis)

    def init(rng, input_shape):
        shape = tuple([n for k, n in enumerate(input_shape) if k not in axis])
        k1, k2 = random.split(rng)
        beta = beta_init(k1, shape) if center else ()
        gamma = gamma_init(k2, shape) if scale else ()
        return input_shape, (beta, gamma)

    def apply(params, x, **options):
        del options
        beta, gamma = params
        place = tuple([None if k in axis else slice(None) for k in range(x.ndim)])
        found = standardize(x, axis, epsilon=epsilon)
        found = gamma[place] * found if scale else found
        return found + beta[place] if center else found

    return init, apply


def elementwise(fun, **fun_kwargs):
    """A layer of a function of each element."""
    return (lambda rng, input_shape: (input_shape, ())), (
        lambda params, inputs, **options: fun(inputs, **fun_kwargs)
    )


Tanh, Relu, Exp = elementwise(jnp.tanh), elementwise(relu), elementwise(jnp.exp)
LogSoftmax, Softmax = elementwise(log_softmax, axis=-1), elementwise(softmax, axis=-1)
Softplus, Sigmoid, Elu = elementwise(softplus), elementwise(sigmoid), elementwise(elu)
LeakyRelu, Selu, Gelu = elementwise(leaky_relu), elementwise(selu), elementwise(gelu)


def _pooling(start, reducer, mean=False):
    def layer(window_shape, strides=None, padding="VALID", spec=None):
        """A pooling over windows of the axes that are neither the batch nor channels."""
        window, steps = list(window_shape), list(strides or (1,) * len(window_shape))
        apart = (0, len(window) + 1) if spec is None else (spec.index("N"), spec.index("C"))
        for k in sorted(apart):
            window.insert(k, 1)
            steps.insert(k, 1)

        def apply(params, inputs, **options):
            del params, options
            found = lax.reduce_window(inputs, start, reducer, window, steps, padding)
            if not mean:
                return found
            counts = jnp.ones([1 if k in apart else n for k, n in enumerate(inputs.shape)],
                              inputs.dtype)  # fmt: skip
            return found / lax.reduce_window(counts, 0.0, lax.add, window, steps, padding)

        return (lambda rng, input_shape: (_shape_after(apply, (), input_shape), ())), apply

    return layer


MaxPool, SumPool = _pooling(-jnp.inf, lax.max), _pooling(0.0, lax.add)
AvgPool = _pooling(0.0, lax.add, True)

Flatten = (
    lambda rng, shape: ((shape[0], math.prod(shape[1:])), ()),
    lambda params, inputs, **options: jnp.reshape(inputs, (inputs.shape[0], -1)),
)
Identity = (lambda rng, shape: (shape, ())), (lambda params, inputs, **options: inputs)
FanInSum = (lambda rng, shapes: (shapes[0], ())), (lambda params, inputs, **options: sum(inputs))


def FanOut(num):
    """The input `num` times."""
    return (lambda rng, shape: ([shape] * num, ())), (
        lambda params, inputs, **options: [inputs] * num
    )


def FanInConcat(axis=-1):
    """Several inputs one after another along an axis."""

    def init(rng, shapes):
        del rng
        k = axis % len(shapes[0])
        total = sum([shape[k] for shape in shapes])
        return (*shapes[0][:k], total, *shapes[0][k + 1 :]), ()

    return init, lambda params, inputs, **options: jnp.concatenate(inputs, axis)


def Dropout(rate, mode="train"):
    """Elements that stay with the probability `rate`, times what makes up for the others."""

    def apply(params, inputs, **options):
        del params
        rng = options.get("rng")
        if rng is None:
            raise ValueError(
                "Dropout layer requires apply_fun to be called with a PRNG key argument. That is, "
                "instead of `apply_fun(params, inputs)`, call it like `apply_fun(params, inputs, "
                "rng)` where `rng` is a PRNG key (e.g. from `jax.random.key`)."
            )
        if mode != "train":
            return inputs
        return jnp.where(random.bernoulli(rng, rate, inputs.shape), inputs / rate, 0)

    return (lambda rng, shape: (shape, ())), apply


def _keys(rng, n):
    return random.split(rng, n) if rng is not None else (None,) * n


def serial(*layers):
    """Layers one after another."""

    def init(rng, input_shape):
        params = []
        for make, _ in layers:
            rng, one = random.split(rng)
            input_shape, part = make(one, input_shape)
            params.append(part)
        return input_shape, params

    def apply(params, inputs, **options):
        keys = _keys(options.pop("rng", None), len(layers))
        for (_, fun), part, key in zip(layers, params, keys):
            inputs = fun(part, inputs, rng=key, **options)
        return inputs

    return init, apply


def parallel(*layers):
    """Layers side by side, each of an input of its own."""

    def init(rng, input_shape):
        keys = random.split(rng, len(layers))
        pairs = [make(k, s) for (make, _), k, s in zip(layers, keys, input_shape)]
        return tuple([[s for s, _ in pairs], tuple([p for _, p in pairs])])

    def apply(params, inputs, **options):
        keys = _keys(options.pop("rng", None), len(layers))
        return [
            fun(part, x, rng=key, **options)
            for (_, fun), part, x, key in zip(layers, params, inputs, keys)
        ]

    return init, apply


def shape_dependent(make_layer):
    """A layer that is made for the shape of its input."""
    return (lambda rng, shape: make_layer(shape)[0](rng, shape)), (
        lambda params, inputs, **options: make_layer(inputs.shape)[1](params, inputs, **options)
    )


def __getattr__(name):
    return _missing("jax.example_libraries.stax", name)
