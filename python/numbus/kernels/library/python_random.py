"""Python's random module, with the numbers that random.seed(n) and its methods give there.

It draws from the state that np.random has in compiled functions, too: who uses both and wants
Python's numbers seeds again in between. Methods as in Python's documentation: Kinderman and Monahan
(1977) for normalvariate, Cheng (1977) and Ahrens and Dieter (1974) for gammavariate, Best and
Fisher (1979) for von Mises.
"""

import math

import numpy as np

from .._library import known, random_bits, random_kept, random_python_seed, random_unit

TWO_PI = 2.0 * math.pi
MAGIC = 4.0 * math.exp(-0.5) / math.sqrt(2.0)
LOG4 = math.log(4.0)


@known("random.seed")
def seed(a):
    """Begins anew; of an integer."""
    random_python_seed(a)


@known("random.random")
def random():
    """Of [0, 1)."""
    return random_unit()


@known("random.getrandbits")
def getrandbits(k):
    """So many random bits, 63 at most."""
    if k < 0 or k > 63:
        raise ValueError("number of bits must be 0 to 63 in a compiled function")
    if k == 0:
        return 0
    if k <= 32:
        return int(random_bits() >> np.uint32(32 - k))
    low = int(random_bits())
    return low | int(random_bits() >> np.uint32(64 - k)) << 32


def below(n):
    bits = 0
    while n >> bits:
        bits += 1
    while True:
        r = getrandbits(bits)
        if r < n:
            return r


@known("random.randrange")
def randrange(start, stop=None, step=1):
    """An item of a range."""
    if stop is None:
        if start <= 0:
            raise ValueError("empty range for randrange()")
        return below(start)
    if step == 0:
        raise ValueError("zero step for randrange()")
    width = stop - start
    n = (width + step - (1 if step > 0 else -1)) // step
    if n <= 0:
        raise ValueError("empty range for randrange()")
    return start + step * below(n)


@known("random.randint")
def randint(a, b):
    """Of a to b, b included."""
    return randrange(a, b + 1)


@known("random.shuffle")
def shuffle(x):
    """In place."""
    for i in range(len(x) - 1, 0, -1):
        j = below(i + 1)
        x[i], x[j] = x[j], x[i]


@known("random.uniform")
def uniform(a, b):
    """Of a to b."""
    return a + (b - a) * random_unit()


@known("random.triangular")
def triangular(low=0.0, high=1.0, mode=None):
    """Between low and high, most often near mode."""
    u = random_unit()
    c = 0.5 if mode is None else (mode - low) / (high - low)
    if u > c:
        return high + (low - high) * math.sqrt((1.0 - u) * (1.0 - c))
    return low + (high - low) * math.sqrt(u * c)


@known("random.gauss")
def gauss(mu=0.0, sigma=1.0):
    """Normal: of each pair, one is kept for the next call."""
    kept = random_kept()
    if kept[0] != 0.0:
        kept[0] = 0.0
        return mu + kept[1] * sigma
    turn = random_unit() * TWO_PI
    radius = math.sqrt(-2.0 * math.log(1.0 - random_unit()))
    kept[0] = 1.0
    kept[1] = math.sin(turn) * radius
    return mu + math.cos(turn) * radius * sigma


@known("random.normalvariate")
def normalvariate(mu=0.0, sigma=1.0):
    """Normal."""
    while True:
        u = random_unit()
        v = 1.0 - random_unit()
        z = MAGIC * (u - 0.5) / v
        if z * z / 4.0 <= -math.log(v):
            return mu + z * sigma


@known("random.lognormvariate")
def lognormvariate(mu, sigma):
    """The exponential of a normal number."""
    return math.exp(normalvariate(mu, sigma))


@known("random.expovariate")
def expovariate(lambd=1.0):
    """Exponential of mean 1 / lambd."""
    return -math.log(1.0 - random_unit()) / lambd


@known("random.vonmisesvariate")
def vonmisesvariate(mu, kappa):
    """Angles around mu."""
    if kappa <= 1e-6:
        return TWO_PI * random_unit()
    s = 0.5 / kappa
    r = s + math.sqrt(1.0 + s * s)
    while True:
        u = random_unit()
        z = math.cos(math.pi * u)
        d = z / (r + z)
        v = random_unit()
        if v < 1.0 - d * d or v <= (1.0 - d) * math.exp(d):
            break
    q = 1.0 / r
    f = (q + z) / (1.0 + q * z)
    if random_unit() > 0.5:
        return (mu + math.acos(f)) % TWO_PI
    return (mu - math.acos(f)) % TWO_PI


@known("random.gammavariate")
def gammavariate(alpha, beta):
    """Gamma numbers of mean alpha * beta."""
    if alpha <= 0.0 or beta <= 0.0:
        raise ValueError("gammavariate: alpha and beta must be > 0.0")
    if alpha > 1.0:
        a = math.sqrt(2.0 * alpha - 1.0)
        b = alpha - LOG4
        c = alpha + a
        while True:
            u = random_unit()
            if not 1e-7 < u < 0.9999999:
                continue
            v = 1.0 - random_unit()
            w = math.log(u / (1.0 - u)) / a
            x = alpha * math.exp(w)
            z = u * u * v
            r = b + c * w - x
            if r + 1.0 + math.log(4.5) - 4.5 * z >= 0.0 or r >= math.log(z):
                return x * beta
    if alpha == 1.0:
        return -math.log(1.0 - random_unit()) * beta
    while True:
        u = random_unit()
        b = (math.e + alpha) / math.e
        p = b * u
        y = p ** (1.0 / alpha) if p <= 1.0 else -math.log((b - p) / alpha)
        w = random_unit()
        if p > 1.0:
            if w <= y ** (alpha - 1.0):
                return y * beta
        elif w <= math.exp(-y):
            return y * beta


@known("random.betavariate")
def betavariate(alpha, beta):
    """Of two gamma numbers."""
    y = gammavariate(alpha, 1.0)
    if y == 0.0:
        return 0.0
    return y / (y + gammavariate(beta, 1.0))


@known("random.paretovariate")
def paretovariate(alpha):
    """Pareto's distribution."""
    u = 1.0 - random_unit()
    return u ** (-1.0 / alpha)


@known("random.weibullvariate")
def weibullvariate(alpha, beta):
    """Weibull's distribution."""
    u = 1.0 - random_unit()
    return alpha * (-math.log(u)) ** (1.0 / beta)
