"""Distributions of cupy.random that take a number of tries, on a GPU.

Each element has a stream of its own: Philox's words of its index and the number of the try.
"""

import math

import numpy as np

import numbus as nb
from numbus import vectorize
from numbus.primitives.random import pair64, philox_small

U32, U64 = np.uint32, np.uint64
LOW, HALF = U64(0xFFFFFFFF), U64(32)


def words(index, key, attempt, stream):
    """Four words of 32 bits."""
    return philox_small(
        U32(index & LOW), U32(index >> HALF), U32(attempt), U32(stream), U32(key & LOW),
        U32(key >> HALF),
    )  # fmt: skip


def joined(high, low):
    return (U64(high) << HALF) | U64(low)


def unit(high, low):
    """A number of (0, 1)."""
    return (np.float64(joined(high, low) >> U64(12)) + 0.5) * (1.0 / 4503599627370496.0)


def tried(index, key, attempt, stream):
    """What an attempt of a transformed rejection draws: a number of (-0.5, 0.5), one of (0, 1), and
    how far the first one is from its bounds.
    """
    w = words(index, key, attempt, stream)
    u = unit(w[0], w[1]) - 0.5
    return u, unit(w[2], w[3]), 0.5 - abs(u)


@vectorize
def standard_gamma(index, key, stream, shape):
    """By Marsaglia and Tsang (2000)."""
    raised = shape if shape >= 1.0 else shape + 1.0
    d = raised - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    attempt = 0
    while True:
        w = words(index, key, attempt, stream)
        z, _ = pair64(joined(w[0], w[1]), joined(w[2], w[3]))
        w = words(index, key, attempt, stream + 1)
        attempt += 1
        v = 1.0 + c * z
        if v > 0.0:
            v = v * v * v
            if math.log(unit(w[0], w[1])) < 0.5 * z * z + d - d * v + d * math.log(v):
                break
    if shape < 1.0:
        return d * v * unit(w[2], w[3]) ** (1.0 / shape)
    return d * v


@vectorize
def poisson(index, key, stream, mean):
    """By counting up, or by Hörmann's transformed rejection (PTRS, 1993)."""
    if mean < 10.0:
        w = words(index, key, 0, stream)
        u = unit(w[0], w[1])
        k = 0.0
        p = math.exp(-mean)
        total = p
        while u > total and k < 200.0:
            k += 1.0
            p *= mean / k
            total += p
        return k
    b = 0.931 + 2.53 * math.sqrt(mean)
    a = -0.059 + 0.02483 * b
    inverse = 1.1239 + 1.1328 / (b - 3.4)
    sure = 0.9277 - 3.6224 / (b - 2.0)
    attempt = 0
    while True:
        u, v, s = tried(index, key, attempt, stream)
        attempt += 1
        k = math.floor((2.0 * a / s + b) * u + mean + 0.43) * 1.0
        if s >= 0.07 and v <= sure:
            return k
        if k >= 0.0 and (s >= 0.013 or v <= s):
            density = k * math.log(mean) - mean - math.lgamma(k + 1.0)
            if math.log(v * inverse / (a / (s * s) + b)) <= density:
                return k


@vectorize
def binomial(index, key, stream, n, chance):
    """By counting up, or by Hörmann's transformed rejection (BTRS, 1993)."""
    p = min(chance, 1.0 - chance)
    q = 1.0 - p
    k = 0.0
    if n * p < 10.0:
        w = words(index, key, 0, stream)
        u = unit(w[0], w[1])
        part = math.exp(n * math.log1p(-p))
        total = part
        while u > total and k < n:
            k += 1.0
            part *= (n - k + 1.0) / k * (p / q)
            total += part
    else:
        spread = math.sqrt(n * p * q)
        b = 1.15 + 2.53 * spread
        a = -0.0873 + 0.0248 * b + 0.01 * p
        sure = 0.92 - 4.2 / b
        alpha = (2.83 + 5.1 / b) * spread
        mode = math.floor((n + 1.0) * p) * 1.0
        most = math.lgamma(mode + 1.0) + math.lgamma(n - mode + 1.0)
        attempt = 0
        while True:
            u, v, s = tried(index, key, attempt, stream)
            attempt += 1
            k = math.floor((2.0 * a / s + b) * u + n * p + 0.5) * 1.0
            if s >= 0.07 and v <= sure:
                break
            if 0.0 <= k <= n:
                density = most - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0)
                density += (k - mode) * math.log(p / q)
                if math.log(v * alpha / (a / (s * s) + b)) <= density:
                    break
    return k if chance <= 0.5 else n - k


class Stream:
    """The elements of a key."""

    def __init__(self, key, n):
        self.index, self.key, self.n = nb.arange(n, dtype=np.uint64), U64(key), 0

    def __call__(self, function, *parameters):
        """Numbers of a function; of another stream each time."""
        self.n += 2
        return function(self.index, self.key, U32(self.n), *parameters)

    def gamma(self, shape):
        return self(standard_gamma, shape)


def _beta(s, a, b):
    x, y = s.gamma(a), s.gamma(b)
    return x / (x + y)


def _f(s, above, below):
    return s.gamma(above / 2) * below / (s.gamma(below / 2) * above)


# As in _distributions: default parameters, whether they are possible, numbers of them.
REAL = {
    "standard_gamma": ((None,), lambda a: a > 0, Stream.gamma),
    "gamma": ((None, 1.0), lambda a, s: a > 0 and s >= 0, lambda s, a, b: s.gamma(a) * b),
    "chisquare": ((None,), lambda d: d > 0, lambda s, d: s.gamma(d / 2) * 2.0),
    # Gamma numbers of smaller shapes are often 0, and these their quotients.
    "beta": ((None, None), lambda a, b: a >= 0.1 and b >= 0.1, _beta),
    "f": ((None, None), lambda a, b: a >= 0.2 and b >= 0.2, _f),
}
WHOLE = {
    "poisson": ((1.0,), lambda m: 0 <= m < 1e15, lambda s, m: s(poisson, m)),
    "binomial": (
        (None, None),
        lambda n, p: 0 <= n < 1e15 and n == int(n) and 0 <= p <= 1,
        lambda s, n, p: s(binomial, n, p),
    ),
    "negative_binomial": (
        (None, None),
        lambda n, p: n > 0 and 0 < p <= 1,
        lambda s, n, p: s(poisson, s.gamma(n) * ((1 - p) / p)),
    ),
}
