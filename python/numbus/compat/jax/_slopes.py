"""Derivatives of random numbers by the parameters of their distributions."""

import numbus as nb

from ... import _core
from ...core.errors import message
from ...functions import special
from .._gamma import gamma_slope as _gamma_slope
from ._array import as_array


def follow_gamma(found, a, in_logarithms):
    """Numbers of gamma distributions, or their logarithms, as results of the parameters."""
    if not _core.depends(a):
        return found
    a = as_array(nb.broadcast_to(a, found.shape)) + found.dtype.type(0)

    def slope_of(alpha):
        wide = as_array(alpha).astype("f8")
        x = as_array(found).astype("f8")
        with nb.errstate(all="ignore"):
            known = x if in_logarithms else nb.log(x)
            known = nb.where(known > -700, known, -700.0)  # where the number is 0
            slope = as_array(_gamma_slope(wide, known, special._digamma(wide + 1)))
        return as_array(slope if in_logarithms else slope * x).astype(found.dtype)

    def gamma_slope(alpha):
        def refused(_g):
            raise NotImplementedError(
                message("jax.random.gamma", "second derivatives by its parameters are not there",
                        "a derivative that is differentiated", "one that is not")
            )  # fmt: skip

        return slope_of(alpha), refused

    def gamma(alpha):
        slope = nb.custom_gradient(gamma_slope)(as_array(alpha))
        return found, lambda g: g * slope

    return nb.custom_gradient(gamma, repeats=True)(a)
