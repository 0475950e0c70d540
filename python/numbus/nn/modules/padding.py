"""Borders as modules."""

from .. import functional as F
from ..functional._shared import each
from .module import Module


class _Pad(Module):
    _count, _mode = 0, "constant"

    def __init__(self, padding):
        super().__init__()
        self.padding = each(type(self).__name__, "padding", padding, 2 * self._count)

    def forward(self, input):
        return F.pad(input, self.padding, self._mode, self._value())

    def _value(self):
        return None

    def extra_repr(self):
        return f"{self.padding}"


class _Constant(_Pad):
    def __init__(self, padding, value):
        super().__init__(padding)
        self.value = value

    def _value(self):
        return self.value

    def extra_repr(self):
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_Constant):
    """A border of `value` on both sides of the last axis."""

    _count = 1


class ConstantPad2d(_Constant):
    """A border of `value` around the last two axes."""

    _count = 2


class ConstantPad3d(_Constant):
    """A border of `value` around the last three axes."""

    _count = 3


class ZeroPad1d(_Pad):
    """A border of zeros on both sides of the last axis."""

    _count = 1


class ZeroPad2d(_Pad):
    """A border of zeros around the last two axes."""

    _count = 2


class ZeroPad3d(_Pad):
    """A border of zeros around the last three axes."""

    _count = 3


class ReflectionPad1d(_Pad):
    """The elements mirrored at both ends of the last axis, without the last one."""

    _count, _mode = 1, "reflect"


class ReflectionPad2d(_Pad):
    """The elements mirrored at the ends of the last two axes."""

    _count, _mode = 2, "reflect"


class ReflectionPad3d(_Pad):
    """The elements mirrored at the ends of the last three axes."""

    _count, _mode = 3, "reflect"


class ReplicationPad1d(_Pad):
    """The elements at both ends of the last axis over and over."""

    _count, _mode = 1, "replicate"


class ReplicationPad2d(_Pad):
    """The elements at the ends of the last two axes over and over."""

    _count, _mode = 2, "replicate"


class ReplicationPad3d(_Pad):
    """The elements at the ends of the last three axes over and over."""

    _count, _mode = 3, "replicate"


class CircularPad1d(_Pad):
    """The elements from the other end of the last axis."""

    _count, _mode = 1, "circular"


class CircularPad2d(_Pad):
    """The elements from the other ends of the last two axes."""

    _count, _mode = 2, "circular"


class CircularPad3d(_Pad):
    """The elements from the other ends of the last three axes."""

    _count, _mode = 3, "circular"
