"""What undoes max pooling: the largest elements where they were, zeros elsewhere."""

import functools

from ...core.errors import message
from ...functions import names as np
from ...gradients import custom_gradient
from ...tensors import tensor_function
from ._shared import each

__all__ = ["max_unpool1d", "max_unpool2d", "max_unpool3d"]


def _sizes(op, sides, kernel, stride, padding, output_size):
    """The spatial sizes of the result: those of the smallest input, or others that fit."""
    usual = [
        (n - 1) * s - 2 * p + k for n, k, s, p in zip(sides, kernel, stride, padding, strict=True)
    ]
    if output_size is None:
        return tuple(usual)
    sizes = tuple([int(n) for n in output_size])[-len(sides) :]
    limits = [(n - s, n + s) for n, s in zip(usual, stride, strict=True)]
    fits = [low < n < high for n, (low, high) in zip(sizes, limits, strict=True)]
    if len(sizes) < len(sides) or not all(fits):
        raise ValueError(
            message(op, "an output_size that the pooling does not have", tuple(output_size),
                    f"sizes within {limits}, without the limits")
        )  # fmt: skip
    return sizes


def _unpooled(count, input, indices, kernel_size, stride, padding, output_size):
    op = f"max_unpool{count}d"
    if input.shape != indices.shape:
        raise ValueError(
            message(op, "input and indices have different shapes", f"{input.shape} and"
                    f" {indices.shape}", "one shape, as max_pool(return_indices=True) gives")
        )  # fmt: skip
    if input.ndim not in (count + 1, count + 2):
        raise ValueError(
            message(op, "input does not fit", f"shape {input.shape}", "(N, C, …) or (C, …)")
        )
    kernel = each(op, "kernel_size", kernel_size, count)
    stride = kernel if stride is None or stride == () else each(op, "stride", stride, count)
    padding = each(op, "padding", padding, count)
    sizes = _sizes(op, input.shape[-count:], kernel, stride, padding, output_size)
    lead, total, n = input.shape[:-count], 1, 1
    for size in sizes:
        total *= size
    for size in lead:
        n *= size
    rows, flat = np.arange(n)[:, None], np.reshape(indices, (n, -1))

    @functools.partial(custom_gradient, repeats=True)
    def unpooled(lines):
        made = np.zeros((n, total), dtype=lines.dtype)
        made[rows, flat] = lines
        # Elements of windows that overlap are equal: each has the derivative of where it came from.
        return made, lambda g: g[rows, flat]

    return np.reshape(unpooled(np.reshape(input, (n, -1))), (*lead, *sizes))


@tensor_function
def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """The elements of a pooling where they were in its input, which had `output_size`."""
    return _unpooled(1, input, indices, kernel_size, stride, padding, output_size)


@tensor_function
def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """The elements of a pooling where they were in its input, which had `output_size`."""
    return _unpooled(2, input, indices, kernel_size, stride, padding, output_size)


@tensor_function
def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """The elements of a pooling where they were in its input, which had `output_size`."""
    return _unpooled(3, input, indices, kernel_size, stride, padding, output_size)
