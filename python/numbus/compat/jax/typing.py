"""jax.typing: names for annotations."""

import numpy as _numpy

from ._array import Array as _Array
from ._dtypes import Scalar as _Scalar

__name__ = "jax.typing"
ArrayLike = _Array | _numpy.ndarray | _numpy.bool_ | _numpy.number | bool | int | float | complex
DTypeLike = str | type | _numpy.dtype | _Scalar
