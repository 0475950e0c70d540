"""Methods of numpy.random.Generator with NumPy's bits, from its own source of bits.

`g` is the address of the source. Numbers below a bound are Lemire's (Fast Random Integer Generation
in an Interval, 2019), normal and exponential ones Marsaglia and Tsang's ziggurats (2000), as
kernels/_ziggurat.py has them.
"""

import math

import numpy as np

from .. import _ziggurat
from .._library import c_exp, c_log1p, known, next_half, next_unit, next_word

NORMAL_LIMITS, NORMAL_WIDTHS, NORMAL_HEIGHTS = _ziggurat.tables("normal", "float64")
LIMITS, WIDTHS, HEIGHTS = _ziggurat.tables("exponential", "float64")
NORMAL_TAIL, TAIL = float(_ziggurat.NORMAL_TAIL), float(_ziggurat.EXPONENTIAL_TAIL)
NORMAL_INVERSE = 1 / NORMAL_TAIL
U64, U32 = np.uint64, np.uint32


def one_normal(g):
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


def one_exponential(g):
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


def below(g, most):
    """An integer of [0, most], of uint64."""
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


@known("generator random")
def random(g, size=None):
    """Of [0, 1)."""
    if size is None:
        return next_unit(g)
    out = np.empty(size)
    flat = out.reshape(-1)
    for i in range(flat.shape[0]):
        flat[i] = next_unit(g)
    return out


@known("generator uniform")
def uniform(g, low=0.0, high=1.0, size=None):
    """Of [low, high)."""
    first = float(low)
    width = float(high) - first
    if not math.isfinite(width):
        raise OverflowError("high - low range exceeds valid bounds")
    if width < 0 or (width == 0 and math.copysign(1.0, width) < 0):
        raise ValueError("low > high")
    if size is None:
        return first + width * next_unit(g)
    out = np.empty(size)
    flat = out.reshape(-1)
    for i in range(flat.shape[0]):
        flat[i] = first + width * next_unit(g)
    return out


@known("generator standard_normal")
def standard_normal(g, size=None):
    """Normal numbers of mean 0 and deviation 1."""
    if size is None:
        return one_normal(g)
    out = np.empty(size)
    flat = out.reshape(-1)
    for i in range(flat.shape[0]):
        flat[i] = one_normal(g)
    return out


@known("generator normal")
def normal(g, loc=0.0, scale=1.0, size=None):
    """Normal numbers of that mean and deviation."""
    mean, deviation = float(loc), float(scale)
    if deviation < 0 or (deviation == 0 and math.copysign(1.0, deviation) < 0):
        raise ValueError("scale < 0")
    if size is None:
        return mean + deviation * one_normal(g)
    out = np.empty(size)
    flat = out.reshape(-1)
    for i in range(flat.shape[0]):
        flat[i] = mean + deviation * one_normal(g)
    return out


@known("generator standard_exponential")
def standard_exponential(g, size=None):
    """Exponential numbers of mean 1."""
    if size is None:
        return one_exponential(g)
    out = np.empty(size)
    flat = out.reshape(-1)
    for i in range(flat.shape[0]):
        flat[i] = one_exponential(g)
    return out


@known("generator exponential")
def exponential(g, scale=1.0, size=None):
    """Exponential numbers of that mean."""
    mean = float(scale)
    if mean < 0 or (mean == 0 and math.copysign(1.0, mean) < 0):
        raise ValueError("scale < 0")
    if size is None:
        return mean * one_exponential(g)
    out = np.empty(size)
    flat = out.reshape(-1)
    for i in range(flat.shape[0]):
        flat[i] = mean * one_exponential(g)
    return out


@known("generator integers")
def integers(g, low, high=None, size=None):
    """Integers of [low, high), or of [0, low), of int64."""
    if high is None:
        return integers(g, 0, low, size)
    first, last = int(low), int(high) - 1
    if last < first:
        raise ValueError("low >= high")
    most = U64(last) - U64(first)
    if size is None:
        return first + np.int64(below(g, most))
    out = np.empty(size, np.int64)
    flat = out.reshape(-1)
    for i in range(flat.shape[0]):
        flat[i] = first + np.int64(below(g, most))
    return out
