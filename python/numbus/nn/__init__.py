"""Nets and their layers under PyTorch's names."""

from ..tensors import Parameter
from . import functional, init, modules, serialization, utils
from .modules import *  # noqa: F403

__all__ = ["Parameter", "functional", "init", "modules", "serialization", "utils", *modules.__all__]
