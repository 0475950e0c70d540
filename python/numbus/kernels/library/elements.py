"""Functions of elements that are no rows of the table, windows, and what tells numbers apart."""

import numpy as np

from .._library import known, not_yet


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


# --- polynomials: coefficients of rising powers, of floats as numpy.polynomial converts them


def series(a):
    """Coefficients as floats, without zeros at the end."""
    if a.ndim != 1:
        raise ValueError("Coefficient array is not 1-d")
    if a.size == 0:
        raise ValueError("Coefficient array is empty")
    if a.dtype.kind == "b":
        raise ValueError("Coefficient arrays have no common type")
    return trimmed(a.astype(np.float64) if a.dtype.kind in "iu" else a)


def trimmed(a):
    n = a.shape[0]
    while n > 1 and a[n - 1] == 0:
        n -= 1
    return a[:n]


@known("np.polynomial.polynomial.polyadd")
def polyadd(a, b):
    """Sums of coefficients."""
    first, second = series(a), series(b)
    n = max(first.shape[0], second.shape[0])
    out = np.zeros(n, np.result_type(first, second))
    out[: first.shape[0]] = first
    out[: second.shape[0]] += second
    return trimmed(out)


@known("np.polynomial.polynomial.polysub")
def polysub(a, b):
    """Differences of coefficients."""
    return polyadd(a, -series(b))


@known("np.polynomial.polynomial.polymul")
def polymul(a, b):
    """The product of two polynomials."""
    first, second = series(a), series(b)
    t = np.result_type(first, second)
    return trimmed(np.convolve(first.astype(t), second.astype(t)))


@known("np.polynomial.polynomial.polyval")
def polyval(x, c):
    """Horner's rule."""
    if c.ndim != 1:
        not_yet("np.polynomial.polynomial.polyval of several polynomials")
    coefficients = c.astype(np.float64) if c.dtype.kind in "iub" else c
    total = x * 0 + coefficients[-1]
    for k in range(c.shape[0] - 2, -1, -1):
        total = coefficients[k] + total * x
    return total


@known("np.polynomial.polynomial.polydiv")
def polydiv(a, b):
    """The quotient, and the rest."""
    first, divisor = series(a), series(b)
    n = first.shape[0]
    m = divisor.shape[0]
    if divisor[m - 1] == 0:
        raise ZeroDivisionError("the leading coefficient is zero")
    rest = first.astype(np.result_type(first, divisor))
    if n < m:
        return rest[:1] * 0, rest
    quotient = np.zeros(n - m + 1, rest.dtype)
    for k in range(n - m, -1, -1):
        q = rest[k + m - 1] / divisor[m - 1]
        quotient[k] = q
        for j in range(m):
            rest[k + j] -= q * divisor[j]
    return quotient, trimmed(rest[: max(m - 1, 1)])


@known("np.polynomial.polynomial.polyint")
def polyint(c):
    """The antiderivative that is zero at zero."""
    if c.ndim != 1:
        not_yet("np.polynomial.polynomial.polyint of several polynomials")
    if c.size == 0:
        raise IndexError("index 0 is out of bounds for axis 0 with size 0")
    given = c.astype(np.float64) if c.dtype.kind in "iub" else c
    if c.shape[0] == 1 and c[0] == 0:
        return np.zeros(1, given.dtype)
    out = np.zeros(c.shape[0] + 1, given.dtype)
    for k in range(c.shape[0]):
        out[k + 1] = given[k] / (k + 1)
    out[0] -= polyval(out.dtype.type(0), out)
    return out


@known("power of ten")
def power_of_ten(digits):
    """10 to the size of a number of digits, for round()."""
    scale = 1.0
    for _ in range(min(abs(digits), 400)):
        scale *= 10.0
    return scale
