"""torch._dynamo: settings of PyTorch's compiler, which are kept and of no use here."""

from ...nn.optimized import compiler as _compiler
from .._missing import missing as _missing


class _Config:
    """Attributes that programs set; results do not depend on them."""


config = _Config()
disable, reset = _compiler.disable, _compiler.reset


def __getattr__(name):
    return _missing("torch._dynamo", name)
