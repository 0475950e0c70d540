"""`numbus.nn.attention`: which kernels may compute attention. One algorithm serves all here."""

import contextlib
import enum

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(enum.IntEnum):
    """PyTorch's kernels of attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextlib.contextmanager
def sdpa_kernel(backends, set_priority=False):
    """A block for which kernels are chosen in PyTorch; the results here are the same for all."""
    every = backends if isinstance(backends, (list, tuple)) else [backends]
    assert all(isinstance(each, SDPBackend) for each in every), "members of SDPBackend"
    assert set_priority in (True, False), "a truth value"
    yield {}
