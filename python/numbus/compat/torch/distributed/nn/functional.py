"""torch.distributed.nn.functional: collectives that have derivatives."""

from .....dist.differentiable import *  # noqa: F403
from ...._missing import missing as _missing


def __getattr__(name):
    return _missing("torch.distributed.nn.functional", name)
