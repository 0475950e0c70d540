"""Convolutions for jax.lax, by those of `numbus.nn.functional`."""

import math
import typing

from ...core.errors import message
from ...nn import functional as _nn
from . import numpy as jnp
from ._array import Array, as_array, made
from ._functions import check_precision
from ._lax_further import pad, wide


class ConvDimensionNumbers(typing.NamedTuple):
    """The axes of operand, kernel and result: batch, features, then the others (kernel: those of
    the result, those of the operand, then the others).
    """

    lhs_spec: tuple
    rhs_spec: tuple
    out_spec: tuple


def conv_dimension_numbers(lhs_shape, rhs_shape, dimension_numbers):
    """The axes that three words such as ('NHWC', 'HWIO', 'NHWC') name, or None for 'NCHW'."""
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    if len(lhs_shape) != len(rhs_shape):
        raise TypeError(
            "convolution requires lhs and rhs ndim to be equal, got "
            f"{len(lhs_shape)} and {len(rhs_shape)}."
        )
    if dimension_numbers is None:
        line = tuple(range(len(lhs_shape)))
        return ConvDimensionNumbers(line, line, line)
    words = tuple(dimension_numbers)
    firsts = ("NC", "OI", "NC")
    rest = [c for c in words[1] if c not in "OI"]
    for word, first in zip(words, firsts, strict=True):
        if sorted(word) != sorted([*first, *rest]) or len(word) != len(lhs_shape):
            raise ValueError(
                message("conv_dimension_numbers", "words that do not fit", words,
                        "such as ('NHWC', 'HWIO', 'NHWC')")
            )  # fmt: skip
    return ConvDimensionNumbers(*[
        tuple([word.index(c) for c in [*first, *rest]])
        for word, first in zip(words, firsts, strict=True)
    ])  # fmt: skip


def _layouts(numbers, n):
    """The words of ConvDimensionNumbers, whose axes are batch, features and the others in order."""
    if not isinstance(numbers, ConvDimensionNumbers):
        return tuple(numbers)
    letters, words = {1: "H", 2: "HW", 3: "DHW"}.get(n, ""), []
    for axes, first in zip(numbers, ("NC", "OI", "NC"), strict=True):
        word = [""] * len(axes)
        for k, c in zip(axes, first + letters, strict=True):
            word[k] = c
        words.append("".join(word))
    return tuple(words)


def conv_general_dilated(
    lhs, rhs, window_strides, padding, lhs_dilation=None, rhs_dilation=None,
    dimension_numbers=None, feature_group_count=1, batch_group_count=1, precision=None,
    preferred_element_type=None,
):  # fmt: skip
    """Convolution: `numbus.nn.functional.conv1d`, `conv2d` or `conv3d`, in the layouts that
    `dimension_numbers` names ('NHWC', 'HWIO', 'NHWC'; by default 'NCHW', 'OIHW', 'NCHW').
    """
    if batch_group_count != 1:
        raise NotImplementedError(
            message("conv_general_dilated", "groups of the batch are not yet available",
                    batch_group_count, "1")
        )  # fmt: skip
    wanted = check_precision("conv_general_dilated", precision, preferred_element_type)
    x, w = wide(wanted, made(lhs), made(rhs))
    n = x.ndim - 2
    letters = {1: "H", 2: "HW", 3: "DHW"}.get(n)
    if letters is None:
        raise NotImplementedError(
            message("conv_general_dilated", "so many axes are not yet available", n, "1 to 3")
        )
    usual = ("NC" + letters, "OI" + letters, "NC" + letters)
    layouts = usual if dimension_numbers is None else _layouts(dimension_numbers, n)
    if not all(isinstance(s, str) for s in layouts) or any(
        sorted(s) != sorted(u) for s, u in zip(layouts, usual, strict=True)
    ):
        raise NotImplementedError(
            message("conv_general_dilated", "layouts that are not yet available", layouts,
                    f"three words such as {usual}")
        )  # fmt: skip
    x = x.transpose(*[layouts[0].index(c) for c in usual[0]])
    w = w.transpose(*[layouts[1].index(c) for c in usual[1]])
    strides = tuple(window_strides)
    dilation = tuple(rhs_dilation or (1,) * n)
    between = tuple([k - 1 for k in lhs_dilation or (1,) * n])
    if any(between) and isinstance(padding, str) and padding.upper() != "VALID":
        raise ValueError(
            "String padding is not implemented for transposed convolution using this op. Please "
            "either exactly specify the required padding or use conv_transpose."
        )
    sizes = [k + max(k - 1, 0) * inner for k, inner in zip(x.shape[2:], between, strict=True)]
    pads = padding_of(padding, sizes, w.shape[2:], strides, dilation)
    if any(between) or any(a or b for a, b in pads):
        around = [(*pair, inner) for pair, inner in zip(pads, between, strict=True)]
        x = pad(x, x.dtype.type(0), [(0, 0, 0), (0, 0, 0), *around])
    convolve = (_nn.conv1d, _nn.conv2d, _nn.conv3d)[n - 1]
    found = Array(as_array(convolve(
        x._a, w._a, stride=strides, dilation=dilation, groups=feature_group_count
    )))  # fmt: skip
    found = found.transpose(*[usual[2].index(c) for c in layouts[2]])
    return found if wanted is None else found.astype(wanted)


def padding_of(padding, sizes, window, strides, dilation):
    """Pairs of paddings from 'SAME', 'VALID', 'SAME_LOWER' or pairs."""
    if not isinstance(padding, str):
        return tuple([tuple(pair) for pair in padding])
    if padding.upper() == "VALID":
        return ((0, 0),) * len(sizes)
    if padding.upper() not in ("SAME", "SAME_LOWER"):
        raise ValueError(message("padding", "unknown padding", padding, "'SAME' or 'VALID'"))
    pairs = []
    for n, k, s, d in zip(sizes, window, strides, dilation, strict=True):
        total = max((math.ceil(n / s) - 1) * s + d * (k - 1) + 1 - n, 0)
        pair = (total // 2, total - total // 2)
        pairs.append(pair if padding.upper() == "SAME" else pair[::-1])
    return tuple(pairs)


def conv(lhs, rhs, window_strides, padding, precision=None, preferred_element_type=None):
    """Convolution in the layouts 'NCHW' and 'OIHW'."""
    return conv_general_dilated(lhs, rhs, window_strides, padding, precision=precision,
                                preferred_element_type=preferred_element_type)  # fmt: skip


def conv_transpose(lhs, rhs, strides, padding, rhs_dilation=None, dimension_numbers=None,
                   transpose_kernel=False, precision=None, preferred_element_type=None,
                   use_consistent_padding=False):  # fmt: skip
    """The transposed convolution: of the operand with `strides - 1` zeros between its elements."""
    if use_consistent_padding and isinstance(padding, str) is False:
        raise NotImplementedError(
            message("conv_transpose", "use_consistent_padding= of pairs is not yet available",
                    padding, "'SAME' or 'VALID'")
        )  # fmt: skip
    x, w = made(lhs), made(rhs)
    n = x.ndim - 2
    if dimension_numbers is None:
        letters = {1: "H", 2: "HW", 3: "DHW"}[n]
        dimension_numbers = (f"N{letters}C", f"{letters}IO", f"N{letters}C")
    kernel = dimension_numbers[1]
    sizes = [w.shape[k] for k, c in enumerate(kernel) if c not in "IO"]
    dilation = tuple(rhs_dilation or (1,) * n)
    strides = tuple(strides)
    if isinstance(padding, str):
        if padding not in ("SAME", "VALID"):
            raise ValueError(f"`padding` must be 'VALID' or 'SAME'. Passed: {padding}.")
        pads = []
        for k, s, d in zip(sizes, strides, dilation, strict=True):
            k = (k - 1) * d + 1
            if padding == "SAME":
                total = k + s - 2
                low = k - 1 if s > k - 1 else math.ceil(total / 2)
            else:
                total = k + s - 2 + max(k - s, 0)
                low = k - 1
            pads.append((low, total - low))
    else:
        pads = [tuple(pair) for pair in padding]
    if transpose_kernel:
        w = jnp.flip(w, [k for k, c in enumerate(kernel) if c not in "IO"])
        w = jnp.swapaxes(w, kernel.index("I"), kernel.index("O"))
    return conv_general_dilated(
        x, w, (1,) * n, pads, strides, dilation, dimension_numbers, precision=precision,
        preferred_element_type=preferred_element_type,
    )  # fmt: skip


def conv_with_general_padding(lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation,
                              precision=None, preferred_element_type=None):  # fmt: skip
    """Convolution in the layouts 'NCHW' and 'OIHW'."""
    return conv_general_dilated(
        lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation, precision=precision,
        preferred_element_type=preferred_element_type,
    )  # fmt: skip


def conv_general_dilated_patches(lhs, filter_shape, window_strides, padding, lhs_dilation=None,
                                 rhs_dilation=None, dimension_numbers=None, precision=None,
                                 preferred_element_type=None):  # fmt: skip
    """The elements that each window covers, as features: channel by channel."""
    x = made(lhs)
    n = x.ndim - 2
    letters = {1: "H", 2: "HW", 3: "DHW"}[n]
    usual = ("NC" + letters, "OI" + letters, "NC" + letters)
    layouts = usual if dimension_numbers is None else tuple(dimension_numbers)
    channels = x.shape[layouts[0].index("C")]
    count = math.prod(filter_shape)
    w = jnp.tile(jnp.eye(count, dtype=x.dtype).reshape((count, 1, *filter_shape)),
                 (channels,) + (1,) * (n + 1))  # fmt: skip
    w = w.transpose(*[usual[1].index(c) for c in layouts[1]])
    return conv_general_dilated(
        x, w, window_strides, padding, lhs_dilation, rhs_dilation, layouts,
        feature_group_count=channels, precision=precision,
        preferred_element_type=preferred_element_type,
    )  # fmt: skip
