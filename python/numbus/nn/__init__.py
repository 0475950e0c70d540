"""Nets and their layers under PyTorch's names."""

from ..tensors import Parameter
from . import functional, init, modules, serialization, utils
from .modules import *  # noqa: F403

__all__ = ["Parameter", "functional", "init", "modules", "serialization", "utils", *modules.__all__]


def __getattr__(name):
    if name == "parallel":  # which needs sockets
        import importlib

        return importlib.import_module("numbus.nn.parallel")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
