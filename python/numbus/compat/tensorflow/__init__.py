"""TensorFlow's names over Numbus's arrays and gradients: what `import tensorflow` gives in a script
that Numbus runs. What is not served yet raises an error that names the line.
"""

# ruff: noqa: F401 – names for users
import importlib as _importlib

from .._missing import EXPECTED as _EXPECTED
from .._missing import missing as _missing
from . import _function, _ops, _tensor
from ._function import TensorSpec, function, print
from ._further import (
    argsort,
    clip_by_global_norm,
    clip_by_norm,
    cond,
    ensure_shape,
    gather_nd,
    map_fn,
    meshgrid,
    pad,
    repeat,
    scan,
    scatter_nd,
    sequence_mask,
    tensor_scatter_nd_add,
    tensor_scatter_nd_sub,
    tensor_scatter_nd_update,
    unique,
    unique_with_counts,
    while_loop,
)
from ._ops import (
    add_n,
    argmax,
    argmin,
    boolean_mask,
    broadcast_to,
    cast,
    clip_by_value,
    concat,
    constant,
    convert_to_tensor,
    cumsum,
    einsum,
    expand_dims,
    eye,
    fill,
    gather,
    identity,
    linspace,
    matmul,
    norm,
    one_hot,
    ones,
    ones_like,
    range,
    rank,
    reshape,
    reverse,
    shape,
    size,
    sort,
    split,
    squeeze,
    stack,
    stop_gradient,
    tensordot,
    tile,
    transpose,
    unstack,
    where,
    zeros,
    zeros_like,
)
from ._tensor import (
    DType,
    GradientTape,
    Tensor,
    TensorShape,
    UnconnectedGradients,
    Variable,
    as_dtype,
    custom_gradient,
)

__name__ = "tensorflow"
__version__ = "2.21.0+numbus"
newaxis = None
_HERE = (
    "config", "data", "debugging", "distribute", "errors", "image", "keras", "linalg", "math",
    "nn", "random",
)  # fmt: skip
_TABLES = {
    **_ops.BINARY, **_ops.REDUCTIONS,
    **{k: v for k, v in _ops.UNARY.items() if k not in ("relu", "softplus", "elu", "selu")},
}  # fmt: skip


def device(name):
    """A block in which new tensors lie on a device: '/CPU:0', '/GPU:0' or longer names."""
    from ... import device as _device

    kind = str(name).upper().rpartition("DEVICE:")[2].lstrip("/").partition(":")
    if kind[0] not in ("CPU", "GPU"):
        raise ValueError(f"[tf.device] unknown device; got {name!r}; expected '/CPU:0' or '/GPU:0'")
    return _device("cpu" if kind[0] == "CPU" else f"cuda:{kind[2] or 0}")


def is_tensor(x):
    """Whether something is a tensor or a variable."""
    return isinstance(x, Tensor)


def executing_eagerly():
    """True: functions run as Python."""
    return True


def get_static_value(tensor):
    """The elements of a tensor."""
    return convert_to_tensor(tensor).numpy()


_INSTEAD = {
    "signal": "numpy.fft and scipy.signal, of arrays",
    "fft": "numpy.fft, of arrays",
    "strings": "Python's str",
    "lookup": "a dict, or keras.layers.Embedding of numbers",
    "io": "open() and numpy.load",
    "summary": "print(), or History of fit()",
    "train": "save_weights() and load_weights()",
    "saved_model": "save_weights() and load_weights()",
    "sparse": "dense tensors, or scipy.sparse",
    "SparseTensor": "dense tensors, or scipy.sparse",
    "ragged": "padded tensors with keras.layers.Masking",
    "RaggedTensor": "padded tensors with keras.layers.Masking",
    "compat": "TensorFlow 2's names",
    "py_function": "the function itself: functions run as Python",
    "numpy_function": "the function itself: functions run as Python",
    "TensorArray": "a list, and tf.stack",
}


def __getattr__(name):
    if name in _tensor.DTYPES:
        return _tensor.DTYPES[name]
    short = {"double": "float64", "half": "float16"}.get(name)
    if short:
        return _tensor.DTYPES[short]
    if name in _TABLES:
        return _TABLES[name]
    if name in _HERE:
        return _importlib.import_module(f"{__package__}.{name}")
    return _missing("tensorflow", name, _INSTEAD.get(name, _EXPECTED))
