"""keras.backend."""

from ..._missing import missing as _missing
from ._layers import clear_session  # noqa: F401

__name__ = "keras.backend"


def epsilon():
    """What keeps logarithms finite."""
    return 1e-7


def floatx():
    """The type of layers."""
    return "float32"


def __getattr__(name):
    return _missing("keras.backend", name)
