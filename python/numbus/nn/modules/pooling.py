"""Pooling as modules."""

from ...core.errors import message
from .. import functional as F
from ..functional._shared import each
from .module import Module


class _MaxPoolNd(Module):
    _function = None

    def __init__(
        self,
        kernel_size,
        stride=None,
        padding=0,
        dilation=1,
        return_indices=False,
        ceil_mode=False,
    ):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input):
        return type(self)._function(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode,
            self.return_indices,
        )  # fmt: skip

    def extra_repr(self):
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd):
    """The largest element of each window of (N, C, length); see `functional.max_pool1d`."""

    _function = F.max_pool1d


class MaxPool2d(_MaxPoolNd):
    """The largest element of each window of (N, C, height, width)."""

    _function = F.max_pool2d


class MaxPool3d(_MaxPoolNd):
    """The largest element of each window of three spatial axes."""

    _function = F.max_pool3d


class AvgPool1d(Module):
    """The mean of each window of (N, C, length); see `functional.avg_pool1d`."""

    def __init__(
        self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True
    ):
        super().__init__()
        self.kernel_size = _line(kernel_size)
        self.stride = self.kernel_size if stride is None else _line(stride)
        self.padding = _line(padding)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input):
        return F.avg_pool1d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
            self.count_include_pad,
        )  # fmt: skip

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


def _line(x):
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


class _AvgPoolNd(Module):
    _function = None

    def __init__(
        self,
        kernel_size,
        stride=None,
        padding=0,
        ceil_mode=False,
        count_include_pad=True,
        divisor_override=None,
    ):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.ceil_mode = padding, ceil_mode
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override

    def forward(self, input):
        return type(self)._function(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
            self.count_include_pad, self.divisor_override,
        )  # fmt: skip

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool2d(_AvgPoolNd):
    """The mean of each window of (N, C, height, width)."""

    _function = F.avg_pool2d


class AvgPool3d(_AvgPoolNd):
    """The mean of each window of three spatial axes."""

    _function = F.avg_pool3d


class _AdaptiveAvgPoolNd(Module):
    _function = None

    def __init__(self, output_size):
        super().__init__()
        self.output_size = output_size

    def forward(self, input):
        return type(self)._function(input, self.output_size)

    def extra_repr(self):
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """Means of `output_size` windows that cover the length."""

    _function = F.adaptive_avg_pool1d


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """Means of windows that cover height and width; None: as many as there are."""

    _function = F.adaptive_avg_pool2d


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """Means of windows that cover three spatial axes."""

    _function = F.adaptive_avg_pool3d


class _AdaptiveMax(_AdaptiveAvgPoolNd):
    def __init__(self, output_size, return_indices=False):
        super().__init__(output_size)
        self.return_indices = return_indices

    def forward(self, input):
        return type(self)._function(input, self.output_size, self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMax):
    """The largest elements of `output_size` windows that cover the length."""

    _function = F.adaptive_max_pool1d


class AdaptiveMaxPool2d(_AdaptiveMax):
    """The largest elements of windows that cover height and width."""

    _function = F.adaptive_max_pool2d


class AdaptiveMaxPool3d(_AdaptiveMax):
    """The largest elements of windows that cover three spatial axes."""

    _function = F.adaptive_max_pool3d


class _FractionalMaxPool(Module):
    _count, _function = 2, None

    def __init__(
        self,
        kernel_size,
        output_size=None,
        output_ratio=None,
        return_indices=False,
        _random_samples=None,
    ):
        super().__init__()
        op = type(self).__name__
        if (output_size is None) == (output_ratio is None):
            raise ValueError(
                message(op, "the size of the result", f"output_size={output_size},"
                        f" output_ratio={output_ratio}", "one of output_size and output_ratio")
            )  # fmt: skip
        self.kernel_size = each(op, "kernel_size", kernel_size, self._count)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = self.output_ratio = None
        if output_size is not None:
            self.output_size = each(op, "output_size", output_size, self._count)
        else:
            ratios = output_ratio
            if not isinstance(ratios, (tuple, list)):
                ratios = (ratios,) * self._count
            if len(ratios) != self._count or not all(0 < ratio < 1 for ratio in ratios):
                raise ValueError(message(op, "output_ratio", output_ratio, "between 0 and 1"))
            self.output_ratio = tuple(ratios)

    def forward(self, input):
        return type(self)._function(
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices,
            self._random_samples,
        )  # fmt: skip


class FractionalMaxPool2d(_FractionalMaxPool):
    """The largest elements of windows of (N, C, height, width) whose distances are drawn."""

    _function = F.fractional_max_pool2d


class FractionalMaxPool3d(_FractionalMaxPool):
    """The largest elements of windows of three spatial axes whose distances are drawn."""

    _count, _function = 3, F.fractional_max_pool3d


class _PowerPool(Module):
    _function = None

    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        super().__init__()
        self.norm_type, self.kernel_size = norm_type, kernel_size
        self.stride, self.ceil_mode = stride, ceil_mode

    def forward(self, input):
        return type(self)._function(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )

    def extra_repr(self):
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_PowerPool):
    """The p-norm of each window of (N, C, length)."""

    _function = F.lp_pool1d


class LPPool2d(_PowerPool):
    """The p-norm of each window of (N, C, height, width)."""

    _function = F.lp_pool2d


class LPPool3d(_PowerPool):
    """The p-norm of each window of three spatial axes."""

    _function = F.lp_pool3d


class _MaxUnpool(Module):
    _count, _function = 1, None

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self.kernel_size = each("MaxUnpool", "kernel_size", kernel_size, self._count)
        self.stride = self.kernel_size if stride is None else (
            each("MaxUnpool", "stride", stride, self._count)
        )  # fmt: skip
        self.padding = each("MaxUnpool", "padding", padding, self._count)

    def forward(self, input, indices, output_size=None):
        return type(self)._function(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool):
    """Undoes `MaxPool1d`: the largest elements where they were, zeros elsewhere."""

    _function = F.max_unpool1d


class MaxUnpool2d(_MaxUnpool):
    """Undoes `MaxPool2d`: the largest elements where they were, zeros elsewhere."""

    _count, _function = 2, F.max_unpool2d


class MaxUnpool3d(_MaxUnpool):
    """Undoes `MaxPool3d`: the largest elements where they were, zeros elsewhere."""

    _count, _function = 3, F.max_unpool3d
