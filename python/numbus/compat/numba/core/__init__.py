"""numba.core: config, errors and types."""

# ruff: noqa: F401 – names for users
from ..._missing import missing as _missing
from .. import types
from . import config, errors

__name__ = "numba.core"


def __getattr__(name):
    return _missing("numba.core", name)
