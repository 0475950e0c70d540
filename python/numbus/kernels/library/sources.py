"""Where random numbers come from: `g` is the address of a numpy.random.Generator's source of bits,
or None, the state that np.random has in compiled functions.

Numbers below a bound are Lemire's (Fast Random Integer Generation in an Interval, 2019), normal and
exponential ones of a Generator Marsaglia and Tsang's ziggurats (2000), as kernels/_ziggurat.py has
them.
"""

import math

import numpy as np

from .. import _ziggurat
from .._library import (
    c_exp,
    c_expf,
    c_log1p,
    c_log1pf,
    next_half,
    next_unit,
    next_word,
    random_bits,
    random_kept,
    random_unit,
)

NORMAL_LIMITS, NORMAL_WIDTHS, NORMAL_HEIGHTS = _ziggurat.tables("normal", "float64")
LIMITS, WIDTHS, HEIGHTS = _ziggurat.tables("exponential", "float64")
NORMAL_LIMITS_F, NORMAL_WIDTHS_F, NORMAL_HEIGHTS_F = _ziggurat.tables("normal", "float32")
LIMITS_F, WIDTHS_F, HEIGHTS_F = _ziggurat.tables("exponential", "float32")
NORMAL_TAIL, TAIL = float(_ziggurat.NORMAL_TAIL), float(_ziggurat.EXPONENTIAL_TAIL)
NORMAL_INVERSE = 1 / NORMAL_TAIL
NORMAL_TAIL_F, TAIL_F = np.float32(NORMAL_TAIL), np.float32(TAIL)
NORMAL_INVERSE_F = np.float32(NORMAL_INVERSE)
U64, U32, F32 = np.uint64, np.uint32, np.float32


def draw(g, size, one, a, b, dtype=np.float64):
    """What one(g, a, b) gives, or an array of such numbers."""
    if size is None:
        return one(g, a, b)
    out = np.empty(size, dtype)
    flat = out.reshape(-1)
    for i in range(flat.shape[0]):
        flat[i] = one(g, a, b)
    return out


def refuse_negative(x, message):
    """Raises ValueError for a number with the sign of a negative one, as NumPy does."""
    if x < 0 or (x == 0 and math.copysign(1.0, x) < 0):
        raise ValueError(message)


def unit(g):
    """Of [0, 1)."""
    if g is None:
        return random_unit()
    return next_unit(g)


def unit_single(g):
    """The same of float32."""
    return F32(next_half(g) >> U32(8)) * F32(1.0 / 16777216.0)


def normal(g):
    """Of mean 0 and deviation 1."""
    if g is None:
        return gauss()
    return ziggurat_normal(g)


def exponential(g):
    """Of mean 1."""
    if g is None:
        return -c_log1p(-random_unit())
    return ziggurat_exponential(g)


def gauss():
    """A standard normal number: of each pair, one is kept for the next call."""
    kept = random_kept()
    if kept[0] != 0.0:
        kept[0] = 0.0
        return kept[1]
    while True:
        x = 2.0 * random_unit() - 1.0
        y = 2.0 * random_unit() - 1.0
        r = x * x + y * y
        if r < 1.0 and r != 0.0:
            break
    f = math.sqrt(-2.0 * math.log(r) / r)
    kept[0] = 1.0
    kept[1] = f * x
    return f * y


def ziggurat_normal(g):
    while True:
        r = next_word(g)
        strip = np.int64(r & U64(255))
        r = r >> U64(8)
        integer = (r >> U64(1)) & U64(0xFFFFFFFFFFFFF)
        x = np.float64(integer) * NORMAL_WIDTHS[strip]
        if r & U64(1):
            x = -x
        if integer < NORMAL_LIMITS[strip]:
            return x
        if strip == 0:
            while True:
                a = -NORMAL_INVERSE * c_log1p(-next_unit(g))
                b = -c_log1p(-next_unit(g))
                if b + b > a * a:
                    break
            if (integer >> U64(8)) & U64(1):
                return -(NORMAL_TAIL + a)
            return NORMAL_TAIL + a
        low, high = NORMAL_HEIGHTS[strip], NORMAL_HEIGHTS[strip - 1]
        if (high - low) * next_unit(g) + low < c_exp(-0.5 * x * x):
            return x


def ziggurat_normal_single(g):
    """The same of float32, of 32 bits a try."""
    while True:
        r = next_half(g)
        strip = np.int64(r & U32(255))
        integer = (r >> U32(9)) & U32(0x7FFFFF)
        x = F32(integer) * NORMAL_WIDTHS_F[strip]
        if (r >> U32(8)) & U32(1):
            x = -x
        if integer < NORMAL_LIMITS_F[strip]:
            return x
        if strip == 0:
            while True:
                a = -NORMAL_INVERSE_F * c_log1pf(-unit_single(g))
                b = -c_log1pf(-unit_single(g))
                if b + b > a * a:
                    break
            if (integer >> U32(8)) & U32(1):
                return -(NORMAL_TAIL_F + a)
            return NORMAL_TAIL_F + a
        low, high = NORMAL_HEIGHTS_F[strip], NORMAL_HEIGHTS_F[strip - 1]
        wide = np.float64(x)
        if np.float64((high - low) * unit_single(g) + low) < c_exp(-0.5 * wide * wide):
            return x


def ziggurat_exponential(g):
    while True:
        r = next_word(g) >> U64(3)
        strip = np.int64(r & U64(255))
        r = r >> U64(8)
        x = np.float64(r) * WIDTHS[strip]
        if r < LIMITS[strip]:
            return x
        if strip == 0:
            return TAIL - c_log1p(-next_unit(g))
        low, high = HEIGHTS[strip], HEIGHTS[strip - 1]
        if (high - low) * next_unit(g) + low < c_exp(-x):
            return x


def ziggurat_exponential_single(g):
    """The same of float32, of 32 bits a try."""
    while True:
        r = next_half(g) >> U32(1)
        strip = np.int64(r & U32(255))
        r = r >> U32(8)
        x = F32(r) * WIDTHS_F[strip]
        if r < LIMITS_F[strip]:
            return x
        if strip == 0:
            return TAIL_F - c_log1pf(-unit_single(g))
        low, high = HEIGHTS_F[strip], HEIGHTS_F[strip - 1]
        if (high - low) * unit_single(g) + low < c_expf(-x):
            return x


def under_mask(g, most):
    """An integer of [0, most], of uint64: bits under a mask until one fits."""
    if most == U64(0):
        return most
    mask = most
    mask |= mask >> U64(1)
    mask |= mask >> U64(2)
    mask |= mask >> U64(4)
    mask |= mask >> U64(8)
    mask |= mask >> U64(16)
    mask |= mask >> U64(32)
    while True:
        v = bits_for(g, most) & mask
        if v <= most:
            return v


def bits_for(g, most):
    """As many bits as that has, or more."""
    if g is not None:
        return U64(next_half(g)) if most <= U64(0xFFFFFFFF) else next_word(g)
    v = U64(random_bits())
    if most > U64(0xFFFFFFFF):
        v = v << U64(32) | U64(random_bits())
    return v


def below(g, most):
    """An integer of [0, most], of uint64, from a Generator."""
    if most == U64(0):
        return most
    if most == U64(0xFFFFFFFFFFFFFFFF):
        return next_word(g)
    if most == U64(0xFFFFFFFF):
        return U64(next_half(g))
    count = most + U64(1)
    if most < U64(0xFFFFFFFF):
        product = U64(next_half(g)) * count
        left = product & U64(0xFFFFFFFF)
        if left < count:
            least = (U64(0xFFFFFFFF) - most) % count
            while left < least:
                product = U64(next_half(g)) * count
                left = product & U64(0xFFFFFFFF)
        return product >> U64(32)
    high, low = product_of(next_word(g), count)
    if low < count:
        least = (U64(0xFFFFFFFFFFFFFFFF) - most) % count
        while low < least:
            high, low = product_of(next_word(g), count)
    return high


def product_of(a, b):
    """The upper and the lower 64 bits of a product."""
    half = U64(0xFFFFFFFF)
    a0, a1, b0, b1 = a & half, a >> U64(32), b & half, b >> U64(32)
    middle = a1 * b0 + (a0 * b0 >> U64(32))
    other = a0 * b1 + (middle & half)
    return a1 * b1 + (middle >> U64(32)) + (other >> U64(32)), a * b
