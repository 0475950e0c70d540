"""torch.types: names for annotations."""

import builtins as _builtins
from collections.abc import Sequence as _Sequence
from typing import Any as _Any

from ... import tensors as _tensors

Device = _tensors.device | str | int | None
Number = _builtins.int | _builtins.float | _builtins.bool
FileLike = _Any
_int, _float, _bool, _complex = int, float, bool, complex
_dtype, _device, _size = _tensors.dtype, _tensors.device, _tensors.Size | _Sequence[int]
_TensorOrTensors = _tensors.Tensor | _Sequence[_tensors.Tensor]
