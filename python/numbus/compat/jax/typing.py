"""jax.typing: names for annotations."""

import typing as _typing

import numpy as _numpy

from ._array import Array as _Array
from ._dtypes import Scalar as _Scalar

__name__ = "jax.typing"
ArrayLike = _typing.Union[
    _Array, _numpy.ndarray, _numpy.bool_, _numpy.number, bool, int, float, complex
]
DTypeLike = _typing.Union[str, type, _numpy.dtype, _Scalar]
