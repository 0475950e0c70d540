"""Pooling: the largest element of each window, the first one where several tie, or their mean."""

import numpy

from ... import _core
from ...core.dtypes import kind_of
from ...core.errors import message
from ...functions import names as np
from ...tensors import pure_function
from ._shared import along, array, batched, constant, each, floating, size_of
from .convolution import padded, windows

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool2d", "adaptive_max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d",
    "lp_pool1d", "lp_pool2d", "lp_pool3d", "max_pool1d", "max_pool2d", "max_pool3d",
]  # fmt: skip

# Elements of a window up to which all are compared at once; those of larger ones axis by axis.
_AT_ONCE = 32


class _Windows:
    """The numbers of a pooling function, for each spatial axis, and the extents of its result."""

    def __init__(self, op, shape, kernel, stride, padding, dilation, ceil_mode):
        count = len(shape)
        self.kernel = each(op, "kernel_size", kernel, count)
        empty = stride is None or (isinstance(stride, (tuple, list)) and not stride)
        self.stride = self.kernel if empty else each(op, "stride", stride, count)
        self.padding = each(op, "padding", padding, count)
        self.dilation = each(op, "dilation", dilation, count)
        if min(self.kernel + self.stride + self.dilation) < 1:
            raise ValueError(
                message(op, "kernel_size, stride or dilation is not positive",
                        (self.kernel, self.stride, self.dilation), "1 and more")
            )  # fmt: skip
        for k, p, d in zip(self.kernel, self.padding, self.dilation):
            if not 0 <= p <= ((k - 1) * d + 1) // 2:
                raise ValueError(
                    message(op, "padding is more than half of the kernel", self.padding,
                            f"at most half of {self.kernel}")
                )  # fmt: skip
        self.space, self.widths = [], []
        numbers = zip(shape, self.kernel, self.stride, self.padding, self.dilation)
        for n, k, s, p, d in numbers:
            reach = (k - 1) * d + 1
            free = n + 2 * p - reach
            out = -(-free // s) + 1 if ceil_mode else free // s + 1
            if ceil_mode and (out - 1) * s >= n + p:  # the last window would lie in the padding
                out -= 1
            if free < 0 and not (ceil_mode and out > 0):
                raise ValueError(
                    message(op, f"kernel {self.kernel} reaches beyond the input", shape,
                            "larger extents, or padding")
                )  # fmt: skip
            self.space.append(out)
            self.widths.append((p, max(p, (out - 1) * s + reach - n - p)))

    def tap(self, x, indices):
        """What the windows have at one index each: a slice of the padded input."""
        item = (slice(None), slice(None))
        for k, s, d, n in zip(indices, self.stride, self.dilation, self.space):
            item += (slice(k * d, k * d + (n - 1) * s + 1, s),)
        return x[item]

    def taps(self):
        found = [()]
        for k in self.kernel:
            found = [tap + (i,) for tap in found for i in range(k)]
        return found


def first_largest(parts, places=None):
    """The largest of arrays, element by element, and what `places` has of it; NaN is larger."""
    best = parts[0]
    place = places[0] if places else None
    for k in range(1, len(parts)):
        better = (parts[k] > best) | (parts[k] != parts[k])
        best = np.where(better, parts[k], best)
        if places:
            place = np.where(better, places[k], place)
    return best, place


def _largest_of_tiles(x, w):
    """As `_largest`, with a derivative in one piece: windows lie side by side."""
    taps = w.taps()
    with _core.quiet():
        y, place = first_largest(
            [w.tap(x, tap) for tap in taps], [numpy.int8(k) for k in range(len(taps))]
        )
    _core.enter_largest_of_tiles(x, y, place, w.kernel)
    return y


def _largest(x, w):
    if w.kernel == w.stride and set(w.dilation) == {1} and 1 < size_of(w.kernel) <= _AT_ONCE:
        if _core.depends(x):
            return _largest_of_tiles(x, w)
    if size_of(w.kernel) <= _AT_ONCE:
        return first_largest([w.tap(x, tap) for tap in w.taps()])[0]
    for k in reversed(range(len(w.kernel))):  # the last axis first: its first one, then the row's
        s, d, n = w.stride[k], w.dilation[k], w.space[k]
        parts = [
            x[along(x.ndim, k + 2, slice(i * d, i * d + (n - 1) * s + 1, s))]
            for i in range(w.kernel[k])
        ]
        x = first_largest(parts)[0]
    return x


def _lowest(dtype):
    return -np.inf if kind_of(dtype) == "f" else np.iinfo(dtype).min


def _positions(x, w):
    """Flat indices into the spatial axes of the input, where the windows begin to be compared."""
    space = x.shape[2:]
    flat = np.arange(size_of(space)).reshape((1, 1) + space)
    return padded(flat, w.widths, -1)


def _max_pool(
    count, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices
):  # fmt: skip
    op = f"max_pool{count}d"
    x, had_batch = batched(op, array(op, input), count)
    w = _Windows(op, x.shape[2:], kernel_size, stride, padding, dilation, ceil_mode)
    full = padded(x, w.widths, _lowest(x.dtype))
    if not return_indices:
        y = _largest(full, w)
        return y if had_batch else y[0]
    places, taps = _positions(x, w), w.taps()
    # A window whose elements are all the lowest number has a position in the input, too.
    y, place = first_largest(
        [w.tap(full, tap) for tap in taps], [w.tap(places, tap) for tap in taps]
    )
    place = np.broadcast_to(place, y.shape).copy()
    return (y, place) if had_batch else (y[0], place[0])


@pure_function
def max_pool1d(
    input,
    kernel_size,
    stride=None,
    padding=0,
    dilation=1,
    ceil_mode=False,
    return_indices=False,
):
    """The largest element of each window of (batch, channels, length); the batch may be missing.

    stride: that of the kernel unless given; padding: of -inf on both sides; ceil_mode: a last
    window that is not complete counts. return_indices: also the positions in the input. Of elements
    that tie, the first one has the derivative. Raises ValueError for extents that do not fit.
    """
    return _max_pool(
        1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices
    )  # fmt: skip


@pure_function
def max_pool2d(
    input,
    kernel_size,
    stride=None,
    padding=0,
    dilation=1,
    ceil_mode=False,
    return_indices=False,
):
    """max_pool1d() of two spatial axes; arguments also as pairs, positions in a row of all."""
    return _max_pool(
        2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices
    )  # fmt: skip


@pure_function
def max_pool3d(
    input,
    kernel_size,
    stride=None,
    padding=0,
    dilation=1,
    ceil_mode=False,
    return_indices=False,
):
    """max_pool1d() of three spatial axes."""
    return _max_pool(
        3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices
    )  # fmt: skip


def _lined(numbers, like, more):
    """Numbers as an array that lines up with an axis that has `more` axes after it."""
    made = np.array(numbers, like.dtype)
    return made.reshape((-1,) + (1,) * more)


def _counts(shape, w, include_pad):
    """How many elements each window's mean is of, as a tuple of lists, one for each axis."""
    found = []
    for n, k, s, p, out in zip(shape, w.kernel, w.stride, w.padding, w.space):
        low, high = (-p, n + p) if include_pad else (0, n)
        found.append(
            [min(i * s - p + k, high) - max(i * s - p, low) for i in range(out)]
        )  # fmt: skip
    return found


def _avg_pool(
    count, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
):
    op = f"avg_pool{count}d"
    x, had_batch = batched(op, floating(op, input), count)
    w = _Windows(op, x.shape[2:], kernel_size, stride, padding, 1, ceil_mode)
    full = padded(x, w.widths)
    parts = windows(full, w.kernel, w.stride, (1,) * count)
    parts = parts[(slice(None), slice(None)) + tuple(slice(0, n) for n in w.space)]
    y = np.sum(parts, axis=tuple(range(2 + count, 2 + 2 * count)))
    if divisor_override is not None:
        if divisor_override == 0:
            raise ValueError(message(op, "divisor_override is 0", 0, "another number"))
        y = y / divisor_override
    else:
        numbers = _counts(x.shape[2:], w, count_include_pad)
        if all(len(set(line)) == 1 for line in numbers):
            y = y / size_of(line[0] for line in numbers)
        else:
            for axis, line in enumerate(numbers):
                y = y / _lined(line, y, count - 1 - axis)
    return y if had_batch else y[0]


@pure_function
def avg_pool1d(
    input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True
):  # fmt: skip
    """The mean of each window of (batch, channels, length); the batch may be missing.

    padding: zeros on both sides, which count for the mean if `count_include_pad`; others as for
    max_pool1d(). Raises ValueError for extents that do not fit.
    """
    return _avg_pool(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


@pure_function
def avg_pool2d(
    input,
    kernel_size,
    stride=None,
    padding=0,
    ceil_mode=False,
    count_include_pad=True,
    divisor_override=None,
):
    """avg_pool1d() of two spatial axes; divisor_override: what sums are divided by instead."""
    return _avg_pool(
        2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


@pure_function
def avg_pool3d(
    input,
    kernel_size,
    stride=None,
    padding=0,
    ceil_mode=False,
    count_include_pad=True,
    divisor_override=None,
):
    """avg_pool2d() of three spatial axes."""
    return _avg_pool(
        3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


def _bins(n, count):
    """Where each of `count` windows over n elements begins and ends."""
    return [(k * n // count, -(-(k + 1) * n // count)) for k in range(count)]


def _sizes(op, output_size, shape):
    given = output_size
    if not isinstance(given, (tuple, list)):
        given = (given,) * len(shape)
    if len(given) != len(shape):
        raise ValueError(
            message(op, "output_size does not fit the spatial axes", output_size, f"{len(shape)}")
        )
    return tuple(n if size is None else int(size) for size, n in zip(given, shape))


def adaptive_mean(op, x, output_size):
    """Means of windows that cover the spatial axes of (batch, channels, *space)."""
    sizes = _sizes(op, output_size, x.shape[2:])
    if all(size and n % size == 0 for n, size in zip(x.shape[2:], sizes)):
        shape, axes = x.shape[:2], []
        for n, size in zip(x.shape[2:], sizes):
            shape += (size, n // size)
            axes.append(len(shape) - 1)
        return np.mean(x.reshape(shape), axis=tuple(axes))
    for axis, (n, size) in enumerate(zip(x.shape[2:], sizes), 2):
        parts = [
            np.mean(x[along(x.ndim, axis, slice(a, b))], axis=axis, keepdims=True)
            for a, b in _bins(n, size)
        ]
        x = np.concatenate(parts, axis=axis) if parts else x[along(x.ndim, axis, slice(0))]
    return x


def _adaptive_mean(count, input, output_size):
    op = f"adaptive_avg_pool{count}d"
    x, had_batch = batched(op, floating(op, input), count)
    y = adaptive_mean(op, x, output_size)
    return y if had_batch else y[0]


@pure_function
def adaptive_avg_pool1d(input, output_size):
    """Means of `output_size` windows that cover (batch, channels, length): the k-th reaches from
    k n / size rounded down to (k + 1) n / size rounded up. The batch may be missing.
    """
    return _adaptive_mean(1, input, output_size)


@pure_function
def adaptive_avg_pool2d(input, output_size):
    """adaptive_avg_pool1d() of two spatial axes; None: as many as the input has."""
    return _adaptive_mean(2, input, output_size)


@pure_function
def adaptive_avg_pool3d(input, output_size):
    """adaptive_avg_pool1d() of three spatial axes."""
    return _adaptive_mean(3, input, output_size)


def _adaptive_max(count, input, output_size, return_indices):
    op = f"adaptive_max_pool{count}d"
    x, had_batch = batched(op, array(op, input), count)
    sizes = _sizes(op, output_size, x.shape[2:])
    place = np.arange(size_of(x.shape[2:])).reshape((1, 1) + x.shape[2:])
    for axis in reversed(range(2, 2 + count)):
        rows, places = [], []
        for a, b in _bins(x.shape[axis], sizes[axis - 2]):
            parts = [x[along(x.ndim, axis, slice(i, i + 1))] for i in range(a, b)]
            spots = [place[along(x.ndim, axis, slice(i, i + 1))] for i in range(a, b)]
            best, spot = first_largest(parts, spots if return_indices else None)
            rows.append(best)
            places.append(spot)
        x = np.concatenate(rows, axis=axis)
        if return_indices:
            place = np.concatenate(
                [np.broadcast_to(p, r.shape) for p, r in zip(places, rows)], axis=axis
            )
    if return_indices:
        return (x, place) if had_batch else (x[0], place[0])
    return x if had_batch else x[0]


@pure_function
def adaptive_max_pool1d(input, output_size, return_indices=False):
    """The largest elements of the windows of adaptive_avg_pool1d()."""
    return _adaptive_max(1, input, output_size, return_indices)


@pure_function
def adaptive_max_pool2d(input, output_size, return_indices=False):
    """The largest elements of the windows of adaptive_avg_pool2d()."""
    return _adaptive_max(2, input, output_size, return_indices)


@pure_function
def adaptive_max_pool3d(input, output_size, return_indices=False):
    """The largest elements of the windows of adaptive_avg_pool3d()."""
    return _adaptive_max(3, input, output_size, return_indices)


def _power_pool(count, input, norm_type, kernel_size, stride, ceil_mode):
    op = f"lp_pool{count}d"
    x = floating(op, input)
    kernel = each(op, "kernel_size", kernel_size, count)
    means = _avg_pool(count, x**norm_type, kernel, stride, 0, ceil_mode, True, None)
    sums = np.sign(constant(means)) * np.abs(means) * size_of(kernel)
    one = sums.dtype.type(1)
    power = np.where(sums == 0, one, sums) ** (1.0 / norm_type)  # of negative sums NaN, but for 1
    return np.where(sums == 0, sums.dtype.type(0.0 ** (1.0 / norm_type)), power)


@pure_function
def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The p-norm of each window of (batch, channels, length)."""
    return _power_pool(1, input, norm_type, kernel_size, stride, ceil_mode)


@pure_function
def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The p-norm of each window of (batch, channels, height, width)."""
    return _power_pool(2, input, norm_type, kernel_size, stride, ceil_mode)


@pure_function
def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The p-norm of each window of three spatial axes."""
    return _power_pool(3, input, norm_type, kernel_size, stride, ceil_mode)
