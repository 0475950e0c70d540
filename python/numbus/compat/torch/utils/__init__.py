"""torch.utils."""

import importlib as _importlib

from ..._missing import missing as _missing


def __getattr__(name):
    if name == "data":
        return _importlib.import_module("numbus.data")
    if name in ("_pytree", "checkpoint", "hooks", "model_zoo"):
        return _importlib.import_module(f"{__package__}.{name}")
    return _missing("torch.utils", name)
