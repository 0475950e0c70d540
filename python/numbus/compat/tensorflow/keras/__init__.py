"""Keras's names over the tensors and tapes of compat/tensorflow and numbus.nn.functional."""

import importlib as _importlib

from ..._missing import EXPECTED as _EXPECTED
from ..._missing import missing as _missing
from . import _merging  # noqa: F401 – operators of symbolic tensors
from ._functional import KerasTensor  # noqa: F401
from ._layers import Input, InputLayer, Layer  # noqa: F401
from ._models import Model, Sequential  # noqa: F401

__name__ = "keras"
__version__ = "3.15.1+numbus"
_HERE = (
    "activations", "backend", "callbacks", "constraints", "datasets", "initializers", "layers",
    "losses", "metrics", "models", "optimizers", "regularizers", "utils",
)  # fmt: skip


_INSTEAD = {
    "applications": "a keras.Sequential of its layers",
    "ops": "names of tf, such as tf.einsum",
    "preprocessing": "tf.image, and arrays of NumPy",
    "saving": "save_weights() and load_weights()",
}


def __getattr__(name):
    if name in _HERE:
        return _importlib.import_module(f"{__package__}.{name}")
    return _missing("keras", name, _INSTEAD.get(name, _EXPECTED))
