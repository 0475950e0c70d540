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
def standard_t(index, key, stream, half):
    """A normal number over the root of the gamma number of half the degrees of freedom."""
    w = words(index, key, 0, stream)
    z, _ = pair64(joined(w[0], w[1]), joined(w[2], w[3]))
    return z * math.sqrt(half)


@vectorize
def geometric(index, key, stream, p):
    """The exponential number above which a number of tries is."""
    w = words(index, key, 0, stream)
    if p == 1.0:
        return 1.0
    return max(math.ceil(math.log(unit(w[0], w[1])) / math.log1p(-p)) * 1.0, 1.0)


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


@vectorize
def vonmises(index, key, stream, mean, kappa):
    """By Best and Fisher (1979); uniform for very small concentrations."""
    angle, sign = 0.0, 0.0
    if kappa < 1e-8:
        w = words(index, key, 0, stream)
        angle = math.pi * unit(w[0], w[1])
        sign = unit(w[2], w[3])
    else:
        s = 1.0 / kappa + kappa
        if kappa >= 1e-5:
            tau = 1.0 + math.sqrt(1.0 + 4.0 * kappa * kappa)
            rho = (tau - math.sqrt(2.0 * tau)) / (2.0 * kappa)
            s = (1.0 + rho * rho) / (2.0 * rho)
        attempt = 0
        while True:
            w = words(index, key, attempt, stream)
            z = math.cos(math.pi * unit(w[0], w[1]))
            v = unit(w[2], w[3])
            w = words(index, key, attempt, stream + 1)
            sign = unit(w[0], w[1])
            attempt += 1
            f = (1.0 + s * z) / (s + z)
            c = kappa * (s - f)
            if c * (2.0 - c) > v or math.log(c / v) + 1.0 >= c:
                angle = math.acos(min(max(f, -1.0), 1.0))
                break
    angle = mean + (angle if sign < 0.5 else -angle)
    return angle - 2.0 * math.pi * math.floor((angle + math.pi) / (2.0 * math.pi))


@vectorize
def wald(index, key, stream, mean, scale):
    """By the roots of Michael, Schucany and Haas (1976); the smaller one without cancellation."""
    w = words(index, key, 0, stream)
    z, _ = pair64(joined(w[0], w[1]), joined(w[2], w[3]))
    w = words(index, key, 0, stream + 1)
    d = mean * z * z / (2.0 * scale)
    x = mean / (1.0 + d + math.sqrt(d * (2.0 + d)))
    return x if unit(w[0], w[1]) * (mean + x) <= mean else mean * mean / x


@vectorize
def zipf(index, key, stream, a):
    """By Devroye's rejection (1986) of those that 63 bits hold."""
    b = 2.0 ** (a - 1.0)
    attempt = 0
    while True:
        w = words(index, key, attempt, stream)
        attempt += 1
        x = math.floor(unit(w[0], w[1]) ** (-1.0 / (a - 1.0))) * 1.0
        if 1.0 <= x < 9.2e18:
            t = (1.0 + 1.0 / x) ** (a - 1.0)
            if unit(w[2], w[3]) * x * (t - 1.0) * b <= t * (b - 1.0):
                return x


@vectorize
def logseries(index, key, stream, p):
    """By Kemp's transformation of two uniform numbers (1981, LK)."""
    w = words(index, key, 0, stream)
    v = unit(w[2], w[3])
    q = -math.expm1(math.log1p(-p) * unit(w[0], w[1]))
    if v >= p or v >= q:
        return 1.0
    if v > q * q:
        return 2.0 if v < q else 1.0
    return math.floor(1.0 + math.log(v) / math.log(q)) * 1.0


@vectorize
def hypergeometric(index, key, stream, good, bad, sample):
    """One by one where few are drawn, else by Stadlober's ratio of uniforms (1989, HRUA)."""
    whole = good + bad
    drawn = min(sample, whole - sample)
    few = min(good, bad)
    k = 0.0
    if drawn < 10.0:
        rest, left, n = few, whole, 0
        while left > whole - drawn:
            w = words(index, key, n, stream)
            n += 1
            if unit(w[0], w[1]) * left < rest:
                rest -= 1.0
                k += 1.0
            left -= 1.0
    else:
        p = few / whole
        spread = math.sqrt((whole - drawn) * drawn * p * (1.0 - p) / (whole - 1.0) + 0.5)
        centre = drawn * p + 0.5
        width = math.sqrt(8.0 / math.e) * spread + 3.0 - 2.0 * math.sqrt(3.0 / math.e)
        mode = math.floor((drawn + 1.0) * (few + 1.0) / (whole + 2.0)) * 1.0
        most = math.lgamma(mode + 1.0) + math.lgamma(few - mode + 1.0)
        most += math.lgamma(drawn - mode + 1.0) + math.lgamma(whole - few - drawn + mode + 1.0)
        attempt = 0
        while True:
            w = words(index, key, attempt, stream)
            attempt += 1
            u = unit(w[0], w[1])
            x = centre + width * (unit(w[2], w[3]) - 0.5) / u
            if 0.0 <= x < min(drawn, few) + 1.0:
                k = math.floor(x) * 1.0
                density = most - math.lgamma(k + 1.0) - math.lgamma(few - k + 1.0)
                density -= math.lgamma(drawn - k + 1.0)
                density -= math.lgamma(whole - few - drawn + k + 1.0)
                if 2.0 * math.log(u) <= density:
                    break
    k = k if good <= bad else drawn - k
    return k if drawn == sample else good - k


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


def _noncentral(s, freedom, shift):
    """Half a noncentral χ² number: of degrees of freedom that a Poisson number raises."""
    return s.gamma(freedom / 2 + s(poisson, shift / 2))


def _whole(x, most):
    return (x >= 0) & (x < most) & (x % 1 == 0)


def dirichlet(s, shapes):
    """Rows of gamma numbers over their sums."""
    columns = nb.stack([s.gamma(a) for a in shapes], axis=-1)
    return columns / columns.sum(axis=-1, keepdims=True)


def multinomial(s, n, chances):
    """Rows of binomial numbers, each of what those before it have left."""
    left, share, columns = nb.full(s.index.shape, float(n)), 1.0, []
    for p in chances[:-1]:
        columns.append(s(binomial, left, min(1.0, p / share) if share > 0 else 0.0))
        left = left - columns[-1]
        share -= p
    return nb.stack([*columns, left], axis=-1)


# As in _distributions: default parameters, whether they are possible, numbers of them.
REAL = {
    "standard_gamma": ((None,), lambda a: a > 0, Stream.gamma),
    "gamma": ((None, 1.0), lambda a, s: (a > 0) & (s >= 0), lambda s, a, b: s.gamma(a) * b),
    "chisquare": ((None,), lambda d: d > 0, lambda s, d: s.gamma(d / 2) * 2.0),
    # Gamma numbers of smaller shapes are often 0, and these their quotients.
    "beta": ((None, None), lambda a, b: (a >= 0.1) & (b >= 0.1), _beta),
    "f": ((None, None), lambda a, b: (a >= 0.2) & (b >= 0.2), _f),
    "vonmises": (
        (None, None),
        lambda m, k: (k >= 0) & (k < 1e8),
        lambda s, m, k: s(vonmises, m, k),
    ),
    "wald": (
        (None, None),
        lambda m, a: (m > 0) & (a > 0),
        lambda s, m, a: s(wald, m, a),
    ),
    "standard_t": (
        (None,),
        lambda d: d >= 0.2,
        lambda s, d: s(standard_t, d / 2) / nb.sqrt(s.gamma(d / 2)),
    ),
    "noncentral_chisquare": (
        (None, None),
        lambda d, c: (d > 0) & (c >= 0) & (c < 1e15),
        lambda s, d, c: _noncentral(s, d, c) * 2.0,
    ),
    "noncentral_f": (
        (None, None, None),
        lambda a, b, c: (a >= 0.2) & (b >= 0.2) & (c >= 0) & (c < 1e15),
        lambda s, a, b, c: _noncentral(s, a, c) * b / (s.gamma(b / 2) * a),
    ),
}
WHOLE = {
    # Numbers of smaller chances may be more than 63 bits hold.
    "geometric": ((None,), lambda p: (p >= 1e-15) & (p <= 1), lambda s, p: s(geometric, p)),
    # Of smaller powers most tries have more than 63 bits; of larger ones 1 is all that comes.
    "zipf": ((None,), lambda a: (a >= 1.02) & (a <= 60), lambda s, a: s(zipf, a)),
    "logseries": ((None,), lambda p: (p > 0) & (p < 1), lambda s, p: s(logseries, p)),
    "hypergeometric": (
        (None, None, None),
        lambda g, b, n: _whole(g, 1e9) & _whole(b, 1e9) & _whole(n, 1e9) & (n > 0) & (n <= g + b),
        lambda s, g, b, n: s(hypergeometric, g, b, n),
    ),
    "poisson": ((1.0,), lambda m: (m >= 0) & (m < 1e15), lambda s, m: s(poisson, m)),
    "binomial": (
        (None, None),
        lambda n, p: _whole(n, 1e15) & (p >= 0) & (p <= 1),
        lambda s, n, p: s(binomial, n, p),
    ),
    "negative_binomial": (
        (None, None),
        lambda n, p: (n > 0) & (p > 0) & (p <= 1),
        lambda s, n, p: s(poisson, s.gamma(n) * ((1 - p) / p)),
    ),
}
