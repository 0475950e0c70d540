"""Functions of elements that are no rows of the table, windows, and what tells numbers apart."""

import numpy as np

from .._library import known


@known("np.divmod")
def divmod_arrays(a, b):
    """Quotients rounded down, and remainders."""
    return np.floor_divide(a, b), np.remainder(a, b)


@known("np.iscomplexobj")
def iscomplexobj(x):
    """Whether the type is a complex one."""
    return np.result_type(x, np.complex64) == np.result_type(x)


@known("np.isrealobj")
def isrealobj(x):
    """Whether the type is none of the complex ones."""
    return np.result_type(x, np.complex64) != np.result_type(x)


@known("np.isscalar")
def isscalar(x):
    """Whether it is a number."""
    return not isinstance(x, np.ndarray) and not isinstance(x, tuple)


@known("int bit_length")
def bit_length(n):
    """How many bits the magnitude takes."""
    x = np.uint64(-n if n < 0 else n)
    count = 0
    while x:
        count += 1
        x >>= np.uint64(1)
    return count


@known("int bit_count")
def bit_count(n):
    """How many bits of the magnitude are set."""
    x = np.uint64(-n if n < 0 else n)
    count = 0
    while x:
        count += 1
        x &= x - np.uint64(1)
    return count


# --- polynomials: coefficients of rising powers


@known("np.polynomial.polynomial.polyadd")
def polyadd(a, b):
    """Sums of coefficients."""
    out = np.zeros(max(a.shape[0], b.shape[0]), np.result_type(a, b))
    out[: a.shape[0]] = a
    out[: b.shape[0]] += b
    return trimmed(out)


@known("np.polynomial.polynomial.polysub")
def polysub(a, b):
    """Differences of coefficients."""
    return polyadd(a, -b)


@known("np.polynomial.polynomial.polymul")
def polymul(a, b):
    """The product of two polynomials."""
    return trimmed(np.convolve(a, b))


def trimmed(a):
    n = a.shape[0]
    while n > 1 and a[n - 1] == 0:
        n -= 1
    return a[:n]


@known("np.polynomial.polynomial.polyval")
def polyval(x, c):
    """Horner's rule."""
    total = x * 0 + c[-1]
    for k in range(c.shape[0] - 2, -1, -1):
        total = total * x + c[k]
    return total


@known("np.polynomial.polynomial.polydiv")
def polydiv(a, b):
    """The quotient, and the rest."""
    rest = a.astype(np.true_divide(a, b[0]).dtype)
    n = a.shape[0]
    m = b.shape[0]
    if b[m - 1] == 0:
        raise ZeroDivisionError("the leading coefficient is zero")
    if n < m:
        return rest[:1] * 0, rest
    quotient = np.zeros(n - m + 1, rest.dtype)
    for k in range(n - m, -1, -1):
        q = rest[k + m - 1] / b[m - 1]
        quotient[k] = q
        for j in range(m):
            rest[k + j] -= q * b[j]
    return quotient, trimmed(rest[: max(m - 1, 1)])


@known("np.polynomial.polynomial.polyint")
def polyint(c):
    """The antiderivative that is zero at zero."""
    out = np.zeros(c.shape[0] + 1, np.true_divide(c, 1).dtype)
    for k in range(c.shape[0]):
        out[k + 1] = c[k] / (k + 1)
    return out
