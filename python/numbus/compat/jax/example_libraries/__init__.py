"""jax.example_libraries: `optimizers` and `stax`."""

import importlib as _importlib

from ..._missing import missing as _missing

__name__ = "jax.example_libraries"


def __getattr__(name):
    if name in ("optimizers", "stax"):
        return _importlib.import_module(f"{__package__}.{name}")
    return _missing("jax.example_libraries", name)
