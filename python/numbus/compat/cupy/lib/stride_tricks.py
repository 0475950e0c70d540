"""cupy.lib.stride_tricks: Numbus's."""

import numbus.lib.stride_tricks as _ours

from ..._missing import getter

__name__ = "cupy.lib.stride_tricks"
__path__ = []  # so that Python asks us what `from … import` does not find
__getattr__ = getter(__name__, _ours)


def __dir__():
    return ["as_strided", "sliding_window_view"]
