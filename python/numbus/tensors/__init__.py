"""Tensors: arrays that can require gradients, under PyTorch's names and semantics.

`numbus.nn`, `numbus.optim` and `numbus.data` work on them; scripts that import torch see them.
"""

# ruff: noqa: F401
from . import _dtypes, _errors, _nodes, _results, autograd, linalg, printing
from ._dtypes import (
    bfloat16,
    bool,
    cdouble,
    cfloat,
    complex64,
    complex128,
    double,
    dtype,
    finfo,
    float,
    float16,
    float32,
    float64,
    get_default_dtype,
    half,
    iinfo,
    int,
    int8,
    int16,
    int32,
    int64,
    long,
    promote_types,
    set_default_dtype,
    short,
    uint8,
    uint16,
    uint32,
    uint64,
)  # fmt: skip
from ._functions import in_place, pure_function, tensor_function
from ._mode import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled
from ._tensor import Tensor
from .creation import *  # noqa: F403
from .creation import Buffer, Parameter
from .distances import *  # noqa: F403
from .factors import *  # noqa: F403
from .further import *  # noqa: F403
from .indexing import *  # noqa: F403
from .pointwise import *  # noqa: F403
from .printing import set_printoptions
from .products import *  # noqa: F403
from .random import *  # noqa: F403
from .rearranging import *  # noqa: F403
from .reductions import *  # noqa: F403
from .shapes import *  # noqa: F403
from .special_functions import *  # noqa: F403
from .spectra import *  # noqa: F403
from .statistics import *  # noqa: F403
from .storage import *  # noqa: F403
