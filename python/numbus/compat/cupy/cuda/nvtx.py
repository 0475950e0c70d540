"""cupy.cuda.nvtx: marks for profilers, which do nothing."""

from ..._missing import getter

__name__ = "cupy.cuda.nvtx"


def Mark(message, id_color=-1):
    """A mark in a profile: does nothing."""


def MarkC(message, color=0):
    """A coloured mark in a profile: does nothing."""


def RangePush(message, id_color=-1):
    """Begins a range in a profile: does nothing."""


def RangePushC(message, color=0):
    """Begins a coloured range in a profile: does nothing."""


def RangePop():
    """Ends a range in a profile: does nothing."""


__getattr__ = getter(__name__)
