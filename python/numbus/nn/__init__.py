"""Nets and their layers under PyTorch's names."""

from ..tensors import Buffer, Parameter
from . import functional, init, modules, parameter, serialization, utils
from .modules import *  # noqa: F403
from .parameter import UninitializedParameter

__all__ = [
    "Buffer", "Parameter", "UninitializedParameter", "functional", "init", "modules", "parameter",
    "serialization", "utils", *modules.__all__,
]  # fmt: skip


def __getattr__(name):
    if name in ("attention", "parallel"):  # seldom used; the second needs sockets
        import importlib

        return importlib.import_module("numbus.nn." + name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
