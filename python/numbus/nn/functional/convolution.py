"""Convolutions of one to three spatial axes, as products of weights and windows of the input."""

from ...core.errors import message
from ...functions import names as np
from ...functions.strides import sliding_window_view
from ...tensors import pure_function
from ._routine import FORWARD, INPUT, convolved
from ._shared import along, array, batched, each, floating, size_of

__all__ = [
    "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
    "fold", "unfold",
]  # fmt: skip


def padded(x, widths, value=0):
    """`x` with `value` around its last axes; widths: (before, after) for each of them."""
    if not any(before or after for before, after in widths):
        return x
    lead = x.ndim - len(widths)
    shape = x.shape[:lead] + tuple(n + a + b for n, (a, b) in zip(x.shape[lead:], widths))
    inner = (slice(None),) * lead
    inner += tuple(slice(a, a + n) for n, (a, _) in zip(x.shape[lead:], widths))
    result = np.full(shape, value, x.dtype)
    result[inner] = x
    return result


def windows(x, kernel, stride, dilation):
    """All windows of the last axes: a view of shape (..., positions, kernel)."""
    count = len(kernel)
    reach = tuple((k - 1) * d + 1 for k, d in zip(kernel, dilation))
    view = sliding_window_view(x, reach, tuple(range(x.ndim - count, x.ndim)))
    item = (slice(None),) * (x.ndim - count)
    item += tuple(slice(None, None, s) for s in stride)
    item += tuple(slice(None, None, d) for d in dilation)
    return view[item]


def _correlated(x, w, stride, dilation, groups):
    """Sums of products of weights (out, in / groups, *kernel) and windows of (batch, in, *space).

    Weights times a matrix whose columns are the windows of one output (im2col: Chellapilla, Puri
    and Simard, 2006).
    """
    count = w.ndim - 2
    view = windows(x, w.shape[2:], stride, dilation)
    space = view.shape[2 : 2 + count]
    order = (0, 1, *range(2 + count, 2 + 2 * count), *range(2, 2 + count))
    batch, lines = x.shape[0], size_of(w.shape[1:])
    columns = view.transpose(order).reshape((batch, groups, lines, size_of(space)))
    each_out = w.shape[0] // groups
    y = np.matmul(w.reshape((groups, each_out, lines)), columns)
    return y.reshape((batch, w.shape[0]) + space)


def _spread(x, w, stride, dilation, groups, shape):
    """The transposed sums: each input times the weights (in, out / groups, *kernel), added into an
    array of `shape` at its window.
    """
    count, batch = w.ndim - 2, x.shape[0]
    space, kernel = x.shape[2:], w.shape[2:]
    each_in, lines = w.shape[0] // groups, size_of(w.shape[1:])
    turned = w.reshape((groups, each_in, lines)).transpose((0, 2, 1))
    columns = np.matmul(turned, x.reshape((batch, groups, each_in, size_of(space))))
    columns = columns.reshape((batch, w.shape[1] * groups) + kernel + space)
    return overlapped(columns, kernel, stride, dilation, shape, count)


def overlapped(columns, kernel, stride, dilation, shape, count):
    """Windows (batch, channels, *kernel, *positions) added where they lie in `shape`."""
    result = np.zeros(columns.shape[:2] + tuple(shape), columns.dtype)
    space = columns.shape[2 + count :]
    for tap in _taps(kernel):
        item = (slice(None), slice(None))
        for k, d, s, n in zip(tap, dilation, stride, space):
            item += (slice(k * d, k * d + (n - 1) * s + 1, s),)
        result[item] += columns[(slice(None), slice(None)) + tap]
    return result


def _taps(kernel):
    """All indices into a window."""
    if not kernel:
        return [()]
    return [(k,) + rest for k in range(kernel[0]) for rest in _taps(kernel[1:])]


def _paddings(op, padding, kernel, stride, dilation):
    """(before, after) for each spatial axis, also of the words 'valid' and 'same'."""
    if not isinstance(padding, str):
        return tuple((p, p) for p in each(op, "padding", padding, len(kernel)))
    if padding == "valid":
        return ((0, 0),) * len(kernel)
    if padding != "same":
        raise ValueError(message(op, "padding not known", repr(padding), "ints, 'valid' or 'same'"))
    if any(s != 1 for s in stride):
        raise ValueError(message(op, "padding 'same' with a stride", stride, "stride 1"))
    total = [d * (k - 1) for k, d in zip(kernel, dilation)]
    return tuple((t // 2, t - t // 2) for t in total)


def _operands(op, input, weight, bias, groups, count, transposed):
    x, w = floating(op, input), floating(op, weight, "weight")
    if w.ndim != count + 2:
        raise ValueError(
            message(op, "another number of axes than weights have", w.shape, f"{count + 2} axes")
        )
    x, had_batch = batched(op, x, count)
    if groups < 1 or w.shape[0] % groups:
        raise ValueError(
            message(op, f"groups do not divide weight of shape {w.shape}", groups, "a divisor")
        )
    channels = w.shape[0] if transposed else w.shape[1] * groups
    if x.shape[1] != channels:
        raise ValueError(
            message(op, f"input does not fit weight of shape {w.shape} with groups={groups}",
                    f"input of shape {x.shape}, {x.shape[1]} channels", f"{channels} channels")
        )  # fmt: skip
    if x.dtype != w.dtype:
        raise TypeError(
            message(op, "input and weight differ in dtype", f"{x.dtype} and {w.dtype}", "one dtype")
        )
    b = None
    if bias is not None:
        b = array(op, bias, "bias")
        out = w.shape[1] * groups if transposed else w.shape[0]
        if b.shape != (out,):
            raise ValueError(
                message(op, f"bias does not fit weight of shape {w.shape}", b.shape, f"({out},)")
            )
    return x, w, b, had_batch


def _finished(y, bias, had_batch, count):
    if bias is not None:
        y = y + bias.reshape((-1,) + (1,) * count)
    return y if had_batch else y[0]


def _convolution(count, input, weight, bias, stride, padding, dilation, groups):
    op = f"conv{count}d"
    x, w, b, had_batch = _operands(op, input, weight, bias, groups, count, False)
    stride, dilation = each(op, "stride", stride, count), each(op, "dilation", dilation, count)
    _positive(op, stride, dilation)
    widths = _paddings(op, padding, w.shape[2:], stride, dilation)
    whole = tuple(n + a + b for n, (a, b) in zip(x.shape[2:], widths))
    reach = tuple((k - 1) * d + 1 for k, d in zip(w.shape[2:], dilation))
    if any(r > n for r, n in zip(reach, whole)):
        raise ValueError(
            message(op, f"kernel reaches beyond the padded input {whole}", reach, "a smaller one")
        )
    if any(a != b for a, b in widths):
        x, widths = padded(x, widths), ((0, 0),) * count
    space = tuple((n - r) // s + 1 for n, r, s in zip(whole, reach, stride))
    equal = tuple(a for a, _ in widths)
    y = convolved(FORWARD, x, w, space, stride, equal, dilation, groups)
    if y is None:
        y = _correlated(padded(x, widths), w, stride, dilation, groups)
    return _finished(y, b, had_batch, count)


def _positive(op, stride, dilation):
    if min(stride) < 1 or min(dilation) < 1:
        raise ValueError(
            message(op, "stride or dilation is not positive", (stride, dilation), "1 and more")
        )


def _transposed(
    count, input, weight, bias, stride, padding, output_padding, groups, dilation
):  # fmt: skip
    op = f"conv_transpose{count}d"
    x, w, b, had_batch = _operands(op, input, weight, bias, groups, count, True)
    stride, dilation = each(op, "stride", stride, count), each(op, "dilation", dilation, count)
    _positive(op, stride, dilation)
    padding = each(op, "padding", padding, count)
    more = each(op, "output_padding", output_padding, count)
    for m, s, d in zip(more, stride, dilation):
        if not 0 <= m < max(s, d):
            raise ValueError(
                message(op, "output_padding is not below stride or dilation", more,
                        f"below {stride} or {dilation}")
            )  # fmt: skip
    kernel = w.shape[2:]
    full = [
        (n - 1) * s + (k - 1) * d + 1 + m
        for n, k, s, d, m in zip(x.shape[2:], kernel, stride, dilation, more)
    ]
    space = tuple(n - 2 * p for n, p in zip(full, padding))
    if min(space) < 1:
        raise ValueError(message(op, "padding leaves no output", padding, "less"))
    y = convolved(INPUT, x, w, space, stride, padding, dilation, groups)
    if y is None:
        y = _spread(x, w, stride, dilation, groups, full)
        for axis, (n, p) in enumerate(zip(full, padding)):
            y = y[along(count + 2, axis + 2, slice(p, n - p))]
    return _finished(y, b, had_batch, count)


@pure_function
def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Cross-correlation of (batch, in, length) with weights (out, in / groups, kernel).

    The batch may be missing. padding: zeros on both sides, 'valid' or 'same'; dilation: the
    distance of the kernel's elements; groups: channels are split, each group has its own weights.
    Raises ValueError for extents that do not fit, TypeError for different dtypes.
    """
    return _convolution(1, input, weight, bias, stride, padding, dilation, groups)


@pure_function
def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """conv1d() of two spatial axes: (batch, in, height, width); arguments also as pairs."""
    return _convolution(2, input, weight, bias, stride, padding, dilation, groups)


@pure_function
def conv3d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """conv1d() of three spatial axes; arguments also as triples."""
    return _convolution(3, input, weight, bias, stride, padding, dilation, groups)


@pure_function
def conv_transpose1d(
    input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1
):
    """The transpose of conv1d() as a linear map, of weights (in, out / groups, kernel).

    output_padding: added to one side of the output, which is ambiguous for strides above 1. Raises
    ValueError for extents that do not fit.
    """
    return _transposed(1, input, weight, bias, stride, padding, output_padding, groups, dilation)


@pure_function
def conv_transpose2d(
    input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1
):
    """conv_transpose1d() of two spatial axes."""
    return _transposed(2, input, weight, bias, stride, padding, output_padding, groups, dilation)


@pure_function
def conv_transpose3d(
    input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1
):
    """conv_transpose1d() of three spatial axes."""
    return _transposed(3, input, weight, bias, stride, padding, output_padding, groups, dilation)


def _pairs(op, *values):
    names = ("kernel_size", "stride", "dilation", "padding")
    return [each(op, name, value, 2) for name, value in zip(names, values, strict=True)]


@pure_function
def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """The windows of (batch, channels, height, width) as columns: (batch, channels * kernel, L)."""
    x, had_batch = batched("unfold", array("unfold", input), 2)
    kernel, stride, dilation, padding = _pairs("unfold", kernel_size, stride, dilation, padding)
    view = windows(padded(x, [(p, p) for p in padding]), kernel, stride, dilation)
    lines = x.shape[1] * size_of(kernel)
    y = view.transpose((0, 1, 4, 5, 2, 3)).reshape((x.shape[0], lines, size_of(view.shape[2:4])))
    return y if had_batch else y[0]


@pure_function
def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """The transpose of unfold(): columns added where their windows lie in `output_size`."""
    x = array("fold", input)
    had_batch = x.ndim == 3
    x = x if had_batch else x[None]
    kernel, stride, dilation, padding = _pairs("fold", kernel_size, stride, dilation, padding)
    size = each("fold", "output_size", output_size, 2)
    space = tuple(
        (n + 2 * p - (k - 1) * d - 1) // s + 1
        for n, p, k, d, s in zip(size, padding, kernel, dilation, stride)
    )
    if x.ndim != 3 or x.shape[2] != size_of(space) or x.shape[1] % size_of(kernel):
        raise ValueError(
            message("fold", "columns do not fit the output", x.shape,
                    f"(batch, channels * {size_of(kernel)}, {size_of(space)})")
        )  # fmt: skip
    columns = x.reshape((x.shape[0], x.shape[1] // size_of(kernel)) + kernel + space)
    full = tuple(n + 2 * p for n, p in zip(size, padding))
    y = overlapped(columns, kernel, stride, dilation, full, 2)
    y = y[:, :, padding[0] : padding[0] + size[0], padding[1] : padding[1] + size[1]]
    return y if had_batch else y[0]
