"""keras.layers."""

from ..._missing import missing as _missing
from ._attention import AdditiveAttention, Attention, MultiHeadAttention  # noqa: F401
from ._layers import (  # noqa: F401
    Activation,
    BatchNormalization,
    Dense,
    Dropout,
    Embedding,
    Flatten,
    Input,
    InputLayer,
    Lambda,
    Layer,
    LayerNormalization,
    LeakyReLU,
    Masking,
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
from ._windows import (  # noqa: F401
    AveragePooling1D,
    AveragePooling2D,
    AveragePooling3D,
    AvgPool1D,
    AvgPool2D,
    AvgPool3D,
    Conv1D,
    Conv1DTranspose,
    Conv2D,
    Conv2DTranspose,
    Conv3D,
    Conv3DTranspose,
    Cropping1D,
    Cropping2D,
    DepthwiseConv1D,
    DepthwiseConv2D,
    GlobalAveragePooling1D,
    GlobalAveragePooling2D,
    GlobalAvgPool1D,
    GlobalAvgPool2D,
    GlobalMaxPool1D,
    GlobalMaxPool2D,
    GlobalMaxPooling1D,
    GlobalMaxPooling2D,
    MaxPool1D,
    MaxPool2D,
    MaxPool3D,
    MaxPooling1D,
    MaxPooling2D,
    MaxPooling3D,
    Permute,
    RepeatVector,
    SeparableConv1D,
    SeparableConv2D,
    UpSampling1D,
    UpSampling2D,
    ZeroPadding1D,
    ZeroPadding2D,
)

__name__ = "keras.layers"


def __getattr__(name):
    return _missing("keras.layers", name)
