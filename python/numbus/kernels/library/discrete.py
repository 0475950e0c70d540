"""Counts and mixtures of random numbers, by the methods of numpy.random.RandomState and Generator.

Binomial numbers: inversion, and BTPE of Kachitvichyanukul and Schmeiser (1988); hypergeometric
ones: HRUA of Stadlober (1990); von Mises: Best and Fisher (1979); logarithmic series: Kemp (1981);
Zipf: Devroye (1986).
"""

import math

import numpy as np

from .._library import c_acos, c_cos, c_exp, c_expm1, c_log, c_log1p, c_pow, known
from .distributions import MOST_POISSON, one_chisquare, one_gamma, one_poisson
from .sources import draw, normal, unit


def binomial_by_inversion(g, n, p):
    q = 1.0 - p
    first = c_exp(n * c_log(q))
    mean = n * p
    bound = int(min(float(n), mean + 10.0 * math.sqrt(mean * q + 1.0)))
    x = 0
    part = first
    u = unit(g)
    while u > part:
        x += 1
        if x > bound:
            x = 0
            part = first
            u = unit(g)
        else:
            u -= part
            part = ((n - x + 1) * p * part) / (x * q)
    return x


def tail(x):
    # of Stirling's series, as BTPE compares it
    y = x * x
    return (13680.0 - (462.0 - (132.0 - (99.0 - 140.0 / y) / y) / y) / y) / x / 166320.0


def binomial_by_rejection(g, n, p):
    """BTPE: a triangle, parallelograms and exponential tails; p is at most one half."""
    q = 1.0 - p
    top = n * p + p
    m = math.floor(top)
    p1 = math.floor(2.195 * math.sqrt(n * p * q) - 4.6 * q) + 0.5
    xm = m + 0.5
    xl = xm - p1
    xr = xm + p1
    c = 0.134 + 20.5 / (15.3 + m)
    a = (top - xl) / (top - xl * p)
    left = a * (1.0 + a / 2.0)
    a = (xr - top) / (xr * q)
    right = a * (1.0 + a / 2.0)
    p2 = p1 * (1.0 + 2.0 * c)
    p3 = p2 + c / left
    p4 = p3 + c / right
    variance = n * p * q
    while True:
        u = unit(g) * p4
        v = unit(g)
        if u <= p1:
            return math.floor(xm - p1 * v + u)
        if u <= p2:
            x = xl + (u - p1) / c
            v = v * c + 1.0 - abs(m - x + 0.5) / p1
            if v > 1.0:
                continue
            y = math.floor(x)
        elif v == 0.0:
            continue
        elif u <= p3:
            y = math.floor(xl + c_log(v) / left)
            if y < 0:
                continue
            v = v * (u - p2) * left
        else:
            y = math.floor(xr - c_log(v) / right)
            if y > n:
                continue
            v = v * (u - p3) * right
        k = abs(y - m)
        if k <= 20 or k >= variance / 2.0 - 1:
            s = p / q
            a = s * (n + 1)
            f = 1.0
            if m < y:
                for i in range(m + 1, y + 1):
                    f *= a / i - s
            elif m > y:
                for i in range(y + 1, m + 1):
                    f /= a / i - s
            if v > f:
                continue
            return y
        rho = (k / variance) * ((k * (k / 3.0 + 0.625) + 0.16666666666666666) / variance + 0.5)
        t = -(k * k) / (2 * variance)
        log_v = c_log(v)
        if log_v < t - rho:
            return y
        if log_v > t + rho:
            continue
        x1 = y + 1.0
        f1 = m + 1.0
        z = n + 1.0 - m
        w = n - y + 1.0
        most = (
            xm * c_log(f1 / x1)
            + (n - m + 0.5) * c_log(z / w)
            + (y - m) * c_log(w * p / (x1 * q))
            + tail(f1)
            + tail(z)
            + tail(x1)
            + tail(w)
        )
        if log_v <= most:
            return y


def one_binomial(g, n, p):
    n = int(n)
    if n == 0 or p == 0.0:
        return 0
    if p <= 0.5:
        if p * n <= 30.0:
            return binomial_by_inversion(g, n, p)
        return binomial_by_rejection(g, n, p)
    q = 1.0 - p
    if q * n <= 30.0:
        return n - binomial_by_inversion(g, n, q)
    return n - binomial_by_rejection(g, n, q)


@known("drawn binomial")
def binomial(g, n, p, size=None):
    """Successes among n trials."""
    if n != n:
        raise ValueError("cannot convert float NaN to integer")
    if n > 9007199254740992:
        raise OverflowError("a number of trials above 2 ** 53 inside a compiled function")
    if n < 0:
        raise ValueError("n < 0")
    if p < 0 or p > 1 or p != p:
        raise ValueError("p < 0, p > 1 or p is NaN")
    return draw(g, size, one_binomial, float(n), float(p), np.int64)


def one_negative_binomial(g, n, p):
    mean = one_gamma(g, n, (1.0 - p) / p)
    if mean > MOST_POISSON:
        raise ValueError("n too large or p too small: the numbers do not fit into 64 bits")
    return one_poisson(g, mean, 0.0)


@known("drawn negative_binomial")
def negative_binomial(g, n, p, size=None):
    """Failures before the n-th success."""
    if n <= 0:
        raise ValueError("n <= 0")
    if p <= 0 or p > 1 or p != p:
        raise ValueError("p <= 0, p > 1 or p contains NaNs")
    return draw(g, size, one_negative_binomial, float(n), float(p), np.int64)


def one_noncentral_chisquare(g, df, nonc):
    if nonc == 0.0:
        return one_chisquare(g, df, 0.0)
    if df > 1.0:
        chi2 = one_chisquare(g, df - 1.0, 0.0)
        n = normal(g) + math.sqrt(nonc)
        return chi2 + n * n
    chi2 = one_chisquare(g, df + 2.0 * one_poisson(g, nonc / 2.0, 0.0), 0.0)
    return nonc if nonc != nonc else chi2


def one_noncentral_f(g, dfnum, others):
    dfden, nonc = others
    above = one_noncentral_chisquare(g, dfnum, nonc) * dfden
    return above / (one_chisquare(g, dfden, 0.0) * dfnum)


@known("drawn noncentral_f")
def noncentral_f(g, dfnum, dfden, nonc, size=None):
    """Quotients of a noncentral and a central chi-square number."""
    if dfnum <= 0:
        raise ValueError("dfnum <= 0")
    if dfden <= 0:
        raise ValueError("dfden <= 0")
    if nonc < 0:
        raise ValueError("nonc < 0")
    return draw(g, size, one_noncentral_f, float(dfnum), (float(dfden), float(nonc)))


@known("drawn noncentral_chisquare")
def noncentral_chisquare(g, df, nonc, size=None):
    """Sums of squares of shifted normal numbers."""
    if df <= 0:
        raise ValueError("df <= 0")
    if nonc < 0:
        raise ValueError("nonc < 0")
    if df <= 1 and nonc > 2.0 * MOST_POISSON:
        raise ValueError("nonc is too large for counts of 64 bits")
    return draw(g, size, one_noncentral_chisquare, float(df), float(nonc))


def one_vonmises(g, mu, kappa):
    if kappa != kappa:
        return kappa
    if g is not None and kappa > 1e6:
        angle = mu + math.sqrt(1.0 / kappa) * normal(g)
        if angle < -math.pi:
            return angle + 2.0 * math.pi
        return angle - 2.0 * math.pi if angle > math.pi else angle
    if kappa > 1e15:  # rejection, where NumPy never ends, meets its rounding; this is the limit
        return wrapped(normal(g) * math.sqrt(1.0 / kappa) + mu)
    if kappa < 1e-8:
        return math.pi * (2.0 * unit(g) - 1.0)
    if kappa < 1e-5:
        s = 1.0 / kappa + kappa
    else:
        r = 1.0 + math.sqrt(1.0 + 4.0 * kappa * kappa)
        rho = (r - math.sqrt(2.0 * r)) / (2.0 * kappa)
        s = (1.0 + rho * rho) / (2.0 * rho)
    while True:
        z = c_cos(math.pi * unit(g))
        w = (1.0 + s * z) / (s + z)
        y = kappa * (s - w)
        v = unit(g)
        if y * (2.0 - y) - v >= 0.0 or c_log(y / v) + 1.0 - y >= 0.0:
            break
    angle = c_acos(w)
    if unit(g) < 0.5:
        angle = -angle
    return wrapped(angle + mu)


def wrapped(angle):
    """The same angle in [-pi, pi]."""
    turned = math.fmod(abs(angle) + math.pi, 2.0 * math.pi) - math.pi
    return -turned if angle < 0 else turned


@known("drawn vonmises")
def vonmises(g, mu, kappa, size=None):
    """Angles around mu."""
    if kappa < 0:
        raise ValueError("kappa < 0")
    return draw(g, size, one_vonmises, float(mu), float(kappa))


def one_zipf(g, a, _):
    if a >= 1025.0:  # a power below is not finite, and 1 is all that ever comes
        return 1
    b = c_pow(2.0, a - 1.0)
    # A Generator's numbers are of (least, 1], where RandomState's may be too large.
    least = 0.0 if g is None else c_pow(9223372036854775807.0, -(a - 1.0))
    while True:
        u = unit(g)
        u = u * least + (1.0 - u)
        v = unit(g)
        power = c_pow(u, -1.0 / (a - 1.0))
        if not 1.0 <= power <= 9223372036854774784.0:
            continue
        x = math.floor(power)
        t = c_pow(1.0 + 1.0 / x, a - 1.0)
        if v * x * (t - 1.0) / (b - 1.0) <= t / b:
            return x


@known("drawn zipf")
def zipf(g, a, size=None):
    """Of probabilities that fall as a power."""
    if not a > 1:
        raise ValueError("a <= 1 or a is NaN")
    return draw(g, size, one_zipf, float(a), 0.0, np.int64)


def one_logseries(g, p, _):
    r = c_log(1.0 - p) if g is None else c_log1p(-p)
    while True:
        v = unit(g)
        if v >= p:
            return 1
        q = 1.0 - c_exp(r * unit(g)) if g is None else -c_expm1(r * unit(g))
        if v <= q * q:
            if v == 0.0:
                continue
            x = math.floor(1.0 + c_log(v) / c_log(q))
            if x < 1:
                continue
            return x
        if v >= q:
            return 1
        return 2


@known("drawn logseries")
def logseries(g, p, size=None):
    """Of probabilities that fall as p ** k / k."""
    if not 0 <= p < 1:
        raise ValueError("p < 0, p >= 1 or p is NaN")
    return draw(g, size, one_logseries, float(p), 0.0, np.int64)


def hypergeometric_by_urn(g, good, bad, sample):
    rest = bad + good - sample
    fewer = min(bad, good)
    y = float(fewer)
    k = sample
    while y > 0.0:
        y -= math.floor(unit(g) + y / (rest + k))
        k -= 1
        if k == 0:
            break
    z = int(fewer - y)
    return sample - z if good > bad else z


def hypergeometric_by_rejection(g, good, bad, sample):
    """HRUA: ratios of uniform numbers."""
    fewer = min(good, bad)
    more = max(good, bad)
    all_of = good + bad
    m = min(sample, all_of - sample)
    share = fewer / all_of
    centre = m * share + 0.5
    width = math.sqrt((all_of - m) * sample * share * (1.0 - share) / (all_of - 1) + 0.5)
    scale = 1.7155277699214135 * width + 0.8989161620588988
    mode = math.floor((m + 1.0) * (fewer + 1) / (all_of + 2))
    peak = (
        math.lgamma(mode + 1.0)
        + math.lgamma(fewer - mode + 1.0)
        + math.lgamma(m - mode + 1.0)
        + math.lgamma(more - m + mode + 1.0)
    )
    bound = min(min(m, fewer) + 1.0, math.floor(centre + 16 * width) + 0.0)
    while True:
        x = unit(g)
        y = unit(g)
        w = centre + scale * (y - 0.5) / x
        if w < 0.0 or w >= bound:
            continue
        z = math.floor(w)
        t = peak - (
            math.lgamma(z + 1.0)
            + math.lgamma(fewer - z + 1.0)
            + math.lgamma(m - z + 1.0)
            + math.lgamma(more - m + z + 1.0)
        )
        if x * (4.0 - x) - 3.0 <= t:
            break
        if x * (x - t) >= 1.0:
            continue
        if 2.0 * c_log(x) <= t:
            break
    if good > bad:
        z = m - z
    if m < sample:
        z = good - z
    return z


def one_hypergeometric(g, good, others):
    bad, sample = others
    if sample > 10:
        return hypergeometric_by_rejection(g, good, bad, sample)
    if sample > 0:
        return hypergeometric_by_urn(g, good, bad, sample)
    return 0


@known("np.random.hypergeometric")
def hypergeometric(ngood, nbad, nsample, size=None):
    """Good ones in a sample without replacement."""
    if ngood < 0 or nbad < 0 or nsample < 1:
        raise ValueError("ngood, nbad >= 0 and nsample >= 1 are needed")
    if max(ngood, nbad) >= 1000000000:
        raise ValueError("ngood and nbad have to be below 10 ** 9 inside a compiled function")
    if ngood + nbad < nsample:
        raise ValueError("ngood + nbad < nsample")
    others = int(nbad), int(nsample)
    return draw(None, size, one_hypergeometric, int(ngood), others, np.int64)


@known("drawn multinomial")
def multinomial(g, n, pvals, size=None):
    """How often each of several outcomes comes among n trials."""
    p = np.array(pvals)
    count = 1 if size is None else size
    out = np.zeros((count, len(p)), np.int64)
    if p[:-1].sum() > 1.0 + 1e-12:
        raise ValueError("sum(pvals[:-1]) > 1.0")
    for i in range(count):
        left = int(n)
        rest = 1.0
        for j in range(len(p) - 1):
            out[i, j] = one_binomial(g, float(left), p[j] / rest)
            left -= out[i, j]
            if left <= 0:
                break
            rest -= p[j]
        if left > 0:
            out[i, len(p) - 1] = left
    if size is None:
        return out[0]
    return out


@known("np.random.dirichlet")
def dirichlet(alpha, size=None):
    """Shares that add up to one."""
    a = np.array(alpha)
    count = 1 if size is None else size
    out = np.empty((count, len(a)))
    for i in range(count):
        total = 0.0
        for j in range(len(a)):
            if a[j] <= 0:
                raise ValueError("alpha <= 0")
            out[i, j] = one_gamma(None, float(a[j]), 1.0)
            total += out[i, j]
        for j in range(len(a)):
            out[i, j] *= 1.0 / total
    if size is None:
        return out[0]
    return out
