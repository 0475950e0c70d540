"""Convolution and pooling of pictures in the layout (batch, height, width, channels)."""

import math

import numbus as nb

from ...core.errors import message
from ...nn import functional as _f


def padding_of(padding, sizes, window, strides, dilation=(1, 1)):
    """Pairs of paddings for 'same' or 'valid'."""
    if padding == "valid":
        return ((0, 0),) * len(sizes)
    if padding != "same":
        raise ValueError(message("padding", "unknown padding", padding, "'same' or 'valid'"))
    pairs = []
    for n, k, s, d in zip(sizes, window, strides, dilation, strict=True):
        total = max((math.ceil(n / s) - 1) * s + d * (k - 1) + 1 - n, 0)
        pairs.append((total // 2, total - total // 2))
    return tuple(pairs)


def length_after(n, k, s, d, padding):
    """The length of an axis after windows of `k` elements in steps of `s`; None stays unknown."""
    if n is None:
        return None
    return math.ceil(n / s) if padding == "same" else (n - d * (k - 1) - 1) // s + 1


def convolved(x, w, strides, padding, dilation):
    """`conv2d` of arrays; `w` has the axes (height, width, in, out)."""
    pads = padding_of(padding, x.shape[1:3], w.shape[:2], strides, dilation)
    if x.shape[3] % w.shape[2]:
        raise ValueError(
            message("conv2d", "another number of channels", x.shape[3], f"{w.shape[2]} channels")
        )
    groups = x.shape[3] // w.shape[2]
    planes = nb.moveaxis(x, 3, 1)
    if all(a == b for a, b in pads):
        sides = tuple([a for a, _ in pads])
    else:
        sides = (0, 0)
        planes = nb.pad(planes, ((0, 0), (0, 0), *pads))
    found = _f.conv2d(planes, w.transpose(3, 2, 0, 1), None, strides, sides, dilation, groups)
    return nb.moveaxis(found, 1, 3)


def pooled(kind, x, window, strides, padding):
    """`max` or `mean` of windows; elements of the padding count for neither."""
    pads = padding_of(padding, x.shape[1:3], window, strides)
    planes = nb.moveaxis(x, 3, 1)
    around = ((0, 0), (0, 0), *pads)
    padded = any(a or b for a, b in pads)
    if kind == "max":
        if padded:
            planes = nb.pad(planes, around, constant_values=-nb.inf)
        found = _f.max_pool2d(planes, window, strides)
    elif not padded:
        found = _f.avg_pool2d(planes, window, strides)
    else:
        count = nb.pad(nb.ones((1, 1, *x.shape[1:3]), x.dtype), around)
        found = _f.avg_pool2d(nb.pad(planes, around), window, strides)
        found = found / _f.avg_pool2d(count, window, strides)
    return nb.moveaxis(found, 1, 3)
