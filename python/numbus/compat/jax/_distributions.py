"""jax.random's distributions of other shapes: by rejection, in lanes of keys, and by inversion.

Marsaglia and Tsang, A simple method for generating gamma variables, 2000; Hoermann, The transformed
rejection method for generating Poisson random variables, 1993; Knuth, The Art of Computer
Programming, volume 2. Keys are used in the order in which JAX uses them.
"""

import math

import numpy

import numbus as nb

from ...core.errors import message
from . import _dtypes
from ._array import Array, as_array, cast, made
from ._random import (
    _float_type,
    _key,
    _mixed,
    _pair,
    _sizes,
    _threefry,
    _unit_of_bits,
    erfinv,
    exponential,
    normal,
    rademacher,
    split,
    uniform,
)
from ._slopes import follow_gamma


def _parameter(x, t):
    """A parameter as an array of type `t`."""
    return as_array(cast(made(x)._a, t))


def _shape_of(op, shape, *parameters):
    own = numpy.broadcast_shapes(*[a.shape for a in parameters])
    if shape is None:
        return own
    shape = _sizes(shape)
    if numpy.broadcast_shapes(shape, own) != shape:
        raise ValueError(
            message(f"jax.random.{op}", "the parameters do not broadcast to the shape", own, shape)
        )
    return shape


# Keys in lanes: (n, 2) words


def _split_lanes(keys, num):
    """`num` keys of each."""
    low = nb.arange(num, dtype=numpy.uint32)
    high = nb.zeros((1,), numpy.uint32)
    x0, x1 = _threefry(keys[:, 0, None], keys[:, 1, None], high, low)
    whole = nb.stack([x0, x1], axis=-1)
    return [whole[:, k] for k in range(num)]


def _lane_uniform(keys, t):
    """A uniform number in [0, 1) of each key."""
    zero = nb.zeros((1,), numpy.uint32)
    high, low = _threefry(keys[:, 0], keys[:, 1], zero, zero)
    return _unit_of_bits(_mixed(high, low, 8 * t.itemsize), t)


def _lane_normal(keys, t):
    low = numpy.nextafter(t.type(-1), t.type(0))
    u = nb.maximum(low, _lane_uniform(keys, t) * (t.type(1) - low) + low)
    return erfinv(as_array(u)) * t.type(math.sqrt(2))


def _gamma(key, a, t, shape, in_logarithms):
    """Numbers of gamma distributions of scale 1, a key for each; or their logarithms."""
    n = math.prod(shape)
    alpha = nb.broadcast_to(a, shape).reshape((n,))
    if n == 0:
        return alpha.reshape(shape)
    keys = nb.stack(_pair(key, (n,)), axis=-1)
    small = alpha < 1
    shifted = nb.where(small, alpha + t.type(1), alpha)
    d = shifted - t.type(1.0 / 3.0)
    c = t.type(1.0 / 3.0) / nb.sqrt(d)
    keys, boost_keys = _split_lanes(keys, 2)
    v3 = nb.ones((n,), t)
    left = numpy.arange(n)  # the lanes that have been rejected so far
    while left.size:
        keys, x_keys, u_keys = _split_lanes(keys, 3)
        x, v = _positive(x_keys, c[left], t)
        squared, cubed = x * x, v * v * v
        u = _lane_uniform(u_keys, t)
        rejected = u >= t.type(1) - t.type(0.0331) * (squared * squared)
        bound = squared * t.type(0.5) + d[left] * ((t.type(1) - cubed) + nb.log(cubed))
        rejected = nb.asarray(rejected & (nb.log(u) >= bound)).to_numpy()
        v3[left] = cubed
        keys, left = keys[rejected], left[rejected]
    if in_logarithms:
        drawn = nb.log1p(-_lane_uniform(boost_keys, t))
        boost = nb.where(small & (drawn != 0), drawn * (t.type(1) / alpha), t.type(0))
        found = (nb.log(d) + nb.log(v3)) + boost
    else:
        drawn = t.type(1) - _lane_uniform(boost_keys, t)
        found = d * v3 * nb.where(small, drawn ** (t.type(1) / alpha), t.type(1))
    return as_array(found).reshape(shape)


def _positive(keys, c, t):
    """Normal numbers x and 1 + c x, drawn again where that is not positive."""
    n = c.size
    x, v = nb.zeros((n,), t), nb.full((n,), -1, t)
    left = numpy.arange(n)
    while left.size:
        keys, drawn = _split_lanes(keys, 2)
        x[left] = as_array(_lane_normal(drawn, t))
        v[left] = t.type(1) + x[left] * c[left]
        again = nb.asarray(v[left] <= 0).to_numpy()
        keys, left = keys[again], left[again]
    return x, v


def _gammas(op, key, a, shape, dtype, in_logarithms):
    t = _float_type(op, dtype)
    a = _parameter(a, t)
    shape = _shape_of(op, shape, a)
    with nb.errstate(all="ignore"):
        found = _gamma(_key(op, key), nb.stop_gradient(a), t, shape, in_logarithms)
    return follow_gamma(found, a, in_logarithms)


def gamma(key, a, shape=None, dtype=None):
    """Numbers of the gamma distribution of shape parameter `a`."""
    return Array(as_array(_gammas("gamma", key, a, shape, dtype, False)))


def loggamma(key, a, shape=None, dtype=None):
    """Logarithms of `gamma`, which do not underflow for small `a`."""
    return Array(as_array(_gammas("loggamma", key, a, shape, dtype, True)))


def beta(key, a, b, shape=None, dtype=None):
    """Numbers of the beta distribution."""
    t = _float_type("beta", dtype)
    a, b = _parameter(a, t), _parameter(b, t)
    shape = _shape_of("beta", shape, a, b)
    key_a, key_b = split(key)
    x, y = (loggamma(k, Array(p), shape, t)._a for k, p in ((key_a, a), (key_b, b)))
    most = nb.maximum(x, y)
    x, y = nb.exp(x - most), nb.exp(y - most)
    return Array(as_array(x / (x + y)))


def dirichlet(key, alpha, shape=None, dtype=None):
    """Vectors of the Dirichlet distribution: positive, with a sum of 1."""
    t = _float_type("dirichlet", dtype)
    alpha = _parameter(alpha, t)
    if alpha.ndim < 1:
        raise ValueError(f"dirichlet requires alpha.ndim >= 1, got alpha.ndim == {alpha.ndim}")
    shape = alpha.shape[:-1] if shape is None else _sizes(shape)
    x = loggamma(key, Array(alpha), (*shape, alpha.shape[-1]), t)._a
    x = nb.exp(x - nb.max(x, axis=-1, keepdims=True))
    return Array(as_array(x / nb.sum(x, axis=-1, keepdims=True)))


def chisquare(key, df, shape=None, dtype=None):
    """Numbers of the chi-square distribution."""
    t = _float_type("chisquare", dtype)
    df = _parameter(df, t)
    shape = _shape_of("chisquare", shape, df)
    return Array(as_array(nb.exp(loggamma(key, Array(df / t.type(2)), shape, t)._a) * t.type(2)))


def f(key, dfnum, dfden, shape=None, dtype=None):
    """Numbers of the F distribution."""
    t = _float_type("f", dtype)
    dfnum, dfden = _parameter(dfnum, t), _parameter(dfden, t)
    shape = _shape_of("f", shape, dfnum, dfden)
    of_den, of_num = split(key)
    above = chisquare(of_num, Array(dfnum), shape, t)._a / dfnum
    return Array(as_array(above / (chisquare(of_den, Array(dfden), shape, t)._a / dfden)))


def t(key, df, shape=(), dtype=None):
    """Numbers of Student's distribution."""
    kind = _float_type("t", dtype)
    df = _parameter(df, kind)
    shape = _shape_of("t", shape, df)
    of_normal, of_gamma = split(key)
    half = as_array(df / kind.type(2))
    drawn = normal(of_normal, shape, kind)._a
    return Array(as_array(drawn * nb.sqrt(half / gamma(of_gamma, Array(half), shape, kind)._a)))


# By inversion and the like


def _uniform(key, shape, t, low=0.0):
    return uniform(key, shape, t, low, 1.0)._a


def cauchy(key, shape=(), dtype=None):
    """Numbers of the Cauchy distribution."""
    kind = _float_type("cauchy", dtype)
    u = _uniform(key, _sizes(shape), kind, float(numpy.finfo(kind).eps))
    return Array(as_array(nb.tan(kind.type(math.pi) * (u - kind.type(0.5)))))


def logistic(key, shape=(), dtype=None):
    """Numbers of the logistic distribution."""
    kind = _float_type("logistic", dtype)
    u = _uniform(key, _sizes(shape), kind, float(numpy.finfo(kind).tiny))
    return Array(as_array(nb.log(u / (kind.type(1) - u))))


def pareto(key, b, shape=None, dtype=None):
    """Numbers of the Pareto distribution."""
    kind = _float_type("pareto", dtype)
    b = as_array(cast(made(b)._a, kind))
    shape = _shape_of("pareto", shape, b)
    return Array(as_array(nb.exp(exponential(key, shape, kind)._a / b)))


def lognormal(key, sigma=1.0, shape=None, dtype=None):
    """Numbers whose logarithms are normal, of standard deviation `sigma`."""
    kind = _float_type("lognormal", dtype)
    sigma = as_array(cast(made(sigma)._a, kind))
    shape = _shape_of("lognormal", shape, sigma)
    return Array(as_array(nb.exp(normal(key, shape, kind)._a * sigma)))


def rayleigh(key, scale, shape=None, dtype=None):
    """Numbers of the Rayleigh distribution."""
    kind = _float_type("rayleigh", dtype)
    scale = as_array(cast(made(scale)._a, kind))
    shape = _shape_of("rayleigh", shape, scale)
    with nb.errstate(divide="ignore"):
        return Array(as_array(scale * nb.sqrt(nb.log(_uniform(key, shape, kind)) * kind.type(-2))))


def weibull_min(key, scale, concentration, shape=(), dtype=None):
    """Numbers of the Weibull distribution."""
    kind = _float_type("weibull_min", dtype)
    scale, power = (as_array(cast(made(x)._a, kind)) for x in (scale, concentration))
    u = _uniform(key, _shape_of("weibull_min", shape, scale, power), kind)
    return Array(as_array((-nb.log1p(-u)) ** (kind.type(1) / power) * scale))


def maxwell(key, shape=(), dtype=None):
    """Numbers of Maxwell's distribution of speeds."""
    kind = _float_type("maxwell", dtype)
    drawn = normal(key, (*_sizes(shape), 3), kind)._a
    return Array(as_array(nb.linalg.norm(drawn, axis=-1)))


def double_sided_maxwell(key, loc, scale, shape=(), dtype=None):
    """Maxwell's distribution with a random sign; the parameters' shape stands at the end."""
    kind = _float_type("double_sided_maxwell", dtype)
    loc, scale = (as_array(cast(made(x)._a, kind)) for x in (loc, scale))
    own = numpy.broadcast_shapes(loc.shape, scale.shape)
    shape = (*(_sizes(shape) or own), *own)
    of_size, of_sign = split(key)
    found = rademacher(of_sign, shape, kind)._a * maxwell(of_size, shape, kind)._a
    return Array(as_array(found * scale + loc))


def wald(key, mean, shape=None, dtype=None):
    """Numbers of the Wald distribution, of scale 1."""
    kind = _float_type("wald", dtype)
    mean = as_array(cast(made(mean)._a, kind))
    shape = _shape_of("wald", shape, mean)
    mean = nb.broadcast_to(mean, shape)
    of_normal, of_uniform = split(key)
    y = nb.square(normal(of_normal, shape, kind)._a)
    z, half = _uniform(of_uniform, shape, kind), kind.type(0.5)
    root = nb.sqrt(kind.type(4) * mean * y + mean * mean * (y * y))
    x = mean + mean * mean * y * half - mean * half * root
    return Array(as_array(nb.where(z <= mean / (mean + x), x, mean * mean / x)))


def triangular(key, left, mode, right, shape=None, dtype=None):
    """Numbers of a triangular density."""
    kind = _float_type("triangular", dtype)
    left, mode, right = (as_array(cast(made(x)._a, kind)) for x in (left, mode, right))
    u = _uniform(key, _shape_of("triangular", shape, left, mode, right), kind)
    width = right - left
    low = left + nb.sqrt(u * width * (mode - left))
    high = right - nb.sqrt((kind.type(1) - u) * width * (right - mode))
    return Array(as_array(nb.where(u < (mode - left) / width, low, high)))


def geometric(key, p, shape=None, dtype=None):
    """How many trials of probability `p` the first success takes."""
    whole = _dtypes.canonical("i8" if dtype is None else dtype)
    if whole.kind not in "iu":
        raise ValueError(
            message("jax.random.geometric", "not an integer dtype", whole, "an integer dtype")
        )
    p = made(p)
    kind = p.dtype if p.dtype.kind == "f" else _float_type("geometric", None)
    chance = as_array(cast(p._a, kind))
    u = _uniform(key, _shape_of("geometric", shape, chance), kind)
    found = nb.floor(nb.log(nb.where(u == 0, kind.type(1), u)) / nb.log1p(-chance)) + kind.type(1)
    return Array(cast(as_array(found), whole))


def poisson(key, lam, shape=None, dtype=None):
    """Integers of the Poisson distribution of mean `lam`."""
    whole = _dtypes.canonical("i8" if dtype is None else dtype)
    if whole.kind not in "iu":
        raise ValueError(
            message("jax.random.poisson", "not an integer dtype", whole, "an integer dtype")
        )
    lam = as_array(cast(made(lam)._a, numpy.dtype("f4")))
    shape = _shape_of("poisson", shape, lam)
    a = _key("poisson", key)
    lam = nb.broadcast_to(lam, shape) + numpy.float32(0)
    with nb.errstate(all="ignore"):
        few = nb.isnan(lam) | (lam < 10)
        small = _few(a, nb.where(few, lam, numpy.float32(0)), shape)
        large = _many(a, nb.where(few, numpy.float32(1e5), lam), shape)
        found = nb.where(few, small, large)
        found = nb.where(lam == 0, 0, nb.where(nb.isnan(lam), -1, found))
    return Array(cast(as_array(nb.asarray(found)), whole))


def _few(key, lam, shape):
    """How many uniform numbers have a product above exp(-lam), each from a key of its own."""
    count = nb.zeros(shape, numpy.int64)
    logarithm = nb.zeros(shape, numpy.float32)
    while bool(nb.any(logarithm > -lam)):
        key, sub = (x._a for x in split(Array(key)))
        count = nb.where(logarithm > -lam, count + 1, count)
        logarithm = logarithm + nb.log(_uniform(Array(sub), shape, numpy.dtype("f4")))
    return count - 1


# Lanczos's approximation (A precision approximation of the gamma function, 1964), g = 7: that of
# XLA, whose rounding decides which numbers are taken.
_LANCZOS = (
    676.520368121885098567009190444019, -1259.13921672240287047156078755283,
    771.3234287776530788486528258894, -176.61502916214059906584551354,
    12.507343278686904814458936853, -0.13857109526572011689554707,
    9.984369578019570859563e-6, 1.50563273514931155834e-7,
)  # fmt: skip


def _log_gamma(x):
    """The logarithm of the gamma function, of float32 numbers of at least 1."""
    one = numpy.float32
    z = x - one(1)
    total = one(0.99999999999980993227684700473478)
    for k, c in enumerate(_LANCZOS):
        total = total + one(c) / (z + one(k + 1))
    shifted = one(7.5) + z
    logarithm = one(math.log(7.5)) + nb.log1p(z / one(7.5))
    root = one(0.5 * math.log(2 * math.pi))
    return ((z + one(0.5)) - shifted / logarithm) * logarithm + (root + nb.log(total))


def _many(key, lam, shape):
    """By transformed rejection."""
    one = numpy.float32
    b = one(0.931) + one(2.53) * nb.sqrt(lam)
    a = one(-0.059) + one(0.02483) * b
    inverse = one(1.1239) + one(1.1328) / (b - one(3.4))
    limit = one(0.9277) - one(3.6224) / (b - one(2))
    found = nb.full(shape, -1, numpy.float32)
    accepted = nb.zeros(shape, bool)
    while not bool(nb.all(accepted)):
        key, first, second = (x._a for x in split(Array(key), 3))
        u = _uniform(Array(first), shape, numpy.dtype("f4")) - one(0.5)
        v = _uniform(Array(second), shape, numpy.dtype("f4"))
        shifted = one(0.5) - nb.abs(u)
        k = nb.floor((one(2) * a / shifted + b) * u + lam + one(0.43))
        left = nb.log(v * inverse / (a / (shifted * shifted) + b))
        right = -lam + k * nb.log(lam) - _log_gamma(k + one(1))
        sure = (shifted >= one(0.07)) & (v <= limit)
        never = (k < 0) | ((shifted < one(0.013)) & (v > shifted))
        accept = sure | (~never & (left <= right))
        found = nb.where(accept, k, found)
        accepted = accepted | accept
    return found


def binomial(key, n, p, shape=None, dtype=None):
    """How many of `n` trials of probability `p` succeed, as floats: NaN where one is NaN or
    negative.
    """
    t = _float_type("binomial", dtype)
    a = _key("binomial", key)
    n, p = made(n), made(p)
    kind = p.dtype if p.dtype.kind == "f" else _dtypes.canonical("f8")
    shape = _shape_of("binomial", shape, n._a, p._a)
    n, p = (nb.broadcast_to(cast(x._a, kind), shape) + kind.type(0) for x in (n, p))
    q = nb.where(p < 0.5, p, 1 - p)
    wrong = nb.isnan(q) | (q < 0)
    invalid = wrong | nb.isnan(n) | (n < 0)
    q = nb.where(wrong, kind.type(0.01), q)
    endless = nb.isinf(n) & (n > 0)
    few = nb.isnan(n) | (n < 0) | endless | (n * q <= 10)
    whole = nb.floor(nb.where(endless, kind.type(0), n))
    with nb.errstate(all="ignore"):
        small = _by_waiting(a, nb.where(few, whole, kind.type(0)), q, shape)
        large = _by_rejection(
            a, nb.where(few, kind.type(1e4), whole), nb.where(few, kind.type(0.5), q), shape
        )
        found = cast(as_array(nb.where(few, small, large)), t)
        found = nb.where((p >= 0.5) & ~invalid, cast(as_array(whole), t) - found, found)
        found = nb.where(invalid, t.type(math.nan), nb.where(endless, t.type(math.inf), found))
    return Array(cast(as_array(found), t))


def multinomial(key, n, p, *, shape=None, dtype=None, unroll=1):
    """How often each outcome comes in `n` trials of the probabilities `p`, as floats: along the
    last axis, the count of each is binomial among the trials that are left.
    """
    if not isinstance(unroll, int):
        raise TypeError(message("jax.random.multinomial", "unroll is no int", unroll, "an int"))
    t = _float_type("multinomial", dtype)
    _key("multinomial", key)
    n, p = made(n), made(p)
    kind = p.dtype if p.dtype.kind == "f" else _dtypes.canonical("f8")
    shape = tuple(p.shape) if shape is None else tuple(shape)
    if not shape or p.shape[-1:] != shape[-1:]:
        raise ValueError(
            message("jax.random.multinomial", "the last axis of shape is not that of p", shape,
                    tuple(p.shape))
        )  # fmt: skip
    left = nb.broadcast_to(cast(n._a, kind), shape[:-1])
    p = nb.broadcast_to(cast(p._a, kind), shape)
    rest = nb.flip(nb.cumsum(nb.flip(p, -1), axis=-1), -1)
    parts = nb.clip(p / nb.where(rest == 0, kind.type(1), rest), 0, 1)
    counts = []
    for k, one in enumerate(split(key, shape[-1])):
        found = binomial(one, Array(as_array(left)), Array(parts[..., k]), dtype=kind)._a
        left = left - found
        counts.append(found)
    return Array(cast(nb.stack(counts, axis=-1), t))


def _by_waiting(key, n, p, shape):
    """Successes as long as the trials until each, which are geometric, are not more than `n`."""
    successes, trials = nb.zeros(shape, p.dtype), nb.zeros(shape, p.dtype)
    fails = nb.log1p(-p)
    while bool(nb.any(trials <= n)):
        sub, key = (x._a for x in split(Array(key)))
        successes = nb.where(trials <= n, successes + 1, successes)
        trials = trials + nb.ceil(nb.log(_uniform(Array(sub), shape, p.dtype)) / fails)
    return successes - 1


# What Stirling's formula lacks of log(k!), k = 0 to 9.
_TAILS = [math.lgamma(k + 1) - (0.5 * math.log(2 * math.pi) + (k + 0.5) * math.log(k + 1) - (k + 1))
          for k in range(10)]  # fmt: skip


def _tail(k):
    """That of all k, by a series above."""
    one = k.dtype.type
    few = nb.minimum(nb.maximum(k, one(0)), one(9))
    square = (few + 1) * (few + 1)
    series = (one(1 / 12) - (one(1 / 360) - one(1 / 1260) / square) / square) / (few + 1)
    known = nb.asarray(numpy.array(_TAILS, k.dtype))[nb.floor(few).astype(numpy.int32)]
    return nb.where(k <= 9, known, series)


def _by_rejection(key, n, p, shape):
    """By transformed rejection (Hörmann, The generation of binomial random variates, 1993)."""
    one = p.dtype.type
    spread = nb.sqrt(n * p * (1 - p))
    b = one(1.15) + one(2.53) * spread
    a = one(-0.0873) + one(0.0248) * b + one(0.01) * p
    centre, limit = n * p + one(0.5), one(0.92) - one(4.2) / b
    odds, alpha = p / (1 - p), (one(2.83) + one(5.1) / b) * spread
    mode = nb.floor((n + 1) * p)
    found, accepted = nb.full(shape, -1, p.dtype), nb.zeros(shape, bool)
    while not bool(nb.all(accepted)):
        key, first, second = (x._a for x in split(Array(key), 3))
        u = _uniform(Array(first), shape, p.dtype) - one(0.5)
        v = _uniform(Array(second), shape, p.dtype)
        shifted = one(0.5) - nb.abs(u)
        sure = (shifted >= one(0.07)) & (v <= limit)
        k = nb.floor((2 * a / shifted + b) * u + centre)
        never = (k < 0) | (k > n)
        left = nb.log(v * alpha / (a / (shifted * shifted) + b))
        right = (mode + one(0.5)) * nb.log((mode + 1) / (odds * (n - mode + 1)))
        right = right + (n + 1) * nb.log((n - mode + 1) / (n - k + 1))
        right = right + (k + one(0.5)) * nb.log(odds * (n - k + 1) / (k + 1))
        right = right + _tail(mode) + _tail(n - mode) - _tail(k) - _tail(n - k)
        accept = sure | (~never & (left <= right))
        found = nb.where(accept, k, found)
        accepted = accepted | accept
    return found


def generalized_normal(key, p, shape=(), dtype=None):
    """Numbers of the density exp(-|x|^p), but for its factor."""
    t = _float_type("generalized_normal", dtype)
    first, second = split(key)
    size = gamma(first, 1 / p, _sizes(shape), t)
    return Array(as_array(rademacher(second, shape, t)._a * size._a ** t.type(1 / p)))


def ball(key, d, p=2, shape=(), dtype=None):
    """Points that are uniform in the unit ball of the p-norm in `d` dimensions."""
    t = _float_type("ball", dtype)
    first, second = split(key)
    x = generalized_normal(first, p, (*_sizes(shape), d), t)._a
    e = exponential(second, shape, t)._a
    length = (nb.sum(nb.abs(x) ** p, axis=-1) + e) ** t.type(1 / p)
    return Array(as_array(x / length[..., None]))


def orthogonal(key, n, shape=(), dtype=None, m=None):
    """Matrices with orthogonal columns, or rows where these are fewer, without a preferred
    direction (Mezzadri, 2007).
    """
    m = n if m is None else m
    z = normal(key, (*_sizes(shape), max(n, m), min(n, m)), dtype)._a
    q, r = nb.linalg.qr(z)
    d = nb.diagonal(r, 0, -2, -1)
    x = q * (d / nb.abs(d))[..., None, :]
    return Array(as_array(nb.swapaxes(x, -1, -2).copy() if n < m else x))
