"""jax.scipy.ndimage: `map_coordinates`."""

import itertools

import numbus as nb

from ....core.dtypes import kind_of
from ....core.errors import message
from ..._missing import missing as _missing
from .._array import Array, as_array, cast, made
from .._functions import expect_arrays

__name__ = "jax.scipy.ndimage"


def _rounded(a):
    """The nearest whole number, halves away from zero."""
    return nb.copysign(nb.floor(nb.abs(a) + 0.5), a)


def _wrapped(i, n, mode):
    """Where an index leads, by what is beyond the array, and whether that is inside."""
    if mode == "nearest":
        return nb.clip(i, 0, n - 1), None
    if mode == "wrap":
        return nb.remainder(i, n), None
    if mode in ("mirror", "reflect"):
        if mode == "reflect":
            turned = nb.remainder(nb.where(i < 0, -i - 1, i), 2 * n)
            return nb.minimum(turned, 2 * n - 1 - turned), None
        turned = nb.remainder(nb.abs(i), max(2 * n - 2, 1))
        return nb.minimum(turned, nb.abs(2 * n - 2 - turned)), None
    return nb.clip(i, 0, n - 1), nb.logical_and(i >= 0, i < n)


def map_coordinates(input, coordinates, order, mode="constant", cval=0.0):
    """Elements between elements, at coordinates along each axis: the nearest ones (order 0), or
    between neighbours (order 1).
    """
    expect_arrays("map_coordinates", input)
    x = made(input)
    places = [made(c) for c in coordinates]
    if len(places) != x.ndim:
        raise ValueError("coordinates must be a sequence of length input.ndim, but "
                         f"{len(places)} != {x.ndim}")  # fmt: skip
    if order not in (0, 1):
        raise NotImplementedError("jax.scipy.ndimage.map_coordinates currently requires order<=1")
    if mode not in ("constant", "nearest", "wrap", "mirror", "reflect"):
        raise NotImplementedError(
            message("map_coordinates", "unknown mode", mode,
                    "'constant', 'nearest', 'wrap', 'mirror', 'reflect'")
        )  # fmt: skip
    t = x.dtype if kind_of(x.dtype) in "fc" else None
    choices = []
    for c, n in zip(places, x.shape, strict=True):
        a = c._a if kind_of(c.dtype) == "f" else c._a.astype("f4")
        if order == 0:
            pairs = [(as_array(_rounded(nb.stop_gradient(a))).astype("i4"), None)]
        else:
            low = nb.floor(nb.stop_gradient(a))
            part = a - low
            low = as_array(low).astype("i4")
            pairs = [(low, 1 - part), (low + 1, part)]
        choices.append([(*_wrapped(i, n, mode), weight) for i, weight in pairs])
    total = None
    for corner in itertools.product(*choices):
        found = x._a[tuple([i for i, _, _ in corner])]
        found = found if t is not None else found.astype(places[0].dtype if order else "f4")
        for _, inside, _ in corner:
            if inside is not None:
                found = nb.where(inside, found, cval)
        for _, _, weight in corner:
            if weight is not None:
                found = found * weight
        total = found if total is None else total + found
    if t is None:
        total = _rounded(total) if order else total
        return Array(cast(as_array(total), x.dtype))
    return Array(cast(as_array(total), t))


def __getattr__(name):
    return _missing("jax.scipy.ndimage", name)
