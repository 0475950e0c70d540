"""Where values lie among sorted ones: digitize and interp."""

import numpy

from ..core import routines
from ..core.operands import to_ndarray
from ..core.quick import quick
from . import names as np
from .names import compiled as _compiled
from .names import not_yet
from .registry import Any, Array, Flag, Operand, function

__all__ = []


@function("np.digitize", few=True)
def digitize(x: Operand, bins: Array, right: Flag = False):
    """The index, int64, of the bin that each value lies in: 0 before the first edge, as many as
    there are edges after the last one.

    bins: the edges, 1-d, that increase (bins[i - 1] <= x < bins[i]) or decrease; right: a bin has
    its right edge, not its left one. Raises ValueError for edges in no order, TypeError for complex
    numbers.
    """
    if np.result_type(x).kind == "c" or bins.dtype.kind == "c":
        raise TypeError("[digitize] complex numbers; got some; expected real ones")
    if bins.ndim != 1:
        raise ValueError("[digitize] edges of other than 1 axis; got others; expected 1 axis")
    side = "left" if right else "right"
    if _increase(bins if _compiled else numpy.asarray(bins)):
        return np.searchsorted(bins, x, side)
    return bins.shape[0] - np.searchsorted(bins[::-1], x, side)


def _increase(edges):
    """Whether edges increase, as the first two that differ do; ValueError where others do not.

    In array calls the edges are NumPy's: a decision waits for them.
    """
    low, high = edges[:-1], edges[1:]
    if (low <= high).all():
        return True
    differ = low != high
    first = differ.argmax()
    up = bool(low[first] < high[first])
    wrong = low > high if up else low < high
    if wrong.any():
        raise ValueError("[digitize] edges in no order; got others; expected monotonic ones")
    return up


@function("np.interp")
@quick("interp")
def interp(
    x: Operand,
    xp: Array,
    fp: Array,
    left: Operand = None,
    right: Operand = None,
    period: Any = None,
):
    """The values at `x` of the lines between the points (xp, fp): float64, or complex128 where `fp`
    is complex; NaN where `x` is.

    xp: 1-d, increasing (not checked). left, right: the values before the first and after the last
    point, by default theirs. period: of `xp`, which may have any order then; left and right are not
    looked at. Raises ValueError for no points, lengths that differ or a period of 0, TypeError for
    complex `x` or `xp`.
    """
    if np.result_type(x).kind == "c" or xp.dtype.kind == "c":
        _check_complex(x, period)
    if xp.ndim != 1 or fp.ndim != 1:
        raise ValueError("[interp] points of other than 1 axis; got others; expected 1 axis")
    if xp.shape[0] != fp.shape[0]:
        raise ValueError("[interp] lengths of xp and fp; got different ones; expected equal ones")
    if xp.shape[0] == 0:
        raise ValueError("[interp] no points; got 0; expected at least 1")
    if fp.dtype.kind != "c":
        if period is None and _is_complex(left, right):
            raise TypeError("[interp] left or right; got complex ones; expected real ones")
        return _lines(x, xp, fp, left, right, period)
    real = _lines(x, xp, fp.real, _real(left), _real(right), period)
    imag = _lines(x, xp, fp.imag, _imag(left), _imag(right), period)
    if np.ndim(real) == 0:
        return complex(real, imag) if _compiled else np.complex128(complex(real, imag))
    both = np.empty(real.shape, np.complex128)
    both.real[...] = real
    both.imag[...] = imag
    return both


def _check_complex(x, period):
    """Of a period NumPy takes the real parts of arrays, with a warning."""
    if period is None or np.ndim(x) == 0:
        raise TypeError("[interp] complex coordinates; got some; expected real ones")
    if _compiled:
        not_yet("np.interp() of complex coordinates", "x.real")


def _is_complex(left, right):
    return np.result_type(0 if left is None else left, 0 if right is None else right).kind == "c"


def _real(x):
    return None if x is None else np.real(x)


def _imag(x):
    return None if x is None else np.imag(x)


def _lines(x, xp, fp, left, right, period):
    """interp() of real points."""
    at, positions, values = _float64(x), _cast(xp), _cast(fp)
    if period is None:
        return _interpolated(at, positions, values, left, right)
    p = float(abs(period))
    if p == 0:
        raise ValueError("[interp] period; got 0; expected another number")
    inside = positions % p
    order = np.argsort(inside)
    ordered, by_position = inside[order], values[order]
    around = np.concatenate((ordered[-1:] - p, ordered, ordered[:1] + p))
    ends = np.concatenate((by_position[-1:], by_position, by_position[:1]))
    return _interpolated(at % p, around, ends, None, None)


def _float64(x):
    if _compiled and np.ndim(x) == 0:
        return float(x)
    return _cast(x if _compiled else to_ndarray(x))


def _cast(x):
    return x if x.dtype == np.float64 else x.astype(np.float64)


def _interpolated(x, xp, fp, left, right):
    n = xp.shape[0]
    if not _compiled:
        before = fp[:1] if left is None else np.full(1, left, np.float64)
        after = fp[n - 1 :] if right is None else np.full(1, right, np.float64)
        y = routines.interp(x, xp, fp, np.concatenate((before, after)))
        return y if y.ndim else y[()]
    before = fp[0] if left is None else float(left)
    after = fp[n - 1] if right is None else float(right)
    if np.ndim(x) == 0:
        return _value_by_guess(x, xp, fp, n, before, after, _guessed(x, xp, n, 0))
    out = np.empty(x.shape, np.float64)
    values, line = out.ravel(), x.ravel()
    k = 0
    for i in range(line.shape[0]):
        if line[i] == line[i]:
            k = _guessed(line[i], xp, n, k)
        values[i] = _value_by_guess(line[i], xp, fp, n, before, after, k)
    return out


def _value_by_guess(x, xp, fp, n, before, after, k):
    if x != x and n > 1:
        return x
    if k < 0:
        return before
    if k == n:
        return after
    return fp[k] if k == n - 1 else between(x, xp, fp, k)


def _guessed(x, xp, n, guess):
    """The last point not above `x`; -1 and n for what lies outside. Looks near a guess first, in
    NumPy's order of comparisons, so that points that do not ascend give what they give there."""
    if x > xp[n - 1]:
        return n
    if x < xp[0]:
        return -1
    if n <= 4:
        k = 1
        while k < n and x >= xp[k]:
            k += 1
        return k - 1
    near = max(min(guess, n - 3), 1)
    low, above = 0, n
    if x < xp[near]:
        if x >= xp[near - 1]:
            return near - 1
        above = near - 1
        if near > 8 and x >= xp[near - 8]:
            low = near - 8
    elif x < xp[near + 1]:
        return near
    elif x < xp[near + 2]:
        return near + 1
    else:
        low = near + 2
        if near < n - 9 and x < xp[near + 8]:
            above = near + 8
    while low < above:
        middle = (low + above) // 2
        if x >= xp[middle]:
            low = middle + 1
        else:
            above = middle
    return low - 1


def value_at(x, xp, fp, n, before, after):
    """One value of interp(), where many are computed at a time: each looks by itself."""
    if x > xp[n - 1]:
        return after
    if x < xp[0]:
        return before
    if n == 1:
        return fp[0]
    if x != x:
        return x
    low, above = 0, n - 1
    while above - low > 1:
        middle = (low + above) // 2
        if xp[middle] <= x:
            low = middle
        else:
            above = middle
    return fp[low + 1] if x == xp[low + 1] else between(x, xp, fp, low)


def between(x, xp, fp, low):
    """The value on the line from one point to the next."""
    x0, x1, y0, y1 = xp[low], xp[low + 1], fp[low], fp[low + 1]
    if x == x0:
        return y0
    slope = (y1 - y0) / (x1 - x0)
    y = slope * (x - x0) + y0
    if y != y:  # of infinities; seen from the other point there may be a number
        y = slope * (x - x1) + y1
        if y != y and y0 == y1:
            y = y0
    return y
