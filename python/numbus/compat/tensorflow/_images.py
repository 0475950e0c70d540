"""Convolution and pooling of one to three axes between that of examples and that of channels."""

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


def padding_of_windows(padding, sizes, window, strides, dilation):
    """The same, also 'causal' of one axis: windows end at the element that they stand for."""
    if padding == "causal":
        return (((window[0] - 1) * dilation[0], 0),)
    return padding_of(padding, sizes, window, strides, dilation)


_CONVOLUTIONS = {1: _f.conv1d, 2: _f.conv2d, 3: _f.conv3d}
_TRANSPOSED = {1: _f.conv_transpose1d, 2: _f.conv_transpose2d, 3: _f.conv_transpose3d}


def _channels_first(w):
    """A kernel with the axes (out, in, …) of one with (…, in, out)."""
    return nb.moveaxis(w, (-1, -2), (0, 1))


def _convolved(x, w, strides, padding, dilation, groups):
    """Of channels that come last, and a kernel with the axes (out, in, …)."""
    axes = x.ndim - 2
    pads = padding_of_windows(padding, x.shape[1:-1], w.shape[2:], strides, dilation)
    planes = nb.moveaxis(x, -1, 1)
    if all(a == b for a, b in pads):
        sides = tuple([a for a, _ in pads])
    else:
        sides = (0,) * axes
        planes = nb.pad(planes, ((0, 0), (0, 0), *pads))
    found = _CONVOLUTIONS[axes](planes, w, None, strides, sides, dilation, groups)
    return nb.moveaxis(found, 1, -1)


def convolved(x, w, strides, padding, dilation):
    """`conv2d` and its kin of arrays; `w` has the axes (…, in, out)."""
    if x.shape[-1] % w.shape[-2]:
        raise ValueError(
            message("convolution", "another number of channels", x.shape[-1],
                    f"{w.shape[-2]} channels")
        )  # fmt: skip
    groups = x.shape[-1] // w.shape[-2]
    return _convolved(x, _channels_first(w), strides, padding, dilation, groups)


def convolved_by_channel(x, w, strides, padding, dilation):
    """`depthwise_conv2d` of arrays; `w` has the axes (…, in, results of each channel)."""
    if x.shape[-1] != w.shape[-2]:
        raise ValueError(
            message("depthwise_conv2d", "another number of channels", x.shape[-1],
                    f"{w.shape[-2]} channels")
        )  # fmt: skip
    planes = nb.moveaxis(w, (-2, -1), (0, 1))
    planes = planes.reshape((w.shape[-2] * w.shape[-1], 1, *w.shape[:-2]))
    return _convolved(x, planes, strides, padding, dilation, x.shape[-1])


def length_before(n, k, s, d, padding, more):
    """The length that a transposed convolution gives; `more`: `output_padding`, or None."""
    if n is None:
        return None
    k = (k - 1) * d + 1
    if padding == "valid":
        return (n - 1) * s + k + (max(k, s) - k if more is None else more)
    return n * s if more is None else (n - 1) * s + k % 2 + more


def convolved_back(x, w, strides, padding, dilation, lengths):
    """`conv2d_transpose` and its kin of arrays, the derivative of a convolution by its input; `w`
    has the axes (…, out, in), `lengths` are those of the result.
    """
    axes = x.ndim - 2
    if x.shape[-1] != w.shape[-1]:
        raise ValueError(
            message("conv_transpose", "another number of channels", x.shape[-1],
                    f"{w.shape[-1]} channels")
        )  # fmt: skip
    pads = padding_of(padding, lengths, w.shape[:-2], strides, dilation)
    counts = [length_after(n, k, s, d, padding) for n, k, s, d in
              zip(lengths, w.shape[:-2], strides, dilation, strict=True)]  # fmt: skip
    if list(counts) != list(x.shape[1:-1]):
        raise ValueError(
            message("conv_transpose", "an output shape that does not fit", tuple(lengths),
                    f"one that a convolution makes {tuple(x.shape[1:-1])} of")
        )  # fmt: skip
    found = _TRANSPOSED[axes](
        nb.moveaxis(x, -1, 1), _channels_first(w), None, strides, (0,) * axes, (0,) * axes, 1,
        dilation,
    )  # fmt: skip
    ends = [max(a + n - m, 0) for (a, _), n, m in zip(pads, lengths, found.shape[2:], strict=True)]
    if any(ends):
        found = nb.pad(found, ((0, 0), (0, 0), *[(0, e) for e in ends]))
    cut = [slice(a, a + n) for (a, _), n in zip(pads, lengths, strict=True)]
    return nb.moveaxis(found[(slice(None), slice(None), *cut)], 1, -1)


_POOLS = {"max": {1: _f.max_pool1d, 2: _f.max_pool2d, 3: _f.max_pool3d},
          "mean": {1: _f.avg_pool1d, 2: _f.avg_pool2d, 3: _f.avg_pool3d}}  # fmt: skip


def pooled(kind, x, window, strides, padding):
    """`max` or `mean` of windows; elements of the padding count for neither."""
    axes = x.ndim - 2
    pads = padding_of(padding, x.shape[1:-1], window, strides, (1,) * axes)
    planes = nb.moveaxis(x, -1, 1)
    around = ((0, 0), (0, 0), *pads)
    padded = any(a or b for a, b in pads)
    pool = _POOLS[kind][axes]
    if kind == "max":
        if padded:
            planes = nb.pad(planes, around, constant_values=-nb.inf)
        found = pool(planes, window, strides)
    elif not padded:
        found = pool(planes, window, strides)
    else:
        count = nb.pad(nb.ones((1, 1, *x.shape[1:-1]), x.dtype), around)
        found = pool(nb.pad(planes, around), window, strides) / pool(count, window, strides)
    return nb.moveaxis(found, 1, -1)
