"""PyTorch's names over numbus.tensors, numbus.nn, numbus.optim and numbus.data: what
`import torch` gives in a script that Numbus runs. What is not served yet raises an error that names
the line.
"""

# ruff: noqa: F401 – names for users
import importlib as _importlib
import math as _math

from ... import tensors as _tensors
from ...tensors import *  # noqa: F403
from ...tensors import _dtypes, autograd, linalg
from .._missing import missing as _missing
from ..packages import stand_in as _stand_in
from . import _further, _more
from ._more import (
    are_deterministic_algorithms_enabled,
    channels_last,
    channels_last_3d,
    contiguous_format,
    get_float32_matmul_precision,
    get_num_threads,
    is_conj,
    layout,
    memory_format,
    preserve_format,
    resolve_conj,
    set_default_tensor_type,
    set_float32_matmul_precision,
    set_flush_denormal,
    set_num_threads,
    strided,
    typename,
    use_deterministic_algorithms,
    vmap,
)
from ._types import (
    BFloat16Tensor,
    BoolTensor,
    ByteTensor,
    CharTensor,
    DoubleTensor,
    FloatTensor,
    HalfTensor,
    IntTensor,
    LongTensor,
    ShortTensor,
)

__name__ = "torch"
__version__ = "2.11.0+numbus"
inf, nan, pi, e = _math.inf, _math.nan, _math.pi, _math.e
newaxis = None
_dtypes.dtype.home = "torch"
_tensors.Tensor.__module__ = "torch"
_tensors.device.__module__ = _tensors.dtype.__module__ = _tensors.Size.__module__ = "torch"
_tensors.Tensor.layout = property(lambda self: strided)
_tensors.Parameter.__module__ = "torch.nn.parameter"

_ELSEWHERE = {"nn": "numbus.nn", "optim": "numbus.optim"}
_HERE = (
    "accelerator", "amp", "backends", "cuda", "distributed", "distributions", "fft", "func", "fx",
    "hub", "jit", "multiprocessing", "profiler", "random", "special", "testing", "types", "utils",
    "version",
)  # fmt: skip
for _name in _HERE:  # what numbus.tensors has imported under such a name
    globals().pop(_name, None)


def __getattr__(name):
    if name in _ELSEWHERE:
        return _importlib.import_module(_ELSEWHERE[name])
    if name in _HERE:
        return _importlib.import_module(f"{__package__}.{name}")
    if name == "_dynamo":
        return _importlib.import_module(f"{__package__}._dynamo")
    if name == "OutOfMemoryError":
        return MemoryError
    if name in ("save", "load"):
        return getattr(_importlib.import_module("numbus.nn.serialization"), name)
    if name in ("compile", "compiler"):
        return getattr(_importlib.import_module("numbus.nn.optimized"), name)
    if name == "torch":
        return _importlib.import_module(__package__)
    if name == "GradScaler":
        return getattr(_importlib.import_module(f"{__package__}.amp"), name)
    if name in ("Event", "Stream"):
        return getattr(_importlib.import_module(f"{__package__}.cuda"), name)
    if name in ("autocast", "get_autocast_dtype", "is_autocast_enabled"):
        return getattr(_importlib.import_module(f"{__package__}.amp"), name)
    if name in _more.IN_PLACE:
        return _more.in_place(name)
    if name in _further.NAMES:
        return getattr(_further, name)
    if name in _more.ARRANGED:
        return getattr(_importlib.import_module(f"{__package__}._nets"), name)
    if name in _more.OF_NETS:
        return getattr(_importlib.import_module("numbus.nn.functional"), name)
    return _missing("torch", name)


_stand_in("torch")
