"""Convolutions and their transposes as modules."""

import math

from ...core.errors import message
from ...tensors import Parameter, empty
from .. import functional as F
from .. import init
from ..functional._shared import each
from .module import Module
from .products import uniform_bias

_PADDINGS = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """What all have: the numbers for each spatial axis, weight and bias."""

    _count = 0
    _transposed = False

    def _begin(
        self, in_channels, out_channels, kernel_size, stride, padding, dilation, output_padding,
        groups, bias, padding_mode, device, dtype,
    ):  # fmt: skip
        op, n = type(self).__name__, self._count
        if groups <= 0 or in_channels % groups or out_channels % groups:
            raise ValueError(
                message(op, "groups do not divide in_channels and out_channels",
                        f"groups={groups}, {in_channels} and {out_channels}", "a divisor of both")
            )  # fmt: skip
        if padding_mode not in _PADDINGS:
            expected = "'zeros'" if self._transposed else ", ".join(map(repr, _PADDINGS))
            raise ValueError(message(op, "padding_mode not known", repr(padding_mode), expected))
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size = each(op, "kernel_size", kernel_size, n)
        self.stride, self.dilation = (
            each(op, "stride", stride, n),
            each(op, "dilation", dilation, n),
        )
        self.output_padding = each(op, "output_padding", output_padding, n)
        self.groups, self.padding_mode = groups, padding_mode
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(
                    message(op, "padding not known", repr(padding), "ints, 'same' or 'valid'")
                )
            if padding == "same" and any(s != 1 for s in self.stride):
                raise ValueError(message(op, "padding 'same' with a stride", stride, "stride 1"))
            self.padding = padding
        else:
            self.padding = each(op, "padding", padding, n)
        first, second = out_channels, in_channels // groups
        if self._transposed:
            first, second = in_channels, out_channels // groups
        shape = (first, second, *self.kernel_size)
        self.weight = Parameter(empty(shape, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty((out_channels,), device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draws the parameters anew: uniform up to 1 / sqrt(fan in)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            uniform_bias(self.bias, self.weight.shape[1] * math.prod(self.kernel_size))

    def extra_repr(self):
        n = self._count
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}"
        text += f", stride={self.stride}"
        if self.padding != (0,) * n:
            text += f", padding={self.padding}"
        if self.dilation != (1,) * n:
            text += f", dilation={self.dilation}"
        if self.output_padding != (0,) * n:
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text


class _Forward(_ConvNd):
    _function = None

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=True,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        super().__init__()
        self._begin(
            in_channels, out_channels, kernel_size, stride, padding, dilation, 0, groups, bias,
            padding_mode, device, dtype,
        )  # fmt: skip

    def _widths(self):
        """The borders that `pad` takes, the last axis first."""
        if self.padding == "valid":
            return (0, 0) * self._count
        if self.padding == "same":
            total = [d * (k - 1) for k, d in zip(self.kernel_size, self.dilation)]
            pairs = [(t // 2, t - t // 2) for t in total]
        else:
            pairs = [(p, p) for p in self.padding]
        return tuple(n for pair in reversed(pairs) for n in pair)

    def forward(self, input):
        padding = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._widths(), self.padding_mode), 0
        return type(self)._function(
            input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups
        )


class Conv1d(_Forward):
    """Cross-correlation of (N, in_channels, length), or that without N, with a kernel.

    padding: zeros on both sides, 'same' or 'valid'; padding_mode: 'zeros', 'reflect', 'replicate'
    or 'circular'. Errors as for `functional.conv1d`; ValueError for groups that do not divide the
    channels.
    """

    _count, _function = 1, F.conv1d


class Conv2d(_Forward):
    """Conv1d of two spatial axes: (N, in_channels, height, width)."""

    _count, _function = 2, F.conv2d


class Conv3d(_Forward):
    """Conv1d of three spatial axes."""

    _count, _function = 3, F.conv3d


class _ConvTransposeNd(_ConvNd):
    _function = None
    _transposed = True

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        groups=1,
        bias=True,
        dilation=1,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        super().__init__()
        if padding_mode != "zeros":
            raise ValueError(
                message(type(self).__name__, "padding_mode", repr(padding_mode), "'zeros'")
            )
        self._begin(
            in_channels, out_channels, kernel_size, stride, padding, dilation, output_padding,
            groups, bias, padding_mode, device, dtype,
        )  # fmt: skip

    def forward(self, input, output_size=None):
        more = self.output_padding if output_size is None else self._more(input, output_size)
        return type(self)._function(
            input, self.weight, self.bias, self.stride, self.padding, more, self.groups,
            self.dilation,
        )  # fmt: skip

    def _more(self, input, output_size):
        """The output_padding that gives these extents."""
        n = self._count
        asked, found = tuple(output_size)[-n:], []
        numbers = zip(input.shape[-n:], self.kernel_size, self.stride, self.padding, self.dilation)
        for want, (extent, k, s, p, d) in zip(asked, numbers):
            least = (extent - 1) * s - 2 * p + d * (k - 1) + 1
            if not least <= want <= least + s - 1:
                raise ValueError(
                    message(type(self).__name__, "output_size cannot be", want,
                            f"{least} to {least + s - 1}")
                )  # fmt: skip
            found.append(want - least)
        return tuple(found)


class ConvTranspose1d(_ConvTransposeNd):
    """The transpose of Conv1d as a linear map; weight: (in_channels, out / groups, kernel).

    output_padding: added to one side of the output; `forward(input, output_size)` finds it.
    """

    _count, _function = 1, F.conv_transpose1d


class ConvTranspose2d(_ConvTransposeNd):
    """ConvTranspose1d of two spatial axes."""

    _count, _function = 2, F.conv_transpose2d


class ConvTranspose3d(_ConvTransposeNd):
    """ConvTranspose1d of three spatial axes."""

    _count, _function = 3, F.conv_transpose3d


class Unfold(Module):
    """The windows of (N, C, height, width) as columns."""

    def __init__(self, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.kernel_size, self.dilation = kernel_size, dilation
        self.padding, self.stride = padding, stride

    def forward(self, input):
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self):
        return (
            f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, "
            f"stride={self.stride}"
        )


class Fold(Module):
    """The transpose of Unfold: columns added where their windows lie."""

    def __init__(self, output_size, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.output_size, self.kernel_size, self.dilation = output_size, kernel_size, dilation
        self.padding, self.stride = padding, stride

    def forward(self, input):
        return F.fold(
            input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride
        )

    def extra_repr(self):
        return (
            f"output_size={self.output_size}, kernel_size={self.kernel_size}, "
            f"dilation={self.dilation}, padding={self.padding}, stride={self.stride}"
        )
