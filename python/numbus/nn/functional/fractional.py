"""Fractional max pooling: windows whose distances are drawn (Graham, 2014)."""

from ...core.errors import message
from ...functions import names as np
from ...tensors import tensor_function
from ...tensors._arrays import beside, moved_to
from ...tensors.random import uniform
from ._shared import batched, each, floating, size_of
from .pooling import first_largest

__all__ = ["fractional_max_pool2d", "fractional_max_pool3d"]


def _sizes(op, space, kernel, output_size, output_ratio):
    if (output_size is None) == (output_ratio is None):
        raise ValueError(
            message(op, "the size of the result", f"output_size={output_size},"
                    f" output_ratio={output_ratio}", "one of output_size and output_ratio")
        )  # fmt: skip
    if output_size is None:
        ratios = output_ratio
        if not isinstance(ratios, (tuple, list)):
            ratios = (ratios,) * len(space)
        if len(ratios) != len(space) or not all(0 < ratio < 1 for ratio in ratios):
            raise ValueError(message(op, "output_ratio", output_ratio, "between 0 and 1"))
        output_size = tuple(int(n * ratio) for n, ratio in zip(space, ratios))
    sizes = each(op, "output_size", output_size, len(space))
    for n, k, size in zip(space, kernel, sizes):
        if size < 1 or size + k - 1 > n:
            raise ValueError(
                message(op, f"kernel {kernel} and result {sizes} do not fit the input", space,
                        "results of at most input - kernel + 1")
            )  # fmt: skip
    return sizes


def _begins(drawn, n, k, size):
    """Where windows begin along an axis, for each number that was drawn: (..., size)."""
    steps = np.arange(size - 1)
    last = np.zeros_like(drawn[..., None], dtype=np.int64) + (n - k)
    if size == 1:
        return last
    step = drawn.dtype.type(n - k) / drawn.dtype.type(size - 1)
    drawn = drawn[..., None]
    found = ((steps.astype(drawn.dtype) + drawn) * step).astype(np.int64)
    return np.concatenate([found - (drawn * step).astype(np.int64), last], axis=-1)


def _pooled(op, count, input, kernel_size, output_size, output_ratio, return_indices, drawn):
    x, had_batch = batched(op, floating(op, input), count)
    kernel = each(op, "kernel_size", kernel_size, count)
    space = x.shape[2:]
    sizes = _sizes(op, space, kernel, output_size, output_ratio)
    if drawn is None:
        drawn = moved_to(uniform((*x.shape[:2], count), x.dtype, where=beside(x)), x)
    else:
        drawn = floating(op, drawn, "_random_samples")
        drawn = drawn if had_batch else drawn[:1]
        if drawn.shape != (*x.shape[:2], count):
            raise ValueError(
                message(op, "_random_samples", drawn.shape, f"shape {(*x.shape[:2], count)}")
            )
    # Of two axes PyTorch takes the last number first, of three the first one.
    order = reversed(range(2)) if count == 2 else range(3)
    begins = []
    for axis, k in enumerate(order):
        found = _begins(drawn[:, :, k], space[axis], kernel[axis], sizes[axis])
        shape = [1] * count
        shape[axis] = sizes[axis]
        begins.append(found.reshape((*x.shape[:2], *shape)))
    place = begins[0]
    for axis in range(1, count):
        place = place * space[axis] + begins[axis]
    taps = [0]
    for axis in range(count):
        taps = [tap * space[axis] + i for tap in taps for i in range(kernel[axis])]
    lines = x.reshape((*x.shape[:2], -1))
    rows = np.arange(x.shape[0]).reshape((-1,) + (1,) * (count + 1))
    channels = np.arange(x.shape[1]).reshape((1, -1) + (1,) * count)
    places = [place + tap for tap in taps]
    best, found = first_largest(
        [lines[rows, channels, spot] for spot in places], places if return_indices else None
    )
    if size_of(sizes) == 0:
        best = best.reshape((*x.shape[:2], *sizes))
    results = (best, found) if return_indices else (best,)
    results = results if had_batch else tuple(r[0] for r in results)
    return results if return_indices else results[0]


@tensor_function
def fractional_max_pool2d(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False,
    _random_samples=None,
):  # fmt: skip
    """The largest element of each of `output_size` windows (or output_ratio times the extents, less
    than 1) of (N, C, height, width), whose distances are drawn for each channel.

    return_indices: also the positions in a row of all. _random_samples: numbers from 0 to 1 of
    shape (N, C, 2), drawn by the generator that manual_seed() sets unless given. ValueError for
    sizes that do not fit.
    """
    return _pooled(
        "fractional_max_pool2d", 2, input, kernel_size, output_size, output_ratio, return_indices,
        _random_samples,
    )  # fmt: skip


@tensor_function
def fractional_max_pool3d(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False,
    _random_samples=None,
):  # fmt: skip
    """fractional_max_pool2d() of three spatial axes."""
    return _pooled(
        "fractional_max_pool3d", 3, input, kernel_size, output_size, output_ratio, return_indices,
        _random_samples,
    )  # fmt: skip
