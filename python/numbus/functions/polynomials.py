"""Polynomials as NumPy's older functions have them: coefficients of falling powers."""

from . import names as np
from .names import compiled as _compiled
from .registry import Array, Flag, Int, Operand, function

__all__ = []


@function("np.polyadd")
def polyadd(a1: Array, a2: Array):
    """The sum of two polynomials, coefficients of falling powers."""
    return _combined("polyadd", np.add, np.atleast_1d(a1), np.atleast_1d(a2))


@function("np.polysub")
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


@function("np.polyder")
def polyder(p: Array, m: Int = 1):
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
    if p.shape[0] == 0:
        if _compiled:
            raise NotImplementedError("[polyval] no coefficients; got 0; expected at least 1")
        return np.zeros_like(x)
    dtype = np.result_type(p.dtype, np.asarray(x).dtype)
    y = np.zeros(x.shape, dtype) if np.ndim(x) else dtype.type(0)
    for k in range(p.shape[0]):
        y = y * x + p[k]
    return y


@function("np.polyint")
def polyint(p: Array, m: Int = 1, k: Operand = None):
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
    n = p.shape[0]
    dtype = np.result_type(p.dtype, np.float64, constants.dtype)
    integral, low = p.astype(dtype), np.empty(m, dtype)
    low[:] = constants[:m]
    for done in range(m):
        integral = integral / np.arange(n + done, done, -1)
    for done in range(1, m):
        low[:done] /= np.arange(done, 0, -1)
    return np.concatenate((integral, low))


@function("np.vander")
def vander(x: Array, N: Int = None, increasing: Flag = False):
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
