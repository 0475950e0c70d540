"""torch.distributed: numbus.dist."""

from ....dist import *  # noqa: F403
from ....dist import group as _groups
from ..._missing import missing as _missing

DistError = RuntimeError


class _All(type):
    @property
    def WORLD(cls):
        """The group of all ranks; None before init_process_group()."""
        return _groups._State.world


class group(metaclass=_All):
    """`dist.group.WORLD`: all ranks."""


class GroupMember:
    """What new_group() gives to ranks that are none of it."""

    NON_GROUP_MEMBER = _groups.OUTSIDE


def __getattr__(name):
    if name in ("nn", "run"):
        import importlib

        return importlib.import_module(f"{__package__}.{name}")
    return _missing("torch.distributed", name)
