"""`numbus.nn.parameter`: the kinds of parameters."""

from ..tensors import Parameter
from .modules.lazy import UninitializedParameter, is_lazy

__all__ = ["Parameter", "UninitializedParameter", "is_lazy"]
