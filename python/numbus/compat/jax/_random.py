"""What jax.random is made of: numbers that a key determines, with the bits of JAX's own.

Threefry-2x32 of 20 rounds (Salmon, Moraes, Dror and Shaw, Parallel random numbers: as easy as
1, 2, 3, SC 2011), written as array code: it fuses and runs on the device of its arrays.
"""

import math

import numpy

import numbus as nb

from ...core.dtypes import BFLOAT16, kind_of
from ...core.errors import message
from ...nn.init import erfinv
from . import _dtypes
from . import numpy as jnp
from ._array import Array, as_array, cast, made
from ._functions import expect_arrays

_U4 = numpy.dtype("u4")
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = numpy.uint32(0x1BD11BDA)


def _threefry(k0, k1, x0, x1):
    """The cipher of counters (x0, x1) under keys (k0, k1): arrays of uint32 that broadcast."""
    keys = k0, k1, k0 ^ k1 ^ _PARITY
    x0, x1 = x0 + keys[0], x1 + keys[1]
    for group in range(5):
        for r in _ROTATIONS[group % 2]:
            x0 = x0 + x1
            x1 = (x1 << numpy.uint32(r)) | (x1 >> numpy.uint32(32 - r))
            x1 = x1 ^ x0
        x0 = x0 + keys[(group + 1) % 3]
        x1 = x1 + keys[(group + 2) % 3] + numpy.uint32(group + 1)
    return x0, x1


class _KeyType:
    """The dtype of new-style keys."""

    name = "key<fry>"

    def __repr__(self):
        return self.name

    def __eq__(self, other):
        return isinstance(other, _KeyType)

    def __hash__(self):
        return hash(self.name)


class Keys:
    """An array of keys (`jax.random.key`)."""

    dtype = _KeyType()
    weak_type = False

    def __init__(self, a):
        self._key_array = a

    shape = property(lambda self: self._key_array.shape[:-1])
    ndim = property(lambda self: self._key_array.ndim - 1)
    size = property(lambda self: self._key_array.size // 2)

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        if Ellipsis not in index:
            index += (Ellipsis,)
        found = Array(self._key_array)[(*index, slice(None))]
        return Keys(found._a)

    def __len__(self):
        return self.shape[0]

    def __iter__(self):
        return iter([self[k] for k in range(len(self))])

    def reshape(self, *shape):
        """The keys under another shape."""
        shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return Keys(self._key_array.reshape((*_sizes(shape), 2)))

    def block_until_ready(self):
        """The keys, when they have been computed."""
        Array(self._key_array).block_until_ready()
        return self

    def __repr__(self):
        return f"Array({self.shape}, dtype={self.dtype.name}) overlaying:\n{key_data(self)}"


def _sizes(shape):
    shape = (shape,) if isinstance(shape, (int, numpy.integer)) else tuple(shape)
    return tuple([int(n) for n in shape])


def _key(op, key, one=True):
    """The array of a key, shape (2,)."""
    a = key._key_array if isinstance(key, Keys) else None
    if a is None:
        a = made(key)._a if hasattr(key, "dtype") else None
        if a is None or a.dtype != _U4 or a.ndim < 1 or a.shape[-1] != 2:
            got = f"{getattr(key, 'dtype', type(key).__name__)}{getattr(key, 'shape', '')}"
            raise TypeError(message(f"jax.random.{op}", "not a key", got, "jax.random.key(seed)"))
    if one and a.ndim != 1:
        raise ValueError(
            message(f"jax.random.{op}", "accepts a single key", f"a key array of shape "
                    f"{a.shape[:-1]}", "one key (jax.vmap for several)")
        )  # fmt: skip
    return a


def _like(key, a):
    return Keys(a) if isinstance(key, Keys) else Array(a)


def _seeded(seed):
    """The two words of a seed."""
    if isinstance(seed, int):
        if _dtypes.has_x64():
            if not -(2**63) <= seed < 2**64:
                raise OverflowError(message("key", "a seed beyond 64 bits", seed, "an int64"))
        elif not isinstance(seed, bool) and seed >= 2**32:
            seed &= 0xFFFFFFFF
        high = (seed >> 32) & 0xFFFFFFFF if _dtypes.has_x64() else 0
        return nb.array([high, seed & 0xFFFFFFFF], dtype=_U4)
    a = as_array(made(seed)._a)
    if a.ndim or a.dtype.kind not in "iu":
        raise TypeError(
            message("key", "the seed is no integer", f"{a.dtype}{a.shape}", "an integer")
        )
    low = a.astype(_U4) if a.dtype.itemsize <= 4 else (a & 0xFFFFFFFF).astype(_U4)
    high = nb.zeros((), _U4) if a.dtype.itemsize <= 4 else ((a >> 32) & 0xFFFFFFFF).astype(_U4)
    return nb.stack([high, low])


def _implementation(impl):
    if impl not in (None, "threefry2x32"):
        raise NotImplementedError(
            message("jax.random.key", "a generator that is not yet available", impl,
                    "'threefry2x32'")
        )  # fmt: skip


def key(seed, *, impl=None):
    """A key of a seed."""
    _implementation(impl)
    return Keys(_seeded(seed))


def PRNGKey(seed, *, impl=None):
    """A key of a seed, as an array of two uint32."""
    _implementation(impl)
    return Array(_seeded(seed))


def key_data(keys):
    """Keys as an array of uint32."""
    return Array(_key("key_data", keys, False))


def wrap_key_data(key_bits_array, *, impl=None):
    """Keys of an array of uint32 with two at the end of the shape."""
    _implementation(impl)
    return Keys(_key("wrap_key_data", key_bits_array, False))


def clone(key):
    """The key."""
    return key


def key_impl(keys):
    """The name of the generator."""
    return "fry" if isinstance(keys, Keys) else "threefry2x32"


def _counters(shape):
    """The counters of an array: the high and low words of the index of each element."""
    n = math.prod(shape)
    if n > 2**32:
        raise NotImplementedError(
            message("jax.random", "so many numbers are not yet available", n, "at most 2**32")
        )
    low = nb.arange(n, dtype=numpy.int64).astype(_U4).reshape(shape)
    return nb.zeros((), _U4), low


def _pair(a, shape):
    # Of arrays with an axis: NumPy's scalars would warn of sums that wrap.
    high, low = _counters(shape or (1,))
    return [as_array(x).reshape(shape) for x in _threefry(a[0], a[1], high, low)]


def split(key, num=2):
    """`num` new keys, an int or a shape."""
    a = _key("split", key)
    return _like(key, nb.stack(_pair(a, _sizes(num)), axis=-1))


def fold_in(key, data):
    """A key of a key and an integer."""
    a = _key("fold_in", key)
    if isinstance(data, int):
        data = numpy.uint32(data & 0xFFFFFFFF)
    value = as_array(made(data)._a)
    if value.ndim or value.dtype.kind not in "iu":
        raise TypeError(
            message("jax.random.fold_in", "the data is no integer", f"{value.dtype}{value.shape}",
                    "an integer")
        )  # fmt: skip
    found = _threefry(a[0], a[1], nb.zeros((), _U4), value.astype(_U4).reshape(1))
    return _like(key, nb.concatenate(found))


def _bits(a, width, shape):
    return _mixed(*_pair(a, shape), width)


def _mixed(high, low, width):
    if width == 64:
        return (high.astype(numpy.uint64) << numpy.uint64(32)) | low.astype(numpy.uint64)
    mixed = as_array(high ^ low)
    return mixed if width == 32 else mixed.astype(f"u{width // 8}")


def bits(key, shape=(), dtype=None):
    """Random bits: uint32 unless `dtype` says uint8, uint16 or uint64."""
    t = _dtypes.asked("u4" if dtype is None else dtype, "bits")
    if t.kind != "u":
        raise TypeError(message("jax.random.bits", "not an unsigned dtype", t, "uint32"))
    return Array(as_array(_bits(_key("bits", key), 8 * t.itemsize, _sizes(shape))))


def _float_type(op, dtype, short=False):
    t = _dtypes.canonical("f8" if dtype is None else dtype)
    if kind_of(t) != "f":
        raise TypeError(message(f"jax.random.{op}", "not a floating-point dtype", t, "float32"))
    if t == BFLOAT16 and not short:
        raise NotImplementedError(
            message(f"jax.random.{op}", "not yet in this dtype", t, "float32, and .astype")
        )
    return t


def _unit(a, t, shape):
    """Uniform numbers in [0, 1)."""
    if t == BFLOAT16:  # of seven bits, which are drawn as eight
        return cast(as_array((_bits(a, 8, shape) >> numpy.uint8(1)).astype("f4") / 128), t)
    return _unit_of_bits(_bits(a, 8 * t.itemsize, shape), t)


def _unit_of_bits(drawn, t):
    """Numbers in [0, 1) whose mantissas are random bits."""
    info = numpy.finfo(t)
    width = 8 * t.itemsize
    unsigned = numpy.dtype(f"u{t.itemsize}")
    one = unsigned.type(numpy.ones((), t).view(unsigned))
    drawn = (drawn >> unsigned.type(width - info.nmant)) | one
    return as_array(drawn.view(t)) - t.type(1)


def _uniform(a, t, shape, low, high):
    low, high = [x if isinstance(x, (float, numpy.generic)) else cast(as_array(x), t)
                 for x in (low, high)]  # fmt: skip
    if isinstance(low, (float, numpy.generic)) and isinstance(high, (float, numpy.generic)):
        low, high = t.type(low), t.type(high)
    return nb.maximum(low, _unit(a, t, shape) * (high - low) + low)


def _bound(x, t):
    return t.type(x) if isinstance(x, (int, float)) else cast(made(x)._a, t)


def uniform(key, shape=(), dtype=None, minval=0.0, maxval=1.0):
    """Uniform numbers in [minval, maxval)."""
    t = _float_type("uniform", dtype, True)
    shape = _sizes(shape)
    found = _uniform(_key("uniform", key), t, shape, _bound(minval, t), _bound(maxval, t))
    return Array(cast(as_array(found), t))


def _normal(a, t, shape):
    if t == BFLOAT16:
        u = _uniform(a, t, shape, t.type(-0.99609375), t.type(1))
        return cast(erfinv(cast(as_array(u), numpy.dtype("f4"))), t) * t.type(math.sqrt(2))
    low = numpy.nextafter(t.type(-1), t.type(0))
    u = as_array(_uniform(a, t, shape, low, t.type(1)))
    return erfinv(u) * t.type(math.sqrt(2))


def normal(key, shape=(), dtype=None):
    """Numbers of the normal distribution: the inverse error function of uniform ones."""
    t = numpy.dtype(_dtypes.canonical("f8" if dtype is None else dtype))
    shape = _sizes(shape)
    a = _key("normal", key)
    if t.kind == "c":
        real = numpy.zeros((), t).real.dtype
        pair = split(Array(a))
        parts = [_normal(x._a, real, shape) for x in pair]
        return Array(cast(as_array((parts[0] + 1j * parts[1]) / math.sqrt(2)), t))
    return Array(cast(as_array(_normal(a, _float_type("normal", t, True), shape)), t))


def truncated_normal(key, lower, upper, shape=None, dtype=None):
    """Numbers of the normal distribution between bounds."""
    t = _float_type("truncated_normal", dtype)
    lower, upper = [as_array(cast(made(x)._a, t)) for x in (lower, upper)]
    if shape is None:
        shape = numpy.broadcast_shapes(lower.shape, upper.shape)
    from ...functions.special import erf

    root = t.type(math.sqrt(2))
    low, high = as_array(erf(lower / root)), as_array(erf(upper / root))
    u = _uniform(_key("truncated_normal", key), t, _sizes(shape),
                 cast(low, t), cast(high, t))  # fmt: skip
    found = erfinv(as_array(u)) * root
    inside = nb.nextafter(lower, t.type(numpy.inf)), nb.nextafter(upper, t.type(-numpy.inf))
    return Array(cast(as_array(nb.clip(found, *inside)), t))


def randint(key, shape, minval, maxval, dtype=None):
    """Integers in [minval, maxval)."""
    t = _dtypes.canonical("i8" if dtype is None else dtype)
    if t.kind not in "iu":
        raise TypeError(message("jax.random.randint", "not an integer dtype", t, "int32"))
    shape = _sizes(shape)
    pair = [x._a for x in split(Array(_key("randint", key)))]
    info = numpy.iinfo(t)
    # Narrow integers are drawn as int32, where one more than their largest fits.
    drawn = numpy.dtype("i4") if t.itemsize < 4 else t
    most = info.max + 1 if t.itemsize < 4 else info.max
    low, high = [_integer(x, drawn, info.min, most) for x in (minval, maxval)]
    beyond = t.itemsize >= 4 and isinstance(maxval, int) and maxval > info.max
    return Array(cast(_in_range(pair, drawn, shape, low, high, beyond), t))


def _integer(x, t, least, most):
    """A bound of integers, cut to what the type holds."""
    if isinstance(x, int):
        return nb.full((), min(max(x, least), most), dtype=t)
    a = as_array(made(x)._a)
    a = a.astype(numpy.int64) if a.dtype.kind not in "iu" else a
    return as_array(nb.clip(a, max(least, numpy.iinfo(a.dtype).min),
                            min(most, numpy.iinfo(a.dtype).max))).astype(t)  # fmt: skip


def _in_range(pair, t, shape, low, high, beyond):
    """Integers from the remainders of twice as many bits as they have."""
    width = 8 * t.itemsize
    unsigned = numpy.dtype(f"u{t.itemsize}")
    upper, lower = [as_array(_bits(a, width, shape or (1,))) for a in pair]
    span = as_array(high.astype(unsigned) - low.astype(unsigned))
    span = nb.where(high <= low, unsigned.type(1), span)
    if beyond:  # the upper bound is one more than the largest integer
        span = nb.where(high > low, span + unsigned.type(1), span)
    whole = as_array(span == 0)  # all values of the type
    divisor = as_array(nb.where(whole, unsigned.type(1), span)).reshape(span.shape or (1,))
    half = nb.full((1,), 2 ** (width // 2), dtype=unsigned) % divisor
    multiplier = (half * half) % divisor
    offset = ((upper % divisor) * multiplier + lower % divisor) % divisor
    offset = nb.where(whole, lower, offset)
    found = as_array(low.astype(unsigned) + offset).astype(unsigned)
    return found.view(t).reshape(shape)


def bernoulli(key, p=0.5, shape=None, mode="low"):
    """True with probability `p`."""
    if mode != "low":
        raise NotImplementedError(
            message("jax.random.bernoulli", "a mode that is not yet available", mode, "'low'")
        )
    expect_arrays("bernoulli", p)
    chance = made(p)
    t = _float_type("bernoulli", chance.dtype if kind_of(chance.dtype) == "f" else None)
    shape = chance.shape if shape is None else _sizes(shape)
    u = _uniform(_key("bernoulli", key), t, shape, t.type(0), t.type(1))
    return Array(as_array(u < cast(chance._a, t)))


def _shuffled(a, n):
    """A permutation of `n` indices: sorted by random words, often enough to tell them apart."""
    index = nb.arange(n, dtype=numpy.int32)
    rounds = math.ceil(3 * math.log(max(1, n)) / math.log(2**32 - 1))
    for _ in range(rounds):
        pair = split(Array(a))
        a, sub = pair[0]._a, pair[1]._a
        index = index[nb.argsort(_bits(sub, 32, (n,)), kind="stable")]
    return index


def permutation(key, x, axis=0, independent=False):
    """The integers below `x` in random order, or the parts of an array along an axis."""
    a = _key("permutation", key)
    expect_arrays("permutation", x)
    if independent and not isinstance(x, (int, numpy.integer)) and made(x).ndim:
        return _independent(a, made(x), axis)
    if isinstance(x, (int, numpy.integer)) or made(x).ndim == 0:
        return Array(cast(_shuffled(a, int(x)), _dtypes.canonical("i8")))
    x = made(x)
    return Array(as_array(nb.take(x._a, _shuffled(a, x.shape[axis]), axis=axis)))


def _independent(a, x, axis):
    """Each line along an axis in an order of its own."""
    axis %= x.ndim
    rounds = math.ceil(3 * math.log(max(1, x.size)) / math.log(2**32 - 1))
    found = x._a
    for _ in range(rounds):
        pair = split(Array(a))
        a, sub = pair[0]._a, pair[1]._a
        order = nb.argsort(_bits(sub, 32, x.shape), axis=axis, kind="stable")
        found = nb.take_along_axis(found, order, axis=axis)
    return Array(as_array(found))


def gumbel(key, shape=(), dtype=None, mode="low"):
    """Numbers of the Gumbel distribution."""
    if mode not in ("low", None):
        raise NotImplementedError(
            message("jax.random.gumbel", "a mode that is not yet available", mode, "'low'")
        )
    t = _float_type("gumbel", dtype)
    return Array(as_array(_gumbel(_key("gumbel", key), t, _sizes(shape))))


def _gumbel(a, t, shape):
    u = _uniform(a, t, shape, numpy.finfo(t).tiny, t.type(1))
    return -nb.log(-nb.log(u))


def categorical(key, logits, axis=-1, shape=None, replace=True, mode=None):
    """Indices along an axis, with the probabilities of which `logits` are the logarithms."""
    if mode not in (None, "low"):
        raise NotImplementedError(
            message("jax.random.categorical", "mode= is not yet available", mode, "None")
        )
    expect_arrays("categorical", logits)
    x = made(logits)
    t = _float_type("categorical", x.dtype if kind_of(x.dtype) == "f" else None)
    axis = axis % x.ndim
    batch = x.shape[:axis] + x.shape[axis + 1 :]
    shape = batch if shape is None else _sizes(shape)
    if len(shape) < len(batch) or shape[len(shape) - len(batch) :] != batch:
        raise ValueError(
            message("jax.random.categorical", "a shape that does not end as the logits'", shape,
                    f"(…, {', '.join(map(str, batch))})")
        )  # fmt: skip
    ahead = shape[: len(shape) - len(batch)]
    if not replace:
        return _without_replacement(_key("categorical", key), cast(x._a, t), axis, ahead)
    noise_shape = (*ahead, *x.shape[:axis], x.shape[axis], *x.shape[axis + 1 :])
    total = _gumbel(_key("categorical", key), t, noise_shape) + cast(x._a, t)
    return jnp.argmax(Array(as_array(total)), axis=len(ahead) + axis)


def _without_replacement(a, logits, axis, ahead):
    """Different indices along an axis: those of the largest sums with Gumbel's numbers."""
    count, n = math.prod(ahead), logits.shape[axis]
    if count > n:
        raise ValueError(
            f"Number of samples without replacement ({count}) cannot exceed number of "
            f"categories ({n})."
        )
    total = as_array(logits + _gumbel(a, logits.dtype, logits.shape))
    order = nb.argsort(-nb.moveaxis(total, axis, -1), axis=-1, kind="stable")[..., :count]
    order = as_array(nb.moveaxis(order, -1, 0))
    return Array(cast(order.reshape((*ahead, *order.shape[1:])), numpy.dtype("i4")))


def choice(key, a, shape=(), replace=True, p=None, axis=0, mode=None):
    """Elements of `a` (an int: the integers below it), equally or with the probabilities `p`."""
    if mode is not None:
        raise NotImplementedError(
            message("jax.random.choice", "mode= is not yet available", mode, "None")
        )
    expect_arrays("choice", a)
    shape = _sizes(shape)
    k = _key("choice", key)
    whole = isinstance(a, (int, numpy.integer)) or made(a).ndim == 0
    n = int(a) if whole else made(a).shape[axis]
    count = math.prod(shape)
    if n <= 0 and count:
        raise ValueError("a must be greater than 0 unless no samples are taken")
    if not replace and count > n:
        raise ValueError(
            f"Cannot take a larger sample (size {count}) than population (size {n}) when "
            "'replace=False'"
        )
    if p is None:
        if replace:
            index = randint(Array(k), shape, 0, n)._a
        else:
            index = _shuffled(k, n)[:count].reshape(shape)
    else:
        weights = made(p)
        weights = weights if kind_of(weights.dtype) == "f" else weights.astype(float)
        if weights.shape != (n,):
            raise ValueError(
                "p must be None or a 1D vector with the same size as a.shape[axis]. "
                f"p has shape {weights.shape} and a.shape[axis] is {n}."
            )
        t = weights.dtype
        if replace:
            summed = nb.cumsum(weights._a)
            r = summed[-1] * (1 - _uniform(k, t, shape, t.type(0), t.type(1)))
            index = nb.searchsorted(summed, as_array(r))
        else:
            noise = -_gumbel(k, t, (n,)) - nb.log(weights._a)
            index = nb.argsort(noise, kind="stable")[:count].reshape(shape)
    if whole:
        return Array(cast(as_array(index), _dtypes.canonical("i8")))
    return Array(as_array(nb.take(made(a)._a, index, axis=axis)))


def exponential(key, shape=(), dtype=None):
    """Numbers of the exponential distribution."""
    t = _float_type("exponential", dtype)
    u = _uniform(_key("exponential", key), t, _sizes(shape), t.type(0), t.type(1))
    return Array(as_array(-nb.log1p(-u)))


def laplace(key, shape=(), dtype=None):
    """Numbers of the Laplace distribution."""
    t = _float_type("laplace", dtype)
    low = t.type(-1) + numpy.finfo(t).epsneg
    u = _uniform(_key("laplace", key), t, _sizes(shape), low, t.type(1))
    return Array(as_array(nb.sign(u) * nb.log1p(-nb.abs(u))))


def rademacher(key, shape=(), dtype=int):
    """-1 or 1."""
    found = bernoulli(key, 0.5, _sizes(shape))
    t = _dtypes.canonical(dtype)
    return Array(cast(as_array(2 * found._a.astype(t) - 1), t))


def multivariate_normal(key, mean, cov, shape=None, dtype=None, method="cholesky"):
    """Vectors of a normal distribution with a mean and a covariance matrix."""
    if method != "cholesky":
        raise NotImplementedError(
            message("jax.random.multivariate_normal", "a method that is not yet available", method,
                    "'cholesky'")
        )  # fmt: skip
    t = _float_type("multivariate_normal", dtype)
    mean, cov = [as_array(cast(made(x)._a, t)) for x in (mean, cov)]
    batch = numpy.broadcast_shapes(mean.shape[:-1], cov.shape[:-2])
    shape = batch if shape is None else _sizes(shape)
    factor = nb.linalg.cholesky(cov)
    z = normal(key, (*shape, mean.shape[-1]), t)._a
    return Array(as_array(mean + nb.einsum("...ij,...j->...i", factor, z)))
