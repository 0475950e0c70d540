"""jax.scipy: `integrate`, `linalg`, `ndimage`, `signal`, `special`, `stats`."""

import importlib as _importlib

from ..._missing import missing as _missing

__name__ = "jax.scipy"


def __getattr__(name):
    if name in ("integrate", "linalg", "ndimage", "signal", "special", "stats"):
        return _importlib.import_module(f"{__package__}.{name}")
    return _missing("jax.scipy", name)
