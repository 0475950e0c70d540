"""Polynomials as NumPy's older functions have them: coefficients of falling powers."""

from . import names as np
from .registry import Array, Int, Operand, function

__all__ = []


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
