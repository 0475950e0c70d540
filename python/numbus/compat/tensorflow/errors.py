"""tf.errors."""

from .._missing import missing as _missing
from ._tensor import InvalidArgumentError  # noqa: F401

__name__ = "tensorflow.errors"


def __getattr__(name):
    return _missing("tf.errors", name)
