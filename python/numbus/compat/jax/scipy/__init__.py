"""jax.scipy: `linalg`, `signal`, `special`, `stats`."""

import importlib as _importlib

from ..._missing import missing as _missing

__name__ = "jax.scipy"


def __getattr__(name):
    if name in ("linalg", "signal", "special", "stats"):
        return _importlib.import_module(f"{__package__}.{name}")
    return _missing("jax.scipy", name)
