"""math and cmath where the table of operations has no row."""

import math

import numpy as np

from ...core.dtypes import bfloat16
from .._library import known
from .coefficients import ERF_NEAR, ERFC_FAR, LGAMMA_NEAR

# As Horner's rule takes them.
ERF_NEAR_DOWN = ERF_NEAR[::-1]
ERFC_FAR_DOWN = ERFC_FAR[::-1]
LGAMMA_NEAR_DOWN = LGAMMA_NEAR[::-1]


def whole(x):
    """Raises where x is no integer."""
    if isinstance(x, (float, complex, np.floating)):
        raise TypeError("this number cannot be interpreted as an integer")


def times_mod(a, b, m):
    """a * b % m of numbers of [0, m), where the product may not fit into 64 bits."""
    if m <= 3037000499:  # the largest whose square fits
        return a * b % m
    out = 0
    while b > 0:
        if b & 1:
            out = out - (m - a) if out >= m - a else out + a
        a = a - (m - a) if a >= m - a else a + a
        b >>= 1
    return out


def inverse_mod(a, m):
    """What a has to be multiplied with to give 1 modulo m: Euclid's algorithm, extended."""
    r = m
    s = a
    u = 0
    v = 1
    while s > 0:
        q = r // s
        r, s = s, r - q * s
        u, v = v, u - q * v
    if r != 1:
        raise ValueError("base is not invertible for the given modulus")
    return u % m


@known("complex power")
def complex_power(x, y):
    """x ** y of Python's complex numbers: whole exponents up to 100 are products."""
    n = abs(y.real)
    if y.imag != 0 or n != np.floor(n) or n > 100:
        return complex(np.complex128(x) ** y)
    left = int(n)
    r = 1 + 0j
    p = x
    while left > 0:
        if left & 1:
            r = r * p
        left >>= 1
        if left > 0:
            p = p * p
    return r if y.real > 0 else 1 / r


@known("pow mod")
def pow_mod(a, b, m):
    """Repeated squaring."""
    whole(a)
    whole(b)
    whole(m)
    if m == 0:
        raise ValueError("pow() 3rd argument cannot be 0")
    n = abs(m)
    a = a % n
    if b < 0:
        a = inverse_mod(a, n)
        b = -b
    out = 1 % n
    while b > 0:
        if b & 1:
            out = times_mod(out, a, n)
        a = times_mod(a, a, n)
        b >>= 1
    return out % m


def size(a):
    """The absolute value of an integer of any type, all of which fit into uint64."""
    whole(a)
    return a if isinstance(a, np.uint64) else np.uint64(abs(int(a)))


def common(a, b):
    """Euclid."""
    while b:
        t = a % b
        a = b
        b = t
    return a


@known("math.gcd")
def gcd(a, b):
    """Of Python's integers: those of NumPy's types are too narrow for their own absolute values."""
    return int(common(size(a), size(b)))


@known("math.lcm")
def lcm(a, b):
    """By the greatest common divisor; wraps as products do."""
    g = common(size(a), size(b))
    return 0 if g == 0 else int(size(a) // g * size(b))


@known("math.factorial")
def factorial(n):
    """A product; from 21! on it does not fit into 64 bits."""
    whole(n)
    if n < 0:
        raise ValueError("factorial() not defined for negative values")
    if n > 20:
        raise OverflowError(f"factorial of {n} does not fit into 64 bits")
    p = 1
    for i in range(2, n + 1):
        p *= i
    return p


@known("math.comb")
def comb(n, k):
    """A product of quotients, exact but for multiples of 2**64: odd numbers have inverses there."""
    whole(n)
    whole(k)
    n, k = int(n), int(k)
    if n < 0 or k < 0:
        raise ValueError("n must be a non-negative integer")
    if k > n:
        return 0
    odd, twos = 1, 0
    for i in range(min(k, n - k)):
        a, b = n - i, i + 1
        while a & 1 == 0:
            a >>= 1
            twos += 1
        while b & 1 == 0:
            b >>= 1
            twos -= 1
        inverse = b  # in its three last bits; each step doubles them
        for _ in range(5):
            inverse *= 2 - b * inverse
        odd *= a * inverse
    return odd << twos if twos < 64 else 0


@known("math.perm")
def perm(n, k):
    """A product."""
    whole(n)
    whole(k)
    n, k = int(n), int(k)
    if n < 0 or k < 0:
        raise ValueError("n must be a non-negative integer")
    if k > n:
        return 0
    p = 1
    for i in range(k):
        p *= n - i
    return p


@known("math.isqrt")
def isqrt(n):
    """The float root, corrected."""
    whole(n)
    if n < 0:
        raise ValueError("isqrt() argument must be nonnegative")
    most = np.uint64(4294967295)  # its square is the largest that fits into 64 bits
    r = min(np.uint64(math.sqrt(float(n))), most)
    while r * r > np.uint64(n):
        r -= 1
    while r < most and (r + 1) * (r + 1) <= np.uint64(n):
        r += 1
    return int(r)


@known("math.erf")
def erf(x):
    """A polynomial up to 1, from there on 1 - erfc(): within 1 ULP."""
    x = x * 1.0
    a = abs(x)
    if a < 1.0:
        return erf_near(x)
    return math.copysign(1.0 - erfc_far(a), x)


@known("math.erfc")
def erfc(x):
    """1 - erf() up to 1/2, from there on by a polynomial of its own: within 3 ULP."""
    x = x * 1.0
    a = abs(x)
    if a < 0.5:
        return 1.0 - erf_near(x)
    c = erfc_far(a)
    return 2.0 - c if x < 0.0 else c


def erf_near(x):
    """erf() up to 1."""
    z = x * x
    p = z * 0.0
    for c in ERF_NEAR_DOWN:
        p = p * z + c
    return x + x * p


def erfc_far(a):
    """erfc() from 1/2 on: exp(-a²) p / (1 + 2a); a is mapped as N. Juffa's erfcx() does.

    Rounded to z, a has an exact square; what is left of the exponent is small.
    """
    a = min(a, 30.0) if a == a else a
    q = (a - 4.0) / (a + 4.0)
    p = q * 0.0
    for c in ERFC_FAR_DOWN:
        p = p * q + c
    r = p / (1.0 + 2.0 * a)
    z = np.floor(a * 64.0 + 0.5) * 0.015625
    return math.exp(-z * z) * (r + r * math.expm1((z - a) * (z + a)))


# Lanczos' approximation with g = 607/128 and these fifteen terms (Godfrey): about 1e-15.
_G = 607.0 / 128.0
_LANCZOS = (
    0.99999999999999709182,
    57.156235665862923517,
    -59.597960355475491248,
    14.136097974741747174,
    -0.49191381609762019978,
    0.33994649984811888699e-4,
    0.46523628927048575665e-4,
    -0.98374475304879564677e-4,
    0.15808870322491248884e-3,
    -0.21026444172410488319e-3,
    0.21743961811521264320e-3,
    -0.16431810653676389022e-3,
    0.84418223983852743293e-4,
    -0.26190838401581408670e-4,
    0.36899182659531622704e-5,
)


def lanczos(x):
    """The sum for gamma(x + 1)."""
    s = x * 0.0 + _LANCZOS[0]
    k = 0
    for c in _LANCZOS[1:]:
        k += 1
        s += c / (x + k)
    return s


def sin_pi(x):
    """sin(pi x), exact in what x differs from the nearest integer."""
    whole = np.rint(x)
    s = math.sin(math.pi * (x - whole))
    return s if np.remainder(whole, 2.0) == 0 else -s


@known("math.gamma")
def gamma(x):
    """Lanczos; reflected for x < 1/2; factorials of small integers are exact."""
    if isinstance(x, (np.float16, bfloat16)):
        return np.result_type(x).type(gamma(np.float32(x)))
    if x == math.inf:
        return x
    if x == np.floor(x):
        if x <= 0:
            raise ValueError("math domain error")
        if x <= 23:
            p = x * 0.0 + 1.0
            k = x * 0.0 + 1.0
            while k < x:
                p *= k
                k += 1.0
            return p
    if x < 0.5:
        return gamma_reflected(x)
    if x > (40.0 if isinstance(x, np.float32) else 172.0):  # the power would overflow
        return x * math.inf
    p, q = gamma_factors(x)
    return p * q


def gamma_reflected(x):
    """gamma() below 1/2: divided twice, as the last quotient may be subnormal."""
    s = sin_pi(x)
    if x > -0.5:
        p, q = gamma_factors(1.0 - x)
        return math.pi / s / q / p
    if x < (-44.0 if isinstance(x, np.float32) else -190.0):
        return s * 0.0 if x > -math.inf else x
    p, q = gamma_factors(-x)  # 1 - x would be rounded
    return math.pi / s / x / q / -p


def gamma_factors(x):
    """Two factors of gamma() from 1/2 on, with half of the power each: they overflow later."""
    t = x + (_G - 0.5)
    half = t ** ((x - 0.5) * 0.5)
    return 2.5066282746310002 * half * math.exp(-t), half * lanczos(x - 1.0)


@known("math.lgamma")
def lgamma(x):
    """Polynomials from 1/2 to 7/2, where it has zeros; the logarithm of Lanczos' formula beyond."""
    if isinstance(x, (np.float16, bfloat16)):
        return np.result_type(x).type(lgamma(np.float32(x)))
    if abs(x) == math.inf:
        return abs(x)
    if x == np.floor(x):
        if x <= 0:
            raise ValueError("math domain error")
        if x <= 2:
            return x * 0.0
    if abs(x) < 1e-20:  # where the reflection overflows
        return -math.log(abs(x))
    if x >= 0.5:
        return lgamma_from_half(x)
    if x > 0:
        return lgamma_from_half(x + 1.0) - math.log(x)
    if isinstance(x, np.float32):  # both terms may be much larger than what is left
        return np.float32(lgamma_reflected(float(x)))
    return lgamma_reflected(x)


def lgamma_reflected(x):
    """lgamma() below 0."""
    return math.log(math.pi / abs(sin_pi(x))) - lgamma_from_half(1.0 - x)


def lgamma_from_half(x):
    """lgamma() from 1/2 on."""
    if x < 1.5:
        return lgamma_near(x - 1.0) - math.log1p(x - 1.0)
    if x < 2.5:
        return lgamma_near(x - 2.0)
    if x < 3.5:
        return lgamma_near(x - 3.0) + math.log1p(x - 2.0)
    t = x + (_G - 0.5)
    return (math.log(t) - 1.0) * (x - 0.5) - _G + 0.9189385332046727 + math.log(lanczos(x - 1.0))


def lgamma_near(t):
    """lgamma(2 + t), |t| <= 1/2."""
    p = t * 0.0
    for c in LGAMMA_NEAR_DOWN:
        p = p * t + c
    return p * t


@known("math.frexp")
def frexp(x):
    """Halved or doubled until in [1/2, 1), as a float: the least integer has no size of its own."""
    x = x * 1.0
    if x == 0 or x != x or abs(x) == math.inf:
        return x, 0
    e = 0
    a = abs(x)
    while a >= 4294967296.0:
        a *= 2.3283064365386963e-10
        e += 32
    while a < 2.3283064365386963e-10:
        a *= 4294967296.0
        e -= 32
    while a >= 1.0:
        a *= 0.5
        e += 1
    while a < 0.5:
        a *= 2.0
        e -= 1
    return math.copysign(a, x), e


@known("math.ldexp")
def ldexp(x, e):
    """Powers of two, in steps that do not overflow early; short floats are rounded once."""
    x = x * 1.0
    y = float(x)
    e = min(max(e, -4000), 4000)  # beyond any float
    while e > 1000:
        y *= 2.0**1000
        e -= 1000
    while e < -1000:
        y *= 2.0**-1000
        e += 1000
    return np.result_type(x).type(y * math.exp2(e * 1.0))


@known("math.modf")
def modf(x):
    """The fraction and the whole part, both with the sign."""
    x = x * 1.0
    if abs(x) == math.inf:
        return math.copysign(x * 0.0 if x != x else 0.0, x), x
    whole = math.copysign(np.floor(abs(x)), x)
    return math.copysign(x - whole, x), whole


@known("math.isclose")
def isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    """As the documentation of math.isclose has it."""
    a, b = float(a), float(b)
    if a == b:
        return True
    if abs(a) == math.inf or abs(b) == math.inf:
        return False
    return abs(a - b) <= max(rel_tol * max(abs(a), abs(b)) * 1.0, abs_tol)


@known("cmath.isclose")
def complex_isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    """As math.isclose, with sizes."""
    return abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol)


@known("math.fsum")
def fsum(values):
    """Neumaier's compensated sum; infinities and NaNs apart."""
    s = 0.0
    lost = 0.0
    special = 0.0
    infinite = 0.0
    for value in values:
        v = float(value)
        if not math.isfinite(v):
            if not math.isnan(v):
                infinite += v
            special += v
            continue
        t = s + v
        if abs(s) >= abs(v):
            lost += (s - t) + v
        else:
            lost += (v - t) + s
        s = t
    if special != 0.0:
        if math.isnan(infinite):
            raise ValueError("-inf + inf in fsum")
        return special
    return s + lost


@known("math.prod")
def prod(values):
    """One after the other."""
    if isinstance(values, np.ndarray):
        return values.prod()
    p = 1
    for v in values:
        p = p * v
    return p


@known("math.dist")
def dist(p, q):
    """The root of the sum of squares, which are scaled: only the result may leave float64."""
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    largest, rest = 0.0, 0.0
    for a, b in zip(p, q):
        d = abs(float(a) - float(b))
        largest = d if d > largest else largest
        rest += d - d  # NaN of a NaN, and of an infinity, which counts for more
    if largest == math.inf or rest != rest or largest == 0.0:
        return largest if largest == math.inf else rest + largest
    exponent = math.frexp(largest)[1]
    s = 0.0
    for a, b in zip(p, q):
        d = math.ldexp(float(a) - float(b), -exponent)
        s += d * d
    return math.ldexp(math.sqrt(s), exponent)


@known("math.sumprod")
def sumprod(p, q):
    """One after the other."""
    s = 0
    for a, b in zip(p, q):
        s += a * b
    return s


@known("math.remainder")
def remainder(x, y):
    """x less the nearest multiple of y, even ones where two are as near."""
    x, y = x * 1.0, y * 1.0
    kind = np.result_type(math.fmod(x, y))  # what is computed as float64 is no longer than that
    y = abs(float(y))
    a = abs(float(x))
    m = math.fmod(a, y)
    c = y - m
    if m < c:
        r = m
    elif m > c:
        r = -c
    else:
        r = m - 2.0 * math.fmod(0.5 * (a - m), y)
    r = math.copysign(1.0, x) * r
    return r if kind == np.float64 else kind.type(r)


@known("math.ulp")
def ulp(x):
    """The distance to the next number away from zero."""
    a = abs(float(x))
    if a == math.inf or a != a:
        return a
    if a < 2.2250738585072014e-308:
        return 5e-324
    _, e = frexp(a)
    return ldexp(1.0, max(e - 53, -1074))


@known("math.nextafter")
def nextafter(x, y):
    """One step of a float64's last place."""
    return np.nextafter(np.float64(x), np.float64(y))


@known("cmath.polar")
def polar(z):
    """Size and angle."""
    z = complex(z)
    return abs(z), math.atan2(z.imag, z.real)


@known("cmath.rect")
def rect(r, phi):
    """From size and angle: infinities and NaN as CPython has them."""
    if isinstance(r, complex) or isinstance(phi, complex):
        raise TypeError("must be real number, not complex")
    r, phi = float(r), float(phi)
    if phi == 0.0:
        return complex(r, phi * math.copysign(1.0, r) if r == r else 0.0)
    if abs(phi) == math.inf or phi != phi:
        if r == 0.0:
            return complex(0.0, 0.0)
        return complex(math.inf if abs(r) == math.inf else math.nan, math.nan)
    return complex(r * math.cos(phi), r * math.sin(phi))
