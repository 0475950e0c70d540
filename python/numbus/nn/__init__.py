"""Nets and their layers under PyTorch's names."""

from ..tensors import Parameter
from . import functional, init, modules, saving, utils
from .modules import *  # noqa: F403

__all__ = ["Parameter", "functional", "init", "modules", "saving", "utils", *modules.__all__]
