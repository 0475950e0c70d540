"""Numbers evenly spaced on a logarithmic scale: logspace and geomspace."""

from . import names as np
from .axes import leading
from .names import compiled as _compiled
from .registry import Any, DTypeArg, Flag, Operand, function

__all__ = []

_REAL = (float, int)


@function("np.logspace")
def logspace(
    start: Operand,
    stop: Operand,
    num: Any = 50,
    endpoint: Flag = True,
    base: Operand = 10.0,
    dtype: DTypeArg = None,
    axis: Any = 0,
):
    """`base` to the power of `linspace(start, stop, num)`: evenly spaced on a log scale.

    Arrays of limits or of bases, which broadcast, give a new axis of samples at `axis`.
    """
    if not isinstance(base, (float, int)) and np.ndim(base):
        first, last, bases = np.asarray(start), np.asarray(stop), np.asarray(base)
        ndim = max(first.ndim, last.ndim, bases.ndim)
        first, last, bases = _spread(first, ndim), _spread(last, ndim), _spread(bases, ndim)
        powers = np.linspace(first, last, num, endpoint, axis=axis)
        powers = np.power(np.expand_dims(bases, axis), powers)
        return powers if dtype is None else powers.astype(dtype)
    powers = np.power(base, np.linspace(start, stop, num, endpoint, axis=axis))
    return powers if dtype is None else powers.astype(dtype)


def _spread(x, ndim):
    """An array with axes of extent 1 before its own."""
    return x.reshape(leading(x.shape, ndim))


@function("np.geomspace")
def geomspace(
    start: Operand,
    stop: Operand,
    num: Any = 50,
    endpoint: Flag = True,
    dtype: DTypeArg = None,
    axis: Any = 0,
):
    """`num` values in geometric progression from `start` to `stop`, both met exactly.

    Complex limits give a spiral, arrays of limits a new axis of samples at `axis`. ValueError for
    limits of zero.
    """
    first, last = _limits(start, stop, dtype)
    if _has_zero(first) or _has_zero(last):
        raise ValueError("[geomspace] a limit; got 0; expected other numbers")
    # Turned so that it begins with a positive number.
    sign = np.sign(first)
    first, last = first / sign, last / sign
    result = np.power(10.0, np.linspace(np.log10(first), np.log10(last), num, endpoint))
    if num > 0:
        result[0] = first
    if endpoint and num > 1:
        result[-1] = last
    result = result * sign
    if axis != 0:
        result = np.moveaxis(result, 0, axis)
    return result if dtype is None else result.astype(dtype)


def _has_zero(x):
    return x == 0.0 if isinstance(x, float) else bool(np.any(x == 0))


def _of_floats(start, stop, kind):
    return np.asarray(start).astype(kind), np.asarray(stop).astype(kind)


def _limits(start, stop, dtype):
    """Both limits in the type that their progression has."""
    if _compiled and isinstance(start, _REAL) and isinstance(stop, _REAL):
        return float(start), float(stop)
    if _compiled:
        least = np.float64 if dtype is None else dtype
        return _of_floats(start, stop, np.result_type(start, stop, 1.0, least))
    if dtype is None and type(start) in _REAL and type(stop) in _REAL:
        return float(start), float(stop)
    least = np.float64 if dtype is None else dtype
    kinds = [getattr(x, "dtype", x) for x in (start, stop)]
    t = np.result_type(*kinds, 1.0, least)
    return np.asarray(start).astype(t), np.asarray(stop).astype(t)
