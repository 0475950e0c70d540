"""Floating-point errors: NumPy warns of them, PyTorch and JAX do not."""

import warnings

import numbus as nb
import numbus.compat.jax as jax
import numbus.compat.jax.numpy as jnp
import pytest
from numbus import tensors as torch
from numbus.nn import functional as F

pytestmark = [pytest.mark.numbus]


def entropy():
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    F.binary_cross_entropy(x, torch.tensor([0.0, 1.0])).backward()


def slopes():
    y = torch.tensor([0.0], requires_grad=True)
    y.log().backward(torch.ones(1))
    y.sqrt().sum().backward()
    (1 / y).sum().backward()
    torch.autograd.grad((y.log() * 0).sum(), [y])


def values():
    zero = jnp.array([0.0])
    for x in (jnp.log(0.0), 1 / zero, zero / 0.0, zero**-1, jnp.exp(zero + 1e4)):
        str(x)
    str(jnp.sqrt(zero - 1))
    str(jnp.array([1e38]) * 1e10)


def derivatives():
    str(jax.jvp(jnp.log, (0.0,), (1.0,)))
    str(jax.vjp(jnp.log, 0.0)[1](1.0))
    for x in (jax.grad(jnp.log)(0.0), jax.jacobian(jnp.log)(jnp.zeros(2))):
        str(x)
    str(jax.vmap(jnp.log)(jnp.zeros(2)))


@pytest.mark.parametrize("work", [entropy, slopes, values, derivatives])
def test_none(work):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        work()
        nb.synchronize()


def test_numpys_stay():
    values()
    if nb.zeros(1).device.startswith("cuda"):
        pytest.skip("nothing warns on a GPU")
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        str(nb.log(nb.zeros(2)))
