"""cupy.typing: NumPy's names for annotations."""

from typing import Any

from numpy.typing import ArrayLike, DTypeLike

import numbus

__name__ = "cupy.typing"
NDArray = numbus.ndarray[Any, Any]
__all__ = ["ArrayLike", "DTypeLike", "NDArray"]
