"""Distributions of random numbers, by the methods of numpy.random.RandomState.

Marsaglia and Tsang (2000) for gamma, Jöhnk (1964) for beta, Hörmann (1993) for Poisson numbers.
"""

import math

import numpy as np

from .._library import known, random_unit
from .random import fill, fill_integers, gauss, one_exponential, one_normal

# The largest mean whose Poisson numbers are sure to fit into 64 bits, as NumPy has it.
MOST_POISSON = 2.0**63 - 1.0 - 10.0 * math.sqrt(2.0**63 - 1.0)


def one_gamma(shape, scale):
    """Marsaglia and Tsang; below a shape of one by rejection."""
    if shape == 1.0:
        return scale * one_exponential(1.0, 0.0)
    if shape == 0.0:
        return 0.0 * scale
    if shape < 1.0:
        while True:
            u = random_unit()
            v = one_exponential(1.0, 0.0)
            if u <= 1.0 - shape:
                x = u ** (1.0 / shape)
                if x <= v:
                    return scale * x
            else:
                y = -math.log((1.0 - u) / shape)
                x = (1.0 - shape + shape * y) ** (1.0 / shape)
                if x <= v + y:
                    return scale * x
    b = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * b)
    while True:
        v = 0.0
        x = 0.0
        while v <= 0.0:  # a NaN leaves it
            x = gauss()
            v = 1.0 + c * x
        v = v * v * v
        u = random_unit()
        if u < 1.0 - 0.0331 * (x * x) * (x * x):
            return scale * (b * v)
        if math.log(u) < 0.5 * x * x + b * (1.0 - v + math.log(v)):
            return scale * (b * v)


def one_chisquare(df, _):
    return 2.0 * one_gamma(df / 2.0, 1.0)


def one_f(dfnum, dfden):
    above = one_chisquare(dfnum, 0.0) * dfden
    return above / (one_chisquare(dfden, 0.0) * dfnum)


def one_beta(a, b):
    """Jöhnk's method for small parameters, else of two gamma numbers."""
    if a <= 1.0 and b <= 1.0:
        while True:
            u = random_unit()
            v = random_unit()
            x = u ** (1.0 / a)
            y = v ** (1.0 / b)
            s = x + y
            if s <= 1.0 and u + v > 0.0:
                if s > 0.0:
                    return x / s
                log_x = math.log(u) / a
                log_y = math.log(v) / b
                most = max(log_x, log_y)
                log_x -= most
                log_y -= most
                return math.exp(log_x - math.log(math.exp(log_x) + math.exp(log_y)))
    x = one_gamma(a, 1.0)
    return x / (x + one_gamma(b, 1.0))


def one_t(df, _):
    n = gauss()
    d = one_gamma(df / 2.0, 1.0)
    return math.sqrt(df / 2.0) * n / math.sqrt(d)


def one_cauchy(_a, _b):
    n = gauss()
    return n / gauss()


def one_pareto(a, _):
    return math.exp(one_exponential(1.0, 0.0) / a) - 1.0


def one_weibull(a, _):
    if a == 0.0:
        return 0.0
    return one_exponential(1.0, 0.0) ** (1.0 / a)


def one_power(a, _):
    return (-math.expm1(-one_exponential(1.0, 0.0))) ** (1.0 / a)


def one_rayleigh(scale, _):
    return scale * math.sqrt(-2.0 * math.log1p(-random_unit()))


def one_lognormal(mean, sigma):
    return math.exp(one_normal(mean, sigma))


def one_laplace(loc, scale):
    while True:
        u = random_unit()
        if u >= 0.5:
            return loc - scale * math.log(2.0 - u - u)
        if u > 0.0:
            return loc + scale * math.log(u + u)


def one_gumbel(loc, scale):
    while True:
        u = 1.0 - random_unit()
        if u < 1.0:
            return loc - scale * math.log(-math.log(u))


def one_logistic(loc, scale):
    while True:
        u = random_unit()
        if u > 0.0:
            return loc + scale * math.log(u / (1.0 - u))


def one_wald(mean, scale):
    half = mean / (2.0 * scale)
    y = gauss()
    y = mean * y * y
    x = mean + half * (y - math.sqrt(4.0 * scale * y + y * y))
    if random_unit() <= mean / (mean + x):
        return x
    return mean * mean / x


def one_geometric(p, _):
    if p >= 0.333333333333333333333333:
        x = 1
        total = p
        part = p
        u = random_unit()
        while u > total:
            part *= 1.0 - p
            total += part
            x += 1
        return x
    # NumPy's quotient is infinite where 1 - p rounds to 1, and wraps as an integer.
    return math.ceil(np.float64(math.log1p(-random_unit())) / np.float64(math.log(1.0 - p)))


def one_poisson(lam, _):
    """By products of uniform numbers where lam is small, else Hörmann's PTRS."""
    if lam == 0.0:
        return 0
    if not lam >= 10.0:  # a NaN ends at once
        least = math.exp(-lam)
        k = 0
        product = 1.0
        while True:
            product *= random_unit()
            if not product > least:
                return k
            k += 1
    root = math.sqrt(lam)
    log_lam = math.log(lam)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    inverse = 1.1239 + 1.1328 / (b - 3.4)
    most = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        u = random_unit() - 0.5
        v = random_unit()
        s = 0.5 - abs(u)
        k = math.floor((2.0 * a / s + b) * u + lam + 0.43)
        if s >= 0.07 and v <= most:
            return k
        if k < 0 or (s < 0.013 and v > s):
            continue
        left = math.log(v) + math.log(inverse) - math.log(a / (s * s) + b)
        if left <= -lam + k * log_lam - math.lgamma(k + 1.0):
            return k


def one_triangular(left, mode, right):
    base = right - left
    part = mode - left
    u = random_unit()
    if u <= part / base:
        return left + math.sqrt(u * (part * base))
    return right - math.sqrt((1.0 - u) * ((right - mode) * base))


# --- as NumPy has them


@known("np.random.triangular")
def triangular(left, mode, right, size=None):
    """Between left and right, most often near mode."""
    if left > mode or mode > right or left == right:
        raise ValueError("left <= mode <= right and left < right are needed")
    if size is None:
        return one_triangular(float(left), float(mode), float(right))
    out = np.empty(size)
    flat = out.reshape(-1)
    for i in range(flat.shape[0]):
        flat[i] = one_triangular(float(left), float(mode), float(right))
    return out


@known("np.random.gamma")
def gamma(shape, scale=1.0, size=None):
    """Gamma numbers."""
    if shape < 0:
        raise ValueError("shape < 0")
    if scale < 0:
        raise ValueError("scale < 0")
    if size is None:
        return one_gamma(float(shape), float(scale))
    return fill(size, one_gamma, float(shape), float(scale))


@known("np.random.standard_gamma")
def standard_gamma(shape, size=None):
    """Gamma numbers of scale 1."""
    if shape < 0:
        raise ValueError("shape < 0")
    if size is None:
        return one_gamma(float(shape), 1.0)
    return fill(size, one_gamma, float(shape), 1.0)


@known("np.random.chisquare")
def chisquare(df, size=None):
    """Sums of df squares of normal numbers."""
    if df <= 0:
        raise ValueError("df <= 0")
    if size is None:
        return one_chisquare(float(df), 0.0)
    return fill(size, one_chisquare, float(df), 0.0)


@known("np.random.f")
def f(dfnum, dfden, size=None):
    """Fisher's distribution."""
    if dfnum <= 0:
        raise ValueError("dfnum <= 0")
    if dfden <= 0:
        raise ValueError("dfden <= 0")
    if size is None:
        return one_f(float(dfnum), float(dfden))
    return fill(size, one_f, float(dfnum), float(dfden))


@known("np.random.beta")
def beta(a, b, size=None):
    """Beta numbers."""
    if a <= 0:
        raise ValueError("a <= 0")
    if b <= 0:
        raise ValueError("b <= 0")
    if size is None:
        return one_beta(float(a), float(b))
    return fill(size, one_beta, float(a), float(b))


@known("np.random.standard_t")
def standard_t(df, size=None):
    """Student's distribution."""
    if df <= 0:
        raise ValueError("df <= 0")
    if size is None:
        return one_t(float(df), 0.0)
    return fill(size, one_t, float(df), 0.0)


@known("np.random.standard_cauchy")
def standard_cauchy(size=None):
    """Quotients of two normal numbers."""
    if size is None:
        return one_cauchy(0.0, 0.0)
    return fill(size, one_cauchy, 0.0, 0.0)


@known("np.random.pareto")
def pareto(a, size=None):
    """Pareto's second distribution."""
    if a <= 0:
        raise ValueError("a <= 0")
    if size is None:
        return one_pareto(float(a), 0.0)
    return fill(size, one_pareto, float(a), 0.0)


@known("np.random.weibull")
def weibull(a, size=None):
    """Weibull's distribution."""
    if a < 0:
        raise ValueError("a < 0")
    if size is None:
        return one_weibull(float(a), 0.0)
    return fill(size, one_weibull, float(a), 0.0)


@known("np.random.power")
def power(a, size=None):
    """Of a density that grows as a power."""
    if a <= 0:
        raise ValueError("a <= 0")
    if size is None:
        return one_power(float(a), 0.0)
    return fill(size, one_power, float(a), 0.0)


@known("np.random.rayleigh")
def rayleigh(scale=1.0, size=None):
    """Rayleigh's distribution."""
    if scale < 0:
        raise ValueError("scale < 0")
    if size is None:
        return one_rayleigh(float(scale), 0.0)
    return fill(size, one_rayleigh, float(scale), 0.0)


@known("np.random.lognormal")
def lognormal(mean=0.0, sigma=1.0, size=None):
    """Exponentials of normal numbers."""
    if sigma < 0:
        raise ValueError("sigma < 0")
    if size is None:
        return one_lognormal(float(mean), float(sigma))
    return fill(size, one_lognormal, float(mean), float(sigma))


@known("np.random.laplace")
def laplace(loc=0.0, scale=1.0, size=None):
    """Laplace's distribution."""
    if scale < 0:
        raise ValueError("scale < 0")
    if size is None:
        return one_laplace(float(loc), float(scale))
    return fill(size, one_laplace, float(loc), float(scale))


@known("np.random.gumbel")
def gumbel(loc=0.0, scale=1.0, size=None):
    """Gumbel's distribution."""
    if scale < 0:
        raise ValueError("scale < 0")
    if size is None:
        return one_gumbel(float(loc), float(scale))
    return fill(size, one_gumbel, float(loc), float(scale))


@known("np.random.logistic")
def logistic(loc=0.0, scale=1.0, size=None):
    """The logistic distribution."""
    if scale < 0:
        raise ValueError("scale < 0")
    if size is None:
        return one_logistic(float(loc), float(scale))
    return fill(size, one_logistic, float(loc), float(scale))


@known("np.random.wald")
def wald(mean, scale, size=None):
    """Wald's distribution."""
    if mean <= 0:
        raise ValueError("mean <= 0")
    if scale <= 0:
        raise ValueError("scale <= 0")
    if size is None:
        return one_wald(float(mean), float(scale))
    return fill(size, one_wald, float(mean), float(scale))


@known("np.random.geometric")
def geometric(p, size=None):
    """How many trials the first success takes."""
    if not 0 < p <= 1:
        raise ValueError("p <= 0, p > 1 or p contains NaNs")
    if size is None:
        return one_geometric(float(p), 0.0)
    return fill_integers(size, one_geometric, float(p), 0.0)


@known("np.random.poisson")
def poisson(lam=1.0, size=None):
    """Poisson's distribution."""
    if not lam >= 0:
        raise ValueError("lam < 0 or lam contains NaNs")
    if lam > MOST_POISSON:
        raise ValueError("lam value too large")
    if size is None:
        return one_poisson(float(lam), 0.0)
    return fill_integers(size, one_poisson, float(lam), 0.0)
