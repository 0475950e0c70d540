"""jax.flatten_util: a tree of arrays as one line of numbers."""

import math

import numbus as nb

from ...core.errors import message
from .._missing import missing as _missing
from . import numpy as jnp
from ._array import Array, as_array, cast, made
from .tree_util import tree_flatten

__name__ = "jax.flatten_util"


def ravel_pytree(pytree):
    """The elements of all leaves as one array, and a function that makes the tree of such a one."""
    leaves, form = tree_flatten(pytree)
    leaves = [made(x) for x in leaves]
    if not leaves:
        return jnp.zeros(0), lambda flat: form.unflatten([])
    t = jnp.result_type(*leaves)
    flat = nb.concatenate([cast(x._a, t).reshape(-1) for x in leaves])
    kinds = [(x.shape, x.dtype) for x in leaves]
    total = sum([x.size for x in leaves])

    def unravel(flat):
        flat = made(flat)
        if flat.shape != (total,):
            raise ValueError(
                message("unravel", "another shape than ravel_pytree gave", flat.shape, (total,))
            )
        if flat.dtype != t:
            raise TypeError(
                f"unravel function given array of dtype {flat.dtype}, but expected dtype {t}"
            )
        found, at = [], 0
        for shape, kind in kinds:
            n = math.prod(shape)
            part = flat._a[at : at + n].reshape(shape)
            found.append(Array(cast(as_array(part), kind)))
            at += n
        return form.unflatten(found)

    return Array(as_array(flat)), unravel


def __getattr__(name):
    return _missing("jax.flatten_util", name)
