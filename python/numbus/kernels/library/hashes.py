"""hash() of numbers, which CPython defines by arithmetic modulo a prime.

Source: the Python language's documentation, "Hashing of numeric types".
"""

import math

import numpy as np

from .._library import known

# Of tuples: three primes of the xxHash algorithm, which CPython names as its source.
FIRST, SECOND, FIFTH = map(
    np.uint64, (11400714785074694791, 14029467366897019727, 2870177450012600261)
)
PRIME = (1 << 61) - 1
OF_INFINITY = 314159
OF_IMAGINARY = 1000003


@known("hash int")
def of_int(n):
    """Of an int64: the remainder of its absolute value, with its sign; -2 instead of -1."""
    if n >= 0:
        return n % PRIME
    r = (-(n + 1)) % PRIME + 1  # the absolute value of the least int64 is none
    if r == PRIME:
        return 0
    return -2 if r == 1 else -r


@known("hash unsigned")
def of_unsigned(n):
    """Of a uint64."""
    return int(n % np.uint64(PRIME))


@known("hash float")
def of_float(x):
    """Of a float64: m * 2**e modulo the prime, of which 2**61 is 1; 0 of NaN."""
    if math.isnan(x):
        return 0
    if math.isinf(x):
        return OF_INFINITY if x > 0 else -OF_INFINITY
    m, e = math.frexp(abs(x))
    n = int(m * 9007199254740992.0)  # 2**53
    k = (e - 53) % 61
    r = ((n << k) & PRIME) | (n >> (61 - k))
    if x < 0:
        return -2 if r == 1 else -r
    return r


@known("hash complex")
def of_complex(z):
    """Of a complex128: a sum modulo 2**64."""
    r = of_float(z.real) + OF_IMAGINARY * of_float(z.imag)
    return -2 if r == -1 else r


@known("hash next")
def next_of_tuple(so_far, item):
    """What a tuple's hash has come to after one more item, whose hash is given."""
    state = np.uint64(so_far) + FIFTH + np.uint64(item) * SECOND
    state = (state << np.uint64(31)) | (state >> np.uint64(33))
    return int((state * FIRST - FIFTH).view(np.int64))


@known("hash tuple")
def of_tuple(so_far, count):
    """The hash of a tuple of so many items."""
    state = np.uint64(so_far) + FIFTH + (np.uint64(count) ^ (FIFTH ^ np.uint64(3527539)))
    r = int(state.view(np.int64))
    return 1546275796 if r == -1 else r
