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

# Those of torch.nn.common_types: a number, or one for each dimension.
_scalar_or_tuple_any_t = _Any
for _which in ("any", 1, 2, 3, 4, 5, 6):
    globals()[f"_size_{_which}_t"] = _builtins.int | tuple[_builtins.int, ...]
    globals()[f"_ratio_{_which}_t"] = _builtins.float | tuple[_builtins.float, ...]
_maybe_indices_t = _tensors.Tensor | tuple[_tensors.Tensor, _tensors.Tensor]
