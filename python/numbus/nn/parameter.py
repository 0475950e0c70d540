"""`numbus.nn.parameter`: the kinds of parameters."""

from ..tensors import Buffer, Parameter
from .modules.lazy import UninitializedParameter, is_lazy

__all__ = ["Buffer", "Parameter", "UninitializedParameter", "is_lazy"]
