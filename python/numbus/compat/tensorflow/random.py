"""tf.random: repeatable numbers, which are not TensorFlow's for the same seed."""

from .._missing import missing as _missing
from ._ops import random_normal as normal  # noqa: F401
from ._ops import random_truncated_normal as truncated_normal  # noqa: F401
from ._ops import random_uniform as uniform  # noqa: F401
from ._ops import set_seed, shuffle  # noqa: F401

__name__ = "tensorflow.random"


def __getattr__(name):
    return _missing("tf.random", name)
