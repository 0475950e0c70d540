"""keras.layers."""

from ..._missing import missing as _missing
from ._layers import (  # noqa: F401
    Activation,
    AveragePooling2D,
    AvgPool2D,
    BatchNormalization,
    Conv2D,
    Dense,
    Dropout,
    Embedding,
    Flatten,
    GlobalAveragePooling1D,
    GlobalAveragePooling2D,
    Input,
    InputLayer,
    Lambda,
    Layer,
    LayerNormalization,
    LeakyReLU,
    Masking,
    MaxPool2D,
    MaxPooling2D,
    ReLU,
    Rescaling,
    Reshape,
    Softmax,
)
from ._merging import (  # noqa: F401
    Add,
    Average,
    Concatenate,
    Dot,
    Maximum,
    Minimum,
    Multiply,
    Subtract,
    add,
    average,
    concatenate,
    dot,
    maximum,
    minimum,
    multiply,
    subtract,
)
from ._recurrent import GRU, LSTM, Bidirectional, SimpleRNN, TimeDistributed  # noqa: F401

__name__ = "keras.layers"


def __getattr__(name):
    return _missing("keras.layers", name)
