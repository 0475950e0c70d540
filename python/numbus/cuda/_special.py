"""Inverse error functions and Bessel functions for libdevice's names, of float64.

The inverses are Halley's iteration on our erf and erfc from Winitzki's start (2008): relative error
below 3e-15, near 0 and up to 0.5 below 3e-16. Bessel functions: Miller's backward recurrence with
Neumann's series for those of the second kind (Abramowitz and Stegun 9.1.46, 9.1.88, 9.12), from 25
on Hankel's expansion (9.2.5 to 9.2.10); absolute error below 4e-16, of large y0 and y1 relative.
"""

import math

import numpy

from ..kernels._dispatch import njit

ROOT_PI = 1.7724538509055159
EULER = 0.5772156649015329


@njit
def winitzki(log_part):
    # log_part: log(1 - y * y)
    b = 4.33074675 + 0.5 * log_part
    return math.sqrt(max(math.sqrt(max(b * b - log_part / 0.147, 0.0)) - b, 0.0))


@njit
def erf_inverse(y):
    a = abs(y)
    if not a < 1.0:
        return numpy.copysign(numpy.inf, y) if a == 1.0 else numpy.nan
    if a > 0.5:
        return numpy.copysign(erfc_inverse_tail(1.0 - a), y)
    if a < 1e-9:
        return y * (0.5 * ROOT_PI)
    x = winitzki(math.log1p(-y * y))
    for _ in range(2):
        u = (math.erf(x) - a) * (0.5 * ROOT_PI) * math.exp(x * x)
        x -= u / (1.0 + x * u)
    return numpy.copysign(x, y)


@njit
def erfc_inverse_tail(q):
    # of (0, 0.5]
    x = winitzki(math.log(q * (2.0 - q)))
    for _ in range(3):
        u = (q / scaled_erfc(x) * math.exp(0.5 * x * x) * math.exp(0.5 * x * x) - 1.0) * (
            0.5 * ROOT_PI * scaled_erfc(x)
        )
        x -= u / (1.0 + x * u)
    return x


@njit
def erfc_inverse(q):
    if not (0.0 < q < 2.0):
        return numpy.inf if q == 0.0 else (-numpy.inf if q == 2.0 else numpy.nan)
    if q < 0.5:
        return erfc_inverse_tail(q)
    if q > 1.5:
        return -erfc_inverse_tail(2.0 - q)
    return erf_inverse(1.0 - q)


@njit
def scaled_erfc(x):
    # exp(x * x) * erfc(x)
    if x != x:
        return x
    if x < 0.0:
        return 2.0 * math.exp(x * x) - scaled_erfc(-x)
    if x < 2.0:
        return math.exp(x * x) * math.erfc(x)
    # The continued fraction, from its far end.
    n = 12 + int(200.0 / (x * x))
    f = x
    for k in range(n, 0, -1):
        f = x + 0.5 * k / f
    return 1.0 / (f * ROOT_PI)


@njit
def hankel(n, x):
    # P and Q of Hankel's expansion
    m = 4.0 * n * n
    p = 1.0
    q = 0.0
    term = 1.0
    for k in range(1, 60):
        odd = 2.0 * k - 1.0
        more = term * (m - odd * odd) / (8.0 * k * x)
        if abs(more) >= abs(term) and k > n:
            break
        term = more
        if k % 4 == 1:
            q += term
        elif k % 4 == 2:
            p -= term
        elif k % 4 == 3:
            q -= term
        else:
            p += term
        if abs(term) < 1e-18:
            break
    return p, q


@njit
def far(n, x):
    # J and Y of order 0 or 1, from the sum and the difference of sine and cosine
    p, q = hankel(n, x)
    s = math.sin(x)
    c = math.cos(x)
    scale = 1.0 / math.sqrt(math.pi * x)
    if n == 0:
        cos_part = s + c
        sin_part = s - c
    else:
        cos_part = s - c
        sin_part = -s - c
    return scale * (p * cos_part - q * sin_part), scale * (p * sin_part + q * cos_part)


@njit
def near(x):
    # J0, J1, Y0 and Y1 of 0 < x < 25
    start = 2 * (int(x) // 2 + 20 + int(4.0 * math.sqrt(x)))
    above = 0.0
    here = 1e-290
    total = 0.0
    y0 = 0.0
    y1 = 0.0
    j1 = 0.0
    for k in range(start, 0, -1):
        # here: J of order k, but for a factor
        if k % 2 == 0:
            total += 2.0 * here
            half = k // 2
            y0 += here / half if half % 2 == 1 else -here / half
        elif k > 1:
            half = (k - 1) // 2
            part = k * here / (half * (half + 1))
            y1 += part if half % 2 == 1 else -part
        else:
            j1 = here
        below = (2.0 * k / x) * here - above
        above = here
        here = below
        if abs(here) > 1e200:
            here *= 1e-250
            above *= 1e-250
            total *= 1e-250
            y0 *= 1e-250
            y1 *= 1e-250
    total += here
    j0 = here / total
    j1 /= total
    y0 /= total
    y1 /= total
    logarithm = math.log(0.5 * x) + EULER
    two = 2.0 / math.pi
    return (
        j0,
        j1,
        two * (logarithm * j0 + 2.0 * y0),
        two * ((logarithm - 1.0) * j1 - j0 / x + y1),
    )


@njit
def bessel_j0(x):
    a = abs(x)
    if not numpy.isfinite(a):
        return 0.0 if a == numpy.inf else numpy.nan
    if a < 1e-8:
        return 1.0
    if a < 25.0:
        return near(a)[0]
    return far(0, a)[0]


@njit
def bessel_j1(x):
    a = abs(x)
    if not numpy.isfinite(a):
        return 0.0 if a == numpy.inf else numpy.nan
    if a < 1e-8:
        return 0.5 * x
    j = near(a)[1] if a < 25.0 else far(1, a)[0]
    return j if x > 0 else -j


@njit
def bessel_y0(x):
    if not x > 0.0:
        return -numpy.inf if x == 0.0 else numpy.nan
    if x == numpy.inf:
        return 0.0
    if x < 1e-8:
        return 2.0 / math.pi * (math.log(0.5 * x) + EULER)
    if x < 25.0:
        return near(x)[2]
    return far(0, x)[1]


@njit
def bessel_y1(x):
    if not x > 0.0:
        return -numpy.inf if x == 0.0 else numpy.nan
    if x == numpy.inf:
        return 0.0
    if x < 1e-8:
        return -2.0 / (math.pi * x)
    if x < 25.0:
        return near(x)[3]
    return far(1, x)[1]


@njit
def bessel_jn(n, x):
    if n < 0:
        return numpy.nan
    if n == 0:
        return bessel_j0(x)
    if n == 1:
        return bessel_j1(x)
    a = abs(x)
    if not numpy.isfinite(a):
        return 0.0 if a == numpy.inf else numpy.nan
    if a == 0.0:
        return 0.0
    if a > n:
        # Upwards, where that is stable.
        before = bessel_j0(a)
        here = bessel_j1(a)
        for k in range(1, n):
            before, here = here, (2.0 * k / a) * here - before
    else:
        start = 2 * ((n + 20 + int(math.sqrt(60.0 * n))) // 2)
        above = 0.0
        low = 1e-290
        total = 0.0
        here = 0.0
        for k in range(start, 0, -1):
            if k == n:
                here = low
            if k % 2 == 0:
                total += 2.0 * low
            above, low = low, (2.0 * k / a) * low - above
            if abs(low) > 1e200:
                low *= 1e-250
                above *= 1e-250
                total *= 1e-250
                here *= 1e-250
        here /= total + low
    return -here if x < 0.0 and n % 2 == 1 else here


@njit
def bessel_yn(n, x):
    if n < 0 or not x > 0.0:
        return -numpy.inf if x == 0.0 and n >= 0 else numpy.nan
    before = bessel_y0(x)
    if n == 0:
        return before
    here = bessel_y1(x)
    for k in range(1, n):
        before, here = here, (2.0 * k / x) * here - before
        if here == -numpy.inf:
            break
    return here


HELPERS = (
    erf_inverse,
    erfc_inverse,
    scaled_erfc,
    bessel_j0,
    bessel_j1,
    bessel_jn,
    bessel_y0,
    bessel_y1,
    bessel_yn,
)
