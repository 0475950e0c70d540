"""Distributions of random numbers, by the methods of numpy.random.RandomState and Generator.

Marsaglia and Tsang (2000) for gamma, Jöhnk (1964) for beta, Hörmann (1993) for Poisson numbers.
"""

import math

import numpy as np

from .._library import c_exp, c_expm1, c_log, c_log1p, c_pow, known
from .sources import draw, exponential, normal, unit

# The largest mean whose Poisson numbers are sure to fit into 64 bits, as NumPy has it.
MOST_POISSON = 2.0**63 - 1.0 - 10.0 * math.sqrt(2.0**63 - 1.0)


def one_gamma(g, shape, scale):
    """Marsaglia and Tsang; below a shape of one by rejection."""
    if shape == 1.0:
        return scale * exponential(g)
    if shape == 0.0:
        return 0.0 * scale
    if shape < 1.0:
        while True:
            u = unit(g)
            v = exponential(g)
            if u <= 1.0 - shape:
                x = c_pow(u, 1.0 / shape)
                if x <= v:
                    return scale * x
            else:
                y = -c_log((1.0 - u) / shape)
                x = c_pow(1.0 - shape + shape * y, 1.0 / shape)
                if x <= v + y:
                    return scale * x
    b = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * b)
    while True:
        v = 0.0
        x = 0.0
        while v <= 0.0:  # a NaN leaves it
            x = normal(g)
            v = 1.0 + c * x
        v = v * v * v
        u = unit(g)
        if u < 1.0 - 0.0331 * (x * x) * (x * x):
            return scale * (b * v)
        if c_log(u) < 0.5 * x * x + b * (1.0 - v + c_log(v)):
            return scale * (b * v)


def one_chisquare(g, df, _):
    return 2.0 * one_gamma(g, df / 2.0, 1.0)


def one_f(g, dfnum, dfden):
    above = one_chisquare(g, dfnum, 0.0) * dfden
    return above / (one_chisquare(g, dfden, 0.0) * dfnum)


def one_beta(g, a, b):
    """Jöhnk's method for small parameters, else of two gamma numbers."""
    if a <= 1.0 and b <= 1.0:
        while True:
            u = unit(g)
            v = unit(g)
            x = c_pow(u, 1.0 / a)
            y = c_pow(v, 1.0 / b)
            s = x + y
            if s <= 1.0 and u + v > 0.0:
                if s > 0.0 and (g is None or min(x, y) > 0.0):
                    return x / s
                log_x = c_log(u) / a
                log_y = c_log(v) / b
                if g is not None:
                    gap = log_x - log_y
                    if gap > 0.0:
                        return c_exp(-c_log1p(c_exp(-gap)))
                    return c_exp(gap - c_log1p(c_exp(gap)))
                most = max(log_x, log_y)
                log_x -= most
                log_y -= most
                return c_exp(log_x - c_log(c_exp(log_x) + c_exp(log_y)))
    x = one_gamma(g, a, 1.0)
    return x / (x + one_gamma(g, b, 1.0))


def one_t(g, df, _):
    n = normal(g)
    d = one_gamma(g, df / 2.0, 1.0)
    return math.sqrt(df / 2.0) * n / math.sqrt(d)


def one_cauchy(g, _a, _b):
    n = normal(g)
    return n / normal(g)


def one_pareto(g, a, _):
    if g is None:
        return c_exp(exponential(g) / a) - 1.0
    return c_expm1(exponential(g) / a)


def one_weibull(g, a, _):
    if a == 0.0:
        return 0.0
    return c_pow(exponential(g), 1.0 / a)


def one_power(g, a, _):
    return c_pow(-c_expm1(-exponential(g)), 1.0 / a)


def one_rayleigh(g, scale, _):
    if g is None:
        return scale * math.sqrt(-2.0 * c_log1p(-unit(g)))
    return scale * math.sqrt(2.0 * exponential(g))


def one_lognormal(g, mean, sigma):
    return c_exp(mean + sigma * normal(g))


def one_laplace(g, loc, scale):
    while True:
        u = unit(g)
        if u >= 0.5:
            return loc - scale * c_log(2.0 - u - u)
        if u > 0.0:
            return loc + scale * c_log(u + u)


def one_gumbel(g, loc, scale):
    while True:
        u = 1.0 - unit(g)
        if u < 1.0:
            return loc - scale * c_log(-c_log(u))


def one_logistic(g, loc, scale):
    while True:
        u = unit(g)
        if u > 0.0:
            return loc + scale * c_log(u / (1.0 - u))


def one_wald(g, mean, scale):
    half = mean / (2.0 * scale)
    y = normal(g)
    y = mean * y * y
    if g is None:
        x = mean + half * (y - math.sqrt(4.0 * scale * y + y * y))
    else:  # loses no digits where the mean is large
        x = mean * (1.0 - 2.0 / (1.0 + math.sqrt(1.0 + 4.0 * scale / y)))
    if unit(g) <= mean / (mean + x):
        return x
    return mean * mean / x


def one_geometric(g, p, _):
    if p >= 0.333333333333333333333333:
        x = 1
        total = p
        part = p
        u = unit(g)
        while u > total:
            part *= 1.0 - p
            total += part
            x += 1
        return x
    if g is not None:
        z = np.ceil(-exponential(g) / np.float64(c_log1p(-p)))
        return int(z) if z < 9.223372036854776e18 else 9223372036854775807
    # NumPy's quotient is infinite where 1 - p rounds to 1, and wraps as an integer.
    return math.ceil(np.float64(c_log1p(-unit(g))) / np.float64(c_log(1.0 - p)))


def one_poisson(g, lam, _):
    """By products of uniform numbers where lam is small, else Hörmann's PTRS."""
    if lam == 0.0:
        return 0
    if not lam >= 10.0:  # a NaN ends at once
        least = c_exp(-lam)
        k = 0
        product = 1.0
        while True:
            product *= unit(g)
            if not product > least:
                return k
            k += 1
    root = math.sqrt(lam)
    log_lam = c_log(lam)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    inverse = 1.1239 + 1.1328 / (b - 3.4)
    most = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        u = unit(g) - 0.5
        v = unit(g)
        s = 0.5 - abs(u)
        k = math.floor((2.0 * a / s + b) * u + lam + 0.43)
        if s >= 0.07 and v <= most:
            return k
        if k < 0 or (s < 0.013 and v > s):
            continue
        left = c_log(v) + c_log(inverse) - c_log(a / (s * s) + b)
        if left <= -lam + k * log_lam - math.lgamma(k + 1.0):
            return k


def one_triangular(g, left, others):
    mode, right = others
    base = right - left
    part = mode - left
    u = unit(g)
    if u <= part / base:
        return left + math.sqrt(u * (part * base))
    return right - math.sqrt((1.0 - u) * ((right - mode) * base))


# --- as NumPy has them


@known("drawn triangular")
def triangular(g, left, mode, right, size=None):
    """Between left and right, most often near mode."""
    if left > mode or mode > right or left == right:
        raise ValueError("left <= mode <= right and left < right are needed")
    return draw(g, size, one_triangular, float(left), (float(mode), float(right)))


@known("drawn gamma")
def gamma(g, shape, scale=1.0, size=None):
    """Gamma numbers."""
    if shape < 0:
        raise ValueError("shape < 0")
    if scale < 0:
        raise ValueError("scale < 0")
    return draw(g, size, one_gamma, float(shape), float(scale))


@known("drawn standard_gamma")
def standard_gamma(g, shape, size=None):
    """Gamma numbers of scale 1."""
    if shape < 0:
        raise ValueError("shape < 0")
    return draw(g, size, one_gamma, float(shape), 1.0)


@known("drawn chisquare")
def chisquare(g, df, size=None):
    """Sums of df squares of normal numbers."""
    if df <= 0:
        raise ValueError("df <= 0")
    return draw(g, size, one_chisquare, float(df), 0.0)


@known("drawn f")
def f(g, dfnum, dfden, size=None):
    """Fisher's distribution."""
    if dfnum <= 0:
        raise ValueError("dfnum <= 0")
    if dfden <= 0:
        raise ValueError("dfden <= 0")
    return draw(g, size, one_f, float(dfnum), float(dfden))


@known("drawn beta")
def beta(g, a, b, size=None):
    """Beta numbers."""
    if a <= 0:
        raise ValueError("a <= 0")
    if b <= 0:
        raise ValueError("b <= 0")
    return draw(g, size, one_beta, float(a), float(b))


@known("drawn standard_t")
def standard_t(g, df, size=None):
    """Student's distribution."""
    if df <= 0:
        raise ValueError("df <= 0")
    return draw(g, size, one_t, float(df), 0.0)


@known("drawn standard_cauchy")
def standard_cauchy(g, size=None):
    """Quotients of two normal numbers."""
    return draw(g, size, one_cauchy, 0.0, 0.0)


@known("drawn pareto")
def pareto(g, a, size=None):
    """Pareto's second distribution."""
    if a <= 0:
        raise ValueError("a <= 0")
    return draw(g, size, one_pareto, float(a), 0.0)


@known("drawn weibull")
def weibull(g, a, size=None):
    """Weibull's distribution."""
    if a < 0:
        raise ValueError("a < 0")
    return draw(g, size, one_weibull, float(a), 0.0)


@known("drawn power")
def power(g, a, size=None):
    """Of a density that grows as a power."""
    if a <= 0:
        raise ValueError("a <= 0")
    return draw(g, size, one_power, float(a), 0.0)


@known("drawn rayleigh")
def rayleigh(g, scale=1.0, size=None):
    """Rayleigh's distribution."""
    if scale < 0:
        raise ValueError("scale < 0")
    return draw(g, size, one_rayleigh, float(scale), 0.0)


@known("drawn lognormal")
def lognormal(g, mean=0.0, sigma=1.0, size=None):
    """Exponentials of normal numbers."""
    if sigma < 0:
        raise ValueError("sigma < 0")
    return draw(g, size, one_lognormal, float(mean), float(sigma))


@known("drawn laplace")
def laplace(g, loc=0.0, scale=1.0, size=None):
    """Laplace's distribution."""
    if scale < 0:
        raise ValueError("scale < 0")
    return draw(g, size, one_laplace, float(loc), float(scale))


@known("drawn gumbel")
def gumbel(g, loc=0.0, scale=1.0, size=None):
    """Gumbel's distribution."""
    if scale < 0:
        raise ValueError("scale < 0")
    return draw(g, size, one_gumbel, float(loc), float(scale))


@known("drawn logistic")
def logistic(g, loc=0.0, scale=1.0, size=None):
    """The logistic distribution."""
    if scale < 0:
        raise ValueError("scale < 0")
    return draw(g, size, one_logistic, float(loc), float(scale))


@known("drawn wald")
def wald(g, mean, scale, size=None):
    """Wald's distribution."""
    if mean <= 0:
        raise ValueError("mean <= 0")
    if scale <= 0:
        raise ValueError("scale <= 0")
    return draw(g, size, one_wald, float(mean), float(scale))


@known("drawn geometric")
def geometric(g, p, size=None):
    """How many trials the first success takes."""
    if not 0 < p <= 1:
        raise ValueError("p <= 0, p > 1 or p contains NaNs")
    return draw(g, size, one_geometric, float(p), 0.0, np.int64)


@known("drawn poisson")
def poisson(g, lam=1.0, size=None):
    """Poisson's distribution."""
    if not lam >= 0:
        raise ValueError("lam < 0 or lam contains NaNs")
    if lam > MOST_POISSON:
        raise ValueError("lam value too large")
    return draw(g, size, one_poisson, float(lam), 0.0, np.int64)
