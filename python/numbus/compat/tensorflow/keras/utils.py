"""keras.utils."""

import numbus as nb

from ..._missing import missing as _missing
from .._ops import set_seed
from .._tensor import convert
from ._batches import PyDataset

Sequence = PyDataset

__name__ = "keras.utils"


def to_categorical(x, num_classes=None):
    """One row for each label, with 1 at its index; float64, as Keras has it."""
    index = convert(x)._value().astype("i8")
    if index.ndim > 1 and index.shape[-1] == 1:
        index = index[..., 0]
    n = int(index.max()) + 1 if num_classes is None else int(num_classes)
    return (index[..., None] == nb.arange(n)).astype("f8")


def normalize(x, axis=-1, order=2):
    """Rows divided by their lengths along an axis; what has the length 0 stays."""
    a = convert(x)._value()
    a = a if a.dtype.kind == "f" else a.astype("f8")
    lengths = nb.linalg.norm(a, order, axis, keepdims=True)
    return a / nb.where(lengths == 0, lengths.dtype.type(1), lengths)


def set_random_seed(seed):
    """Begins the random numbers anew; they are not TensorFlow's."""
    set_seed(seed)


def __getattr__(name):
    return _missing("keras.utils", name)
