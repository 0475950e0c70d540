"""keras.models."""

from ..._missing import missing as _missing
from ._models import Model, Sequential  # noqa: F401

__name__ = "keras.models"


def __getattr__(name):
    return _missing("keras.models", name)
