"""Composed numerics: differences, gradients, products of vectors, comparisons of arrays."""

import warnings

import numpy

from ..core.dtypes import kind_of
from ..core.quick import FUSING
from . import names as np
from .joining import _along
from .names import compiled as _compiled
from .registry import Any, Array, Axis, AxisOnly, Flag, Int, Operand, function

__all__ = [
    "diff",
    "ediff1d",
    "trapezoid",
]


@function("np.diff")
def diff(a: Array, n: Int = 1, axis: Axis = -1, prepend: Operand = None, append: Operand = None):
    """The n-th differences along `axis`; bool arrays differ by not_equal. prepend, append: values
    added first.
    """
    if n < 0:
        raise ValueError(f"[diff] order; got {n}; expected n >= 0")
    if prepend is not None and n > 0:
        a = np.concatenate((_one_more(a, axis, prepend), a), axis)
    if append is not None and n > 0:
        a = np.concatenate((a, _one_more(a, axis, append)), axis)
    late = _along(axis, a.ndim, slice(1, None))
    early = _along(axis, a.ndim, slice(None, -1))
    for _ in range(n):
        a = a[late] != a[early] if a.dtype == np.bool_ else a[late] - a[early]
    return a


@function("np.unwrap")
def unwrap(p: Array, discont: Any = None, axis: AxisOnly = -1, *, period: Any = 2 * np.pi):
    """`p` with steps along `axis` of more than half a period replaced by their complements.

    discont: the least step that is replaced, at least half of `period`.
    """
    step = np.diff(p, axis=axis)
    t = np.result_type(step, period)
    whole = t.kind in "iu"
    if _compiled and t.kind == "u":  # as arrays say where they meet the number
        raise OverflowError("[unwrap] half a period below 0; got it; expected signed elements")
    half = period // 2 if whole else period / 2
    low = -half
    rest = (step - low) % period + low
    if not whole or period % 2 == 0:
        rest = np.where(np.logical_and(rest == low, step > 0), half, rest)
    least = half if discont is None else discont
    change = np.where(np.absolute(step) < least, 0, rest - step)
    result = p.astype(t)
    late = _along(axis, p.ndim, slice(1, None))
    result[late] += np.cumsum(change, axis)
    return result


def _one_more(a, axis, values):
    """Values that stand before or after those of `a`; a number is repeated."""
    values = np.asarray(values)
    if values.ndim == 0:
        return np.broadcast_to(values, a.shape[:axis] + (1,) + a.shape[axis + 1 :])
    return values


@function("np.ediff1d", few=FUSING)
def ediff1d(ary: Array, to_end: Operand = None, to_begin: Operand = None):
    """The differences of the flattened array, with values put before and after them.

    Raises TypeError where these cannot be cast to its dtype under the rule 'same_kind'.
    """
    a = np.ravel(ary)
    step = a[1:] - a[:-1]
    if to_begin is not None:
        step = np.concatenate((_cast_line(to_begin, a, "to_begin"), step))
    if to_end is not None:
        step = np.concatenate((step, _cast_line(to_end, a, "to_end")))
    return step


def _cast_line(values, a, name):
    """Values as a line of the dtype of `a`."""
    line = np.ravel(np.asarray(values))
    if not np.can_cast(line.dtype, a.dtype, "same_kind"):
        raise TypeError(f"[ediff1d] dtype of {name}; got another kind; expected that of the array")
    return line.astype(a.dtype)


# Whether NumPy, whose rules are followed, takes vectors of 2 components.
_PLANES = tuple(map(int, numpy.__version__.split(".")[:2])) < (2, 5)


@function("np.cross")
def cross(a: Array, b: Array, axisa: Int = -1, axisb: Int = -1, axisc: Int = -1, axis: Int = None):
    """Cross product of vectors of 3 components along the given axes; before NumPy 2.5, 2 components
    are those of a plane, from then on a ValueError. Compiled functions refuse two vectors of the
    plane, whose products are numbers.
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1)
    n, m = x.shape[-1], y.shape[-1]
    if (n != 2 and n != 3) or (m != 2 and m != 3):
        raise ValueError(f"[cross] components; got {n} and {m}; expected 2 or 3")
    if not _PLANES and (n == 2 or m == 2):
        raise ValueError(f"[cross] components; got {n} and {m}; expected 3")
    last = x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0]
    if n == 2 and m == 2:
        if not _compiled:
            warnings.warn("cross() of 2 components is deprecated", DeprecationWarning, stacklevel=2)
            return last
        raise NotImplementedError(
            "not yet in compiled functions: np.cross() of two vectors of the plane, which is a "
            "number; instead: a[0] * b[1] - a[1] * b[0]"
        )
    result = np.empty(np.shape(last) + (3,), np.result_type(x.dtype, y.dtype))
    result[..., 2] = last
    if n == 2:
        result[..., 0] = x[..., 1] * y[..., 2]
        result[..., 1] = -(x[..., 0] * y[..., 2])
    elif m == 2:
        result[..., 0] = -(x[..., 2] * y[..., 1])
        result[..., 1] = x[..., 2] * y[..., 0]
    else:
        result[..., 0] = x[..., 1] * y[..., 2] - x[..., 2] * y[..., 1]
        result[..., 1] = x[..., 2] * y[..., 0] - x[..., 0] * y[..., 2]
    return np.moveaxis(result, -1, axisc)


@function("np.isclose")
def isclose(
    a: Operand, b: Operand, rtol: Operand = 1e-5, atol: Operand = 1e-8, equal_nan: Flag = False
):
    """Element-wise `|a - b| <= atol + rtol*|b|`; equal infinities are close, NaNs only with
    equal_nan.
    """
    y = b if kind_of(np.result_type(b)) in "fc" else b * 1.0
    near = np.less_equal(np.absolute(a - y), atol + rtol * np.absolute(y))
    close = np.logical_or(np.logical_and(near, np.isfinite(y)), np.equal(a, y))
    if equal_nan:
        close = np.logical_or(close, np.logical_and(np.isnan(a), np.isnan(y)))
    return close


@function("np.allclose")
def allclose(
    a: Operand, b: Operand, rtol: Operand = 1e-5, atol: Operand = 1e-8, equal_nan: Flag = False
):
    """Whether all elements are close (see isclose): a Python bool."""
    return bool(np.all(np.isclose(a, b, rtol, atol, equal_nan)))


@function("np.array_equal")
def array_equal(a1: Array, a2: Array, equal_nan: Flag = False):
    """Whether two arrays have the same shape and elements: a Python bool. equal_nan: NaNs equal
    each other.
    """
    if a1.shape != a2.shape:
        return False
    same = a1 == a2
    if equal_nan:
        same = np.logical_or(same, np.logical_and(np.isnan(a1), np.isnan(a2)))
    return bool(np.all(same))


@function("np.array_equiv")
def array_equiv(a1: Array, a2: Array):
    """Whether two arrays are equal after broadcasting: a Python bool."""
    if not _broadcast(a1.shape[::-1], a2.shape[::-1]):
        return False
    return bool(np.all(a1 == a2))


def _broadcast(x, y):
    """Whether two shapes, given from the last axis on, broadcast."""
    if len(x) == 0 or len(y) == 0:
        return True
    return (x[0] == y[0] or x[0] == 1 or y[0] == 1) and _broadcast(x[1:], y[1:])


@function("np.trapezoid", "np.trapz")
def trapezoid(y: Array, x: Operand = None, dx: Operand = 1.0, axis: AxisOnly = -1):
    """Integral along `axis` by the trapezoidal rule, over sample points `x` or steps `dx`."""
    d = dx
    if x is not None:
        d = np.diff(x) if np.ndim(x) == 1 else np.diff(x, axis=axis)
        if np.ndim(x) == 1 and y.ndim > 1:
            d = d.reshape((1,) * axis + (d.shape[0],) + (1,) * (y.ndim - 1 - axis))
    late = _along(axis, y.ndim, slice(1, None))
    early = _along(axis, y.ndim, slice(None, -1))
    return np.sum(d * (y[late] + y[early]) / 2.0, axis)
