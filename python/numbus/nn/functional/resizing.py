"""Other extents of the spatial axes: by the nearest elements, between them, and from channels."""

import math

import numpy

from ...core.errors import message
from ...functions import names as np
from ...tensors import pure_function
from ._shared import array, each, floating
from .pooling import adaptive_mean

__all__ = [
    "channel_shuffle", "interpolate", "pixel_shuffle", "pixel_unshuffle", "upsample",
    "upsample_bilinear", "upsample_nearest",
]  # fmt: skip

_LINEAR = {"linear": 1, "bilinear": 2, "trilinear": 3}
_SMOOTH = {**_LINEAR, "bicubic": 2}
_MODES = ("nearest", "nearest-exact", "area", *_SMOOTH)


def _extents(op, shape, size, scale_factor, recompute):
    """(extents of the result, how many elements of the input one of the result stands for)."""
    count = len(shape)
    if (size is None) == (scale_factor is None):
        raise ValueError(message(op, "size and scale_factor", "both, or none", "one of them"))
    if size is not None:
        found = each(op, "size", size, count)
    else:
        several = isinstance(scale_factor, (tuple, list))
        factors = scale_factor if several else (scale_factor,) * count
        if len(factors) != count:
            raise ValueError(
                message(op, "scale_factor does not fit", scale_factor, f"{count} numbers")
            )
        found = tuple(math.floor(n * f) for n, f in zip(shape, factors))
        if not recompute:
            return found, [1 / f for f in factors]
    return found, [n / m if m else 0.0 for n, m in zip(shape, found)]


@pure_function
def interpolate(
    input,
    size=None,
    scale_factor=None,
    mode="nearest",
    align_corners=None,
    recompute_scale_factor=None,
    antialias=False,
):
    """(N, C, *space) with other extents of space, `size` or `scale_factor` times as many.

    mode: 'nearest', 'nearest-exact', 'area' (adaptive means), or 'linear', 'bilinear' and
    'trilinear' for one, two and three spatial axes: weighted means of the two elements next to a
    point, where elements are areas, or, with align_corners, points of which the outer ones stay
    where they are; 'bicubic' for two: cubic polynomials through four elements (Keys, 1981).
    antialias: of 'bilinear' and 'bicubic', the weights are as wide as the area that an element of
    a smaller result stands for. ValueError for others.
    """
    op = "interpolate"
    x = floating(op, input)
    if mode not in _MODES or x.ndim < 3 or _SMOOTH.get(mode, x.ndim - 2) != x.ndim - 2:
        raise ValueError(
            message(op, f"mode does not fit input of shape {x.shape}", mode, ", ".join(_MODES))
        )
    if antialias and mode not in ("bilinear", "bicubic"):
        raise ValueError(message(op, "antialias with mode", mode, "bilinear or bicubic"))
    if align_corners is not None and mode not in _SMOOTH:
        raise ValueError(message(op, f"align_corners with mode {mode}", align_corners, "None"))
    space, steps = _extents(op, x.shape[2:], size, scale_factor, recompute_scale_factor)
    if mode == "area":
        return adaptive_mean(op, x, space)
    if mode == "bicubic" or antialias:
        return _by_weights(x, space, steps, mode, bool(align_corners), antialias)
    for axis, (m, step) in enumerate(zip(space, steps), 2):
        at = numpy.arange(m)
        if mode in _LINEAR:
            x = _between(x, axis, at, step, bool(align_corners))
        else:
            if mode == "nearest" and m in (n := x.shape[axis], 2 * n):
                step = n / m  # PyTorch does not ask for the factor then, which may be another one
            at = (at if mode == "nearest" else at + 0.5) * step
            x = _taken(x, axis, numpy.minimum(at.astype(numpy.int64), x.shape[axis] - 1))
    return x


def _taken(x, axis, numbers):
    return np.take(x, np.array(numbers), axis=axis)


def _between(x, axis, at, step, corners):
    n = x.shape[axis]
    if corners:
        point = at * ((n - 1) / (len(at) - 1) if len(at) > 1 else 0)
    else:
        point = numpy.maximum((at + 0.5) * step - 0.5, 0)
    low = numpy.minimum(point.astype(numpy.int64), n - 1)
    part = (point - low).astype(x.dtype).reshape((-1,) + (1,) * (x.ndim - axis - 1))
    part = np.array(part)
    high = numpy.minimum(low + 1, n - 1)
    return _taken(x, axis, low) * (1 - part) + _taken(x, axis, high) * part


def _kernel(mode, distance, a):
    """The weight of an element at a distance: a triangle, or the cubic kernel with parameter a."""
    d = numpy.abs(distance)
    if mode == "bilinear":
        return numpy.maximum(1 - d, 0)
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((d - 5) * d + 8) * d * a - 4 * a
    return numpy.where(d <= 1, near, numpy.where(d < 2, far, 0.0))


def _weights(n, m, step, mode, corners, antialias):
    """The matrix (m, n) that makes m elements of n."""
    if corners:
        step = (n - 1) / (m - 1) if m > 1 else 0.0
    at, w = numpy.arange(m), numpy.zeros((m, n))
    if antialias:
        wide = max(step, 1.0)
        reach = (1 if mode == "bilinear" else 2) * wide
        middle = step * (at + 0.5)
        low = numpy.maximum((middle - reach + 0.5).astype(numpy.int64), 0)
        high = numpy.minimum((middle + reach + 0.5).astype(numpy.int64), n)
        k = numpy.arange(n)
        found = _kernel(mode, (k - middle[:, None] + 0.5) / wide, -0.5)
        w[...] = numpy.where((k >= low[:, None]) & (k < high[:, None]), found, 0)
        return w / w.sum(axis=1, keepdims=True)
    point = at * step if corners else (at + 0.5) * step - 0.5
    low = numpy.floor(point).astype(numpy.int64)
    for tap in range(-1, 3):  # elements beyond the edge are those at the edge
        k = numpy.clip(low + tap, 0, n - 1)
        numpy.add.at(w, (at, k), _kernel(mode, point - low - tap, -0.75))
    return w


def _by_weights(x, space, steps, mode, corners, antialias):
    """Products with a matrix of weights for each of two spatial axes."""
    for axis, (m, step) in enumerate(zip(space, steps), 2):
        w = _weights(x.shape[axis], m, step, mode, corners, antialias)
        w = np.array(w.astype(x.dtype))
        x = np.matmul(w, x) if axis == 2 else np.matmul(x, w.T)
    return x


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """The older name of interpolate()."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    """interpolate() by the nearest elements."""
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    """interpolate() between elements, of which the outer ones stay where they are."""
    return interpolate(input, size, scale_factor, "bilinear", True)


def _divided(op, what, n, by):
    if by < 1 or n % by:
        raise ValueError(message(op, f"{what} are no multiple of {by}", n, f"a multiple of {by}"))
    return n // by


@pure_function
def pixel_shuffle(input, upscale_factor):
    """(..., C r², H, W) as (..., C, H r, W r) (Shi et al., 2016). ValueError for other channels."""
    x, r = array("pixel_shuffle", input), upscale_factor
    channels, height, width = x.shape[-3:]
    lead, channels = x.shape[:-3], _divided("pixel_shuffle", "channels", channels, r * r)
    k = len(lead)
    y = x.reshape((*lead, channels, r, r, height, width))
    y = y.transpose((*range(k), k, k + 3, k + 1, k + 4, k + 2))
    return y.reshape((*lead, channels, height * r, width * r))


@pure_function
def pixel_unshuffle(input, downscale_factor):
    """(..., C, H r, W r) as (..., C r², H, W), the inverse of pixel_shuffle()."""
    x, r = array("pixel_unshuffle", input), downscale_factor
    lead, channels = x.shape[:-3], x.shape[-3]
    height, width = (_divided("pixel_unshuffle", "extents", n, r) for n in x.shape[-2:])
    k = len(lead)
    y = x.reshape((*lead, channels, height, r, width, r))
    y = y.transpose((*range(k), k, k + 2, k + 4, k + 1, k + 3))
    return y.reshape((*lead, channels * r * r, height, width))


@pure_function
def channel_shuffle(input, groups):
    """Channels (axis 1) interleaved: one of each group, then the next (Zhang et al., 2018)."""
    x = array("channel_shuffle", input)
    each_group = _divided("channel_shuffle", "channels", x.shape[1], groups)
    y = x.reshape((x.shape[0], groups, each_group, *x.shape[2:]))
    return np.swapaxes(y, 1, 2).reshape(x.shape)
