"""`numbus.nn.serialization`: tensors in files, PyTorch's (.pt) and safetensors."""

from . import safetensors
from .archives import load, save

__all__ = ["load", "safetensors", "save"]
