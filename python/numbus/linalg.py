"""numbus.linalg: norms composed of rows, products from the main namespace; the rest falls back to
NumPy.
"""

import numpy
from numpy.linalg import LinAlgError  # noqa: F401

from ._convert import to_ndarray
from ._elementwise import astype as _astype
from ._errors import many_axes, message
from ._fallback import call, foreign, resolve
from ._linear import matmul, outer, tensordot, vecdot  # noqa: F401  (public here)
from ._manipulation import diagonal as _diagonal
from ._manipulation import matrix_transpose  # noqa: F401
from ._numeric import cross as _cross
from ._reductions import max as _max
from ._reductions import min as _min
from ._reductions import reduce as _reduce
from ._reductions import sum as _sum
from ._ufuncs import UFUNCS

__all__ = sorted(name for name in numpy.linalg.__all__)


def __getattr__(name):
    if name.startswith("__") or not hasattr(numpy.linalg, name):
        raise AttributeError(f"module 'numbus.linalg' has no attribute {name!r}")
    value = resolve(getattr(numpy.linalg, name), f"numpy.linalg.{name}")
    globals()[name] = value
    return value


def _squares(x):
    """|x|² element-wise, without a square root."""
    if x.dtype.kind == "c":
        re, im = x.real, x.imag
        return re * re + im * im
    return x * x


def _floating(x):
    return x if x.dtype.kind in "fc" else _astype(x, float)


def norm(x, ord=None, axis=None, keepdims=False):
    """Norm of a vector or matrix, or of those along one or two axes.

    ord None: root of the sum of squares over everything. Vectors: any number, ±inf. Matrices:
    'fro', ±1, ±inf here; ±2 and 'nuc' need singular values and are left to NumPy.
    """
    x = _floating(to_ndarray(x))
    if axis is None and (
        ord is None or (ord == "fro" and x.ndim == 2) or (ord == 2 and x.ndim == 1)
    ):
        return UFUNCS["sqrt"](_reduce("sum", _squares(x), None, None, None, keepdims))
    axes = many_axes("norm", axis, x.ndim)
    if len(axes) == 1:
        return _vector_norm(x, ord, axes, keepdims)
    if len(axes) != 2:
        raise ValueError(message("norm", "axes of a norm", axis, "one axis or two"))
    return _matrix_norm(x, ord, axes, keepdims)


def _vector_norm(x, ord, axes, keepdims):
    if isinstance(ord, str):
        raise ValueError(message("norm", "order for vectors", repr(ord), "a number"))
    if ord is None or ord == 2:
        return UFUNCS["sqrt"](_reduce("sum", _squares(x), axes, None, None, keepdims))
    size = UFUNCS["absolute"](x)
    if ord == numpy.inf:
        return _max(size, axes, None, keepdims)
    if ord == -numpy.inf:
        return _min(size, axes, None, keepdims)
    if ord == 0:
        return _reduce("sum", _astype(x != 0, size.dtype), axes, None, None, keepdims)
    if ord == 1:
        return _reduce("sum", size, axes, None, None, keepdims)
    total = _reduce("sum", UFUNCS["power"](size, ord), axes, None, None, keepdims)
    return UFUNCS["power"](total, 1.0 / ord)


def _matrix_norm(x, ord, axes, keepdims):
    row, column = axes
    if ord in (None, "fro", "f"):
        return UFUNCS["sqrt"](_reduce("sum", _squares(x), axes, None, None, keepdims))
    if ord in (2, -2, "nuc"):
        return call("numpy.linalg.norm", numpy.linalg.norm, (x, ord, axes, keepdims), {})
    if ord not in (1, -1, numpy.inf, -numpy.inf):
        raise ValueError(
            message("norm", "order for matrices", repr(ord), "'fro', 'nuc', ±1, ±2, ±inf")
        )
    along, over = (row, column) if abs(ord) == 1 else (column, row)
    sums = _reduce("sum", UFUNCS["absolute"](x), (along,), None, None, True)
    pick = _max if ord > 0 else _min
    result = pick(sums, over, None, True)
    if keepdims:
        return result
    shape = tuple([n for i, n in enumerate(result.shape) if i not in axes])
    result = result.reshape(shape)
    return result if shape else result[()]


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """Norm of vectors along `axis` (int, tuple, None for all elements)."""
    x = _floating(to_ndarray(x))
    return _vector_norm(x, ord, many_axes("vector_norm", axis, x.ndim), keepdims)


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """Norm of the matrices in the last two axes."""
    return norm(x, ord, (-2, -1), keepdims)


def diagonal(x, /, *, offset=0):
    """Diagonals of the matrices in the last two axes."""
    return _diagonal(x, offset, -2, -1)


def trace(x, /, *, offset=0, dtype=None):
    """Sums along the diagonals of the matrices in the last two axes."""
    return _sum(_diagonal(x, offset, -2, -1), axis=-1, dtype=dtype)


def cross(x1, x2, /, *, axis=-1):
    """Cross product of vectors of 3 components along `axis`."""
    x1, x2 = to_ndarray(x1), to_ndarray(x2)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(message("cross", "components", (x1.shape, x2.shape), "3 along the axis"))
    return _cross(x1, x2, axis=axis)


norm = foreign(norm, numpy.linalg.norm)
