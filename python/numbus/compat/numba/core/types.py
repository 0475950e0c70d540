"""numba.core.types: numba.types."""

from ..types import *  # noqa: F403
from ..types import Array, Tuple, Type, UniTuple  # noqa: F401

__name__ = "numba.core.types"
