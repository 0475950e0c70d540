"""Polynomials as NumPy's older functions have them: coefficients of falling powers."""

import warnings

import numpy

from ..core.dtypes import is_half, kind_of
from ..core.quick import FUSING
from . import names as np
from .axes import require_axis
from .names import compiled as _compiled
from .names import not_yet
from .registry import Any, Array, Flag, IntOnly, Operand, Whole, function

__all__ = []


@function("np.polyadd", few=FUSING)
def polyadd(a1: Array, a2: Array):
    """The sum of two polynomials, coefficients of falling powers."""
    return _combined("polyadd", np.add, np.atleast_1d(a1), np.atleast_1d(a2))


@function("np.polysub", few=FUSING)
def polysub(a1: Array, a2: Array):
    """The difference of two polynomials, coefficients of falling powers."""
    return _combined("polysub", np.subtract, np.atleast_1d(a1), np.atleast_1d(a2))


def _combined(op, f, x, y):
    """f() of both from the last coefficient on; what the shorter one lacks counts as zeros."""
    n, m = x.shape[0], y.shape[0]
    if x.ndim != 1 or y.ndim != 1:
        if n != m:
            raise ValueError(f"[{op}] more than one axis; got other lengths; expected equal ones")
        return f(x, y)
    if not _compiled and n == m:
        return f(x, y)
    both = min(n, m)
    result = np.empty(max(n, m), np.result_type(x.dtype, y.dtype))
    if n > m:
        result[: n - m] = f(x[: n - m], np.zeros(1, y.dtype))
    elif n < m:
        result[: m - n] = f(np.zeros(1, x.dtype), y[: m - n])
    result[result.shape[0] - both :] = f(x[n - both :], y[m - both :])
    return result


@function("np.polymul")
def polymul(a1: Array, a2: Array):
    """The product of two polynomials, coefficients of falling powers; leading zeros are dropped."""
    return _product(_stripped("polymul", a1), _stripped("polymul", a2))


def _stripped(op, a):
    """Coefficients without leading zeros; a single zero where there is nothing else."""
    a = np.atleast_1d(a)
    if a.ndim != 1:
        raise ValueError(f"[{op}] coefficients; got {a.ndim} axes; expected one")
    some = np.flatnonzero(a)
    if some.size == 0:
        return np.zeros(1, a.dtype)
    return a[int(some[0]) :]


def _product(a, b):
    """All products of coefficients, summed where the powers are equal: rows of the products, each
    one moved one step further, are the columns of a longer row less one element.
    """
    n, m = a.shape[0], b.shape[0]
    t = np.result_type(a.dtype, b.dtype)
    rows = np.zeros((m, n + m), t)
    rows[:, :n] = a[None, :] * b[:, None]
    skewed = np.ravel(rows)[: m * (n + m - 1)].reshape((m, n + m - 1))
    return np.any(skewed, 0) if t == np.bool_ else np.sum(skewed, 0, dtype=t)


@function("np.polydiv")
def polydiv(u: Array, v: Array):
    """Quotient and remainder of two polynomials, coefficients of falling powers."""
    u, v = np.atleast_1d(u) + 0.0, np.atleast_1d(v) + 0.0
    dtype = np.result_type(u.dtype, v.dtype)
    n = v.shape[0]
    rest = u.astype(dtype)
    steps = u.shape[0] - n + 1
    quotient = np.zeros(max(steps, 1), dtype)
    scale = 1.0 / v[0]
    for k in range(steps):
        d = scale * rest[k]
        quotient[k] = d
        rest[k : k + n] -= d * v
    # As many leading zeros as there are, but for one element.
    some = np.flatnonzero(np.logical_not(np.absolute(rest) <= 1e-8))
    first = int(some[0]) if some.size > 0 else rest.shape[0] - 1
    return quotient, rest[min(first, rest.shape[0] - 1) :]


@function("np.poly")
def poly(seq_of_zeros: Array):
    """The coefficients, falling powers, of the polynomial with these zeros, or of a square matrix's
    characteristic one; real where complex zeros come in conjugate pairs. Compiled functions take
    real ones.
    """
    given = np.atleast_1d(seq_of_zeros)
    if (
        given.ndim > 2
        or (given.ndim == 2 and given.shape[0] != given.shape[1])
        or (given.ndim == 2 and given.shape[0] == 0)
    ):
        raise ValueError("[poly] zeros; got another shape; expected one axis or a square matrix")
    if _compiled and given.dtype.kind == "c":
        not_yet("np.poly() of complex zeros, whose type hangs on values")
    found = np.linalg.eigvals(given) if given.ndim == 2 else given
    if not _compiled and found.shape[0] == 0:
        return 1.0
    short = kind_of(found.dtype) not in "fc" or is_half(found.dtype)
    zeros = found.astype(np.float64) if short else found
    a = np.zeros(zeros.shape[0] + 1, zeros.dtype)
    a[0] = 1
    for k in range(zeros.shape[0]):
        a[1 : k + 2] -= zeros[k] * a[: k + 1]
    if a.dtype.kind == "c" and bool(np.all(np.sort(zeros) == np.sort(np.conjugate(zeros)))):
        a = a.real.copy()
    return a


@function("np.roots", few=True)
def roots(p: Array):
    """The zeros of a polynomial, coefficients of falling powers: eigenvalues of its companion."""
    p = np.atleast_1d(p)
    if p.ndim != 1:
        raise ValueError(f"[roots] coefficients; got {p.ndim} axes; expected one")
    short = kind_of(p.dtype) not in "fc"
    # What has no zeros but 0: of NumPy's default type, where the type may hang on values.
    none = np.float64 if short or not _compiled else p.dtype
    some = np.flatnonzero(p)
    if some.size == 0:
        return np.zeros(0, none)
    first, last = int(some[0]), int(some[-1])
    trailing = p.shape[0] - last - 1
    c = p[first : last + 1].astype(np.float64 if short else p.dtype)
    n = c.shape[0]
    if n < 2:
        return np.zeros(trailing, none)
    companion = np.zeros((n - 1, n - 1), c.dtype)
    companion[1:] = np.eye(n - 2, n - 1, dtype=c.dtype)
    companion[0] = -c[1:] / c[0]
    found = np.linalg.eigvals(companion)
    if not _compiled and kind_of(c.dtype) == "f" and found.dtype.kind == "c":
        if not bool(np.any(found.imag != 0)):
            found = found.real.copy()  # from NumPy 2.5 on eigenvalues are complex
    return np.concatenate((found, np.zeros(trailing, found.dtype))) if trailing > 0 else found


@function("np.polyfit", few=True)
def polyfit(
    x: Array,
    y: Array,
    deg: Any,
    rcond: Any = None,
    full: Flag = False,
    w: Array = None,
    cov: Any = False,
):
    """The coefficients, falling powers, of the polynomials of degree `deg` that fit each column of
    `y` best in the least squares; weights of the points in `w`.

    full: with residuals, rank, singular values and rcond; cov: with the covariances. Warns of a
    rank less than deg + 1.
    """
    order = int(deg) + 1
    if deg < 0:
        raise ValueError(f"[polyfit] degree; got {deg}; expected 0 or more")
    if x.ndim != 1 or x.size == 0:
        raise TypeError("[polyfit] x; got another shape; expected one axis with elements")
    if y.ndim < 1 or y.ndim > 2 or y.shape[0] != x.shape[0]:
        raise TypeError("[polyfit] y; got another shape; expected as many rows as points")
    x, right = x + 0.0, y + 0.0
    if rcond is None:
        rcond = x.shape[0] * np.finfo(x.dtype).eps
    left = np.vander(x, order)
    if w is not None:
        w = w + 0.0
        if w.ndim != 1 or w.shape[0] != y.shape[0]:
            raise TypeError("[polyfit] w; got another shape; expected one for each point")
        left = left * w[:, None]
        right = right * (w[:, None] if right.ndim == 2 else w)
    scale = np.sqrt(np.sum(left * left, 0))
    left = left / scale
    c, residuals, rank, singular = np.linalg.lstsq(left, right, rcond)
    c = (c.T / scale).T
    if not _compiled and not full and rank != order:
        warnings.warn(
            "Polyfit may be poorly conditioned", numpy.exceptions.RankWarning, stacklevel=3
        )
    if full:
        return c, residuals, rank, singular, rcond
    if not isinstance(cov, str) and not cov:
        return c
    base = np.linalg.inv(np.dot(left.T, left)) / np.outer(scale, scale)
    factor = 1
    if cov != "unscaled":
        if x.shape[0] <= order:
            raise ValueError("[polyfit] points; got too few for cov; expected more than deg + 1")
        factor = residuals / (x.shape[0] - order)
    return c, base * factor if y.ndim == 1 else base[:, :, None] * factor


@function("np.polyder")
def polyder(p: Array, m: Whole = 1):
    """The m-th derivative of a polynomial, coefficients of falling powers.

    Raises ValueError for m < 0 and for coefficients of more than one axis.
    """
    if m < 0:
        raise ValueError(f"[polyder] negative order; got {m}; expected m >= 0")
    if p.ndim != 1:
        raise ValueError("[polyder] coefficients; got another number of axes; expected one")
    if m == 0:
        return p
    derivative = p.astype(np.result_type(p.dtype, np.int64))
    for _ in range(m):
        derivative = derivative[:-1] * np.arange(derivative.shape[0] - 1, 0, -1)
    return derivative


@function("np.polyval")
def polyval(p: Array, x: Operand):
    """A polynomial's value at each `x`, by Horner's rule; coefficients of falling powers."""
    require_axis("polyval", p)
    if not _compiled and p.shape[0] == 0:  # a compiled function's type does not hang on extents
        return np.zeros_like(x)
    dtype = np.result_type(p.dtype, np.asarray(x).dtype)
    y = np.zeros(x.shape, dtype) if np.ndim(x) else dtype.type(0)
    for k in range(p.shape[0]):
        y = y * x + p[k]
    return y


@function("np.polyint")
def polyint(p: Array, m: Whole = 1, k: Operand = None):
    """The m-th antiderivative of a polynomial, coefficients of falling powers.

    k: m constants in the order of integration, or one for all; zeros unless given. Raises
    ValueError for m < 0 and for too few constants.
    """
    if m < 0:
        raise ValueError(f"[polyint] negative order; got {m}; expected m >= 0")
    constants = np.zeros(m) if k is None else np.atleast_1d(np.asarray(k))
    if constants.shape[0] < m and constants.shape[0] != 1:
        raise ValueError(f"[polyint] too few constants; got fewer; expected 1 or {m}")
    if m == 0:
        return p
    require_axis("polyint", p)
    n = p.shape[0]
    dtype = np.result_type(p.dtype, np.float64, constants.dtype)
    integral, low = p.astype(dtype), np.empty(m, dtype)
    low[:] = constants[:m]
    for done in range(m):
        integral = integral / np.arange(n + done, done, -1)
    for done in range(1, m):
        low[:done] /= np.arange(done, 0, -1)
    return np.concatenate((integral, low))


@function("np.vander", few=True)
def vander(x: Array, N: IntOnly = None, increasing: Flag = False):
    """(len(x), N) matrix of powers of the 1-D `x`: columns x**(N-1), …, x, 1, or the reverse."""
    if x.ndim != 1:
        raise ValueError("[vander] wrong dimension; got several axes; expected one")
    n = x.shape[0] if N is None else N
    matrix = np.empty((x.shape[0], n), np.result_type(x.dtype, np.int64))
    columns = matrix if increasing else matrix[:, ::-1]
    columns[:, :1] = 1
    if n > 1:
        line = x.astype(matrix.dtype)[:, None]
        columns[:, 1:] = np.cumprod(np.broadcast_to(line, (x.shape[0], n - 1)), 1)
    return matrix
