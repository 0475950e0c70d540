"""Pictures read at places between their elements, and samples of choices that have derivatives."""

import math

from ...core.errors import message
from ...functions import names as np
from ...gradients import stop_gradient
from ...tensors import finfo, tensor_function
from ...tensors._dtypes import of
from ...tensors.random import uniform
from ._shared import floating

__all__ = ["affine_grid", "grid_sample", "gumbel_softmax"]


@tensor_function
def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """softmax((logits + Gumbel's noise) / tau); `hard`: ones among zeros, with its derivative.

    `eps` is of old and has no effect.
    """
    x = floating("gumbel_softmax", logits)
    u = uniform(x.shape, x.dtype).clip(finfo(of(x.dtype)).tiny, 1 - finfo(of(x.dtype)).eps)
    noisy = (x - np.log(-np.log(u))) / tau
    e = np.exp(noisy - stop_gradient(np.max(noisy, axis=dim, keepdims=True)))
    soft = e / np.sum(e, axis=dim, keepdims=True)
    if not hard:
        return soft
    fixed = stop_gradient(soft)
    best = np.argmax(fixed, axis=dim, keepdims=True)
    shape = [1] * x.ndim
    shape[dim] = x.shape[dim]
    ones = (np.arange(x.shape[dim]).reshape(shape) == best).astype(x.dtype)
    return ones - fixed + soft


def _line(n, align_corners, t):
    """The places of n elements between -1 and 1."""
    if align_corners:
        return np.linspace(-1, 1, n).astype(t) if n > 1 else np.zeros(n).astype(t)
    return ((np.arange(n) * 2 + 1) / n - 1).astype(t)


@tensor_function
def affine_grid(theta, size, align_corners=None):
    """The places that an affine map of pictures reads: (N, height, width, 2), or of volumes.

    theta: (N, 2, 3), or (N, 3, 4) for volumes; size: that of the result of `grid_sample`.
    """
    m = floating("affine_grid", theta, "theta")
    d = len(size) - 2
    if d not in (2, 3) or m.ndim != 3 or m.shape[1:] != (d, d + 1) or m.shape[0] != size[0]:
        raise ValueError(
            message("affine_grid", "theta does not fit the size", f"{m.shape}, {tuple(size)}",
                    "(N, 2, 3) for 4 extents, (N, 3, 4) for 5")
        )  # fmt: skip
    extents = [int(n) for n in size[2:]]
    parts = []
    for k in reversed(range(d)):  # x first
        shape = [1] * d
        shape[k] = extents[k]
        line = _line(extents[k], bool(align_corners), m.dtype).reshape(shape)
        parts.append(np.broadcast_to(line, extents))
    base = np.stack([*parts, np.ones(extents).astype(m.dtype)], -1).reshape(1, -1, d + 1)
    return (base @ np.swapaxes(m, 1, 2)).reshape((m.shape[0], *extents, d))


def _reflected(x, low, high):
    """Coordinates mirrored at two borders until they lie between them."""
    if low == high:
        return x * 0
    span = (high - low) / 2.0
    x = np.abs(x - low / 2.0)
    extra = np.fmod(x, span)
    even = stop_gradient(np.floor(stop_gradient(x) / span)) % 2 == 0
    return np.where(even, extra, span - extra) + low / 2.0


def _coordinate(g, n, padding_mode, align_corners):
    """Places from -1 to 1 as coordinates of elements, within the borders where these are kept."""
    x = (g + 1) / 2 * (n - 1) if align_corners else ((g + 1) * n - 1) / 2
    if padding_mode == "reflection":
        x = _reflected(x, 0, 2 * (n - 1)) if align_corners else _reflected(x, -1, 2 * n - 1)
    if padding_mode != "zeros":
        x = np.where(x < 0, x * 0, np.where(x > n - 1, x * 0 + (n - 1), x))
    return x


def _read(a, where):
    """The elements at whole coordinates, zeros beyond the borders: (N, C, places)."""
    inside, flat = None, 0
    for x, n in zip(where, a.shape[2:], strict=True):
        own = (x >= 0) & (x < n)
        inside = own if inside is None else inside & own
        flat = flat * n + np.clip(x, 0, n - 1)
    count = math.prod(a.shape[2:])
    lines = a.reshape(a.shape[0], a.shape[1], count)
    rows, channels = a.shape[:2]
    at = np.arange(rows).reshape(-1, 1, 1) * channels + np.arange(channels).reshape(1, -1, 1)
    flat = flat.reshape(rows, 1, -1) + at * count
    found = lines.reshape(-1)[flat]
    return np.where(inside.reshape(rows, 1, -1), found, np.zeros((), dtype=a.dtype))


@tensor_function
def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """Pictures (N, C, H, W), or volumes, read at the places of a grid (N, H', W', 2) from -1 to 1.

    `mode` "bilinear" or "nearest"; beyond the borders are zeros, the nearest element ("border") or
    the picture's mirror image ("reflection"). ValueError for shapes that do not fit.
    """
    op = "grid_sample"
    a, g = floating(op, input), floating(op, grid, "grid")
    d = a.ndim - 2
    if d not in (2, 3) or g.ndim != a.ndim or g.shape[-1] != d or g.shape[0] != a.shape[0]:
        raise ValueError(
            message(op, "the grid does not fit", f"{a.shape}, {g.shape}",
                    f"(N, ..., {max(d, 2)}) of as many dimensions")
        )  # fmt: skip
    if mode == "bicubic":
        raise NotImplementedError(message(op, "bicubic is not yet available", mode, "'bilinear'"))
    if mode not in ("bilinear", "nearest"):
        raise ValueError(message(op, "unknown mode", mode, "'bilinear' or 'nearest'"))
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(
            message(op, "unknown padding_mode", padding_mode, "'zeros', 'border' or 'reflection'")
        )
    where = [
        _coordinate(g[..., d - 1 - k], a.shape[2 + k], padding_mode, bool(align_corners))
        for k in range(d)
    ]
    shape = (*a.shape[:2], *g.shape[1:-1])
    if mode == "nearest":
        whole = [np.rint(stop_gradient(x)).astype(np.int64) for x in where]
        return _read(a, whole).reshape(shape)
    below = [np.floor(stop_gradient(x)) for x in where]
    total = None
    for corner in range(2**d):
        steps = [corner >> k & 1 for k in range(d)]
        weight = None
        for x, low, step in zip(where, below, steps, strict=True):
            part = x - low if step else low + 1 - x
            weight = part if weight is None else weight * part
        whole = [(low + step).astype(np.int64) for low, step in zip(below, steps, strict=True)]
        term = _read(a, whole) * weight.reshape(a.shape[0], 1, -1)
        total = term if total is None else total + term
    return total.reshape(shape)
