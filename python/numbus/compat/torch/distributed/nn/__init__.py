"""torch.distributed.nn: collectives that have derivatives."""

from .....dist.differentiable import *  # noqa: F403
from ...._missing import missing as _missing
from . import functional as functional


def __getattr__(name):
    return _missing("torch.distributed.nn", name)
