"""Methods of numpy.random.Generator with NumPy's bits, from its own source of bits.

`g` is the address of the source. Those that np.random has as well stand with its, as "drawn …".
Permutations are Fisher and Yates', samples without repetition Floyd's (Bentley and Floyd, 1987).
"""

import math

import numpy as np

from .._library import c_log1p, known, next_half, not_yet
from .sources import (
    below,
    draw,
    exponential,
    normal,
    refuse_negative,
    under_mask,
    unit,
    unit_single,
    ziggurat_exponential_single,
    ziggurat_normal_single,
)

U64, U32 = np.uint64, np.uint32


def one_unit(g, _a, _b):
    return unit(g)


def one_single(g, _a, _b):
    return unit_single(g)


def one_uniform(g, first, width):
    return first + width * unit(g)


def one_normal(g, mean, deviation):
    return mean + deviation * normal(g)


def one_standard_normal(g, _a, _b):
    return normal(g)


def one_normal_single(g, _a, _b):
    return ziggurat_normal_single(g)


def one_exponential(g, mean, _):
    return mean * exponential(g)


def one_exponential_single(g, _a, _b):
    return ziggurat_exponential_single(g)


def one_inverse(g, _a, _b):
    return -c_log1p(-unit(g))


@known("generator random")
def random(g, size=None, dtype=np.float64):
    """Of [0, 1), float64 or float32."""
    if np.dtype(dtype) == np.float32:
        return draw(g, size, one_single, 0.0, 0.0, np.float32)
    if np.dtype(dtype) != np.float64:
        not_yet("random() of other types than float64 and float32")
    return draw(g, size, one_unit, 0.0, 0.0)


@known("generator uniform")
def uniform(g, low=0.0, high=1.0, size=None):
    """Of [low, high)."""
    first = float(low)
    width = float(high) - first
    if not math.isfinite(width):
        raise OverflowError("high - low range exceeds valid bounds")
    refuse_negative(width, "low > high")
    return draw(g, size, one_uniform, first, width)


@known("generator standard_normal")
def standard_normal(g, size=None, dtype=np.float64):
    """Normal numbers of mean 0 and deviation 1, float64 or float32."""
    if np.dtype(dtype) == np.float32:
        return draw(g, size, one_normal_single, 0.0, 0.0, np.float32)
    if np.dtype(dtype) != np.float64:
        not_yet("standard_normal() of other types than float64 and float32")
    return draw(g, size, one_standard_normal, 0.0, 0.0)


@known("generator normal")
def normal_numbers(g, loc=0.0, scale=1.0, size=None):
    """Normal numbers of that mean and deviation."""
    deviation = float(scale)
    refuse_negative(deviation, "scale < 0")
    return draw(g, size, one_normal, float(loc), deviation)


@known("generator standard_exponential")
def standard_exponential(g, size=None, dtype=np.float64, method="zig"):
    """Exponential numbers of mean 1, float64 or float32; method: 'zig' or 'inv'."""
    if np.dtype(dtype) == np.float32:
        if method != "zig":
            not_yet("standard_exponential() of float32 by another method than 'zig'")
        return draw(g, size, one_exponential_single, 0.0, 0.0, np.float32)
    if np.dtype(dtype) != np.float64:
        not_yet("standard_exponential() of other types than float64 and float32")
    if method == "zig":
        return draw(g, size, one_exponential, 1.0, 0.0)
    return draw(g, size, one_inverse, 0.0, 0.0)


@known("generator exponential")
def exponential_numbers(g, scale=1.0, size=None):
    """Exponential numbers of that mean."""
    mean = float(scale)
    refuse_negative(mean, "scale < 0")
    return draw(g, size, one_exponential, mean, 0.0)


@known("generator integers")
def integers(g, low, high=None, size=None, dtype=np.int64, endpoint=False):
    """Integers of [low, high), or of [0, low), of an integer type or bool; endpoint: high itself is
    one of them.
    """
    if high is None:
        return integers(g, 0, low, size, dtype, endpoint)
    if np.dtype(dtype) == np.uint64:
        return words_between(g, low, high, size, endpoint)
    if np.dtype(dtype) == np.bool_:
        return integers_between(g, low, high, size, np.bool_, endpoint, 0, 1, 1)
    if np.dtype(dtype).kind not in "iu":
        not_yet("integers() of a type that is neither bool nor an integer")
    bits = 8 * np.dtype(dtype).itemsize
    if np.dtype(dtype).kind == "u":
        return integers_between(g, low, high, size, dtype, endpoint, 0, (1 << bits) - 1, bits)
    most = 9223372036854775807 >> (64 - bits)
    return integers_between(g, low, high, size, dtype, endpoint, ~most, most, bits)


def integers_between(g, low, high, size, dtype, endpoint, least, most, bits):
    first, last = int(low), int(high)
    if first < least:
        raise ValueError("low is out of bounds for the type")
    if not endpoint:
        if last <= first:
            raise ValueError("low >= high")
        last -= 1
    if last > most:
        raise ValueError("high is out of bounds for the type")
    if last < first:
        raise ValueError("low > high")
    words = U64(last) - U64(first)
    if bits == 64:
        return draw(g, size, one_integer, first, words, dtype)
    if bits == 32:
        if np.dtype(dtype).kind == "i":
            return draw(g, size, one_of_32, first, words, dtype)
        return draw(g, size, one_unsigned_of_32, first, words, dtype)
    parts = np.zeros(2, U32)
    width = U32(last - first)
    if size is None:
        return as_kind(first + int(below_part(g, width, parts, bits)), dtype)
    out = np.empty(size, dtype)
    flat = out.reshape(-1)
    for i in range(flat.shape[0]):
        flat[i] = as_kind(first + int(below_part(g, width, parts, bits)), dtype)
    return out


def one_integer(g, first, width):
    return np.int64(first) + np.int64(below(g, width))


def one_of_32(g, first, width):
    return np.int32(np.int64(first) + np.int64(below(g, width)))


def one_unsigned_of_32(g, first, width):
    return U32(np.int64(first) + np.int64(below(g, width)))


def as_kind(x, dtype):
    if np.dtype(dtype) == np.bool_:
        return np.bool_(x != 0)
    return np.int64(x).astype(dtype)


def one_word(g, first, width):
    return first + below(g, width)


def words_between(g, low, high, size, endpoint):
    if low < 0:
        raise ValueError("low is out of bounds for uint64")
    first, last = U64(low), U64(high)
    if high < 0 or last < first or (last == first and not endpoint):
        raise ValueError("low >= high")
    if not endpoint:
        last -= U64(1)
    return draw(g, size, one_word, first, last - first, U64)


def next_part(g, parts, bits):
    """An integer of 1, 8 or 16 bits, of which several are made of 32: `parts` is what is left of
    those, and how many.
    """
    if parts[1] == U32(0):
        parts[0] = next_half(g)
        parts[1] = U32(32 // bits - 1)
    else:
        parts[0] >>= U32(bits)
        parts[1] -= U32(1)
    return parts[0] & U32((1 << bits) - 1)


def below_part(g, most, parts, bits):
    """An integer of [0, most], of such parts."""
    if most == U32(0):
        return most
    mask = U32((1 << bits) - 1)
    if most == mask:
        return next_part(g, parts, bits)
    count = most + U32(1)
    product = next_part(g, parts, bits) * count
    if (product & mask) < count:
        least = (mask - most) % count
        while (product & mask) < least:
            product = next_part(g, parts, bits) * count
    return product >> U32(bits)


@known("generator shuffle")
def shuffle(g, x, axis=0):
    """Puts the items of an array, or its parts along an axis, into another order."""
    if x.ndim == 1:
        for i in range(x.shape[0] - 1, 0, -1):
            j = np.int64(under_mask(g, U64(i)))
            x[i], x[j] = x[j], x[i]
    else:
        rows = np.swapaxes(x, 0, axis)
        for i in range(rows.shape[0] - 1, 0, -1):
            j = np.int64(under_mask(g, U64(i)))
            if i != j:
                row = rows[j].copy()
                rows[j] = rows[i]
                rows[i] = row


@known("generator permutation")
def permutation(g, x, axis=0):
    """A shuffled copy; of an integer, the numbers up to it."""
    if isinstance(x, np.ndarray):
        if x.ndim == 1:
            copy = x.copy()
            shuffle(g, copy)
            return copy
        order = np.arange(x.shape[axis])
        shuffle(g, order)
        return np.take(x, order, axis)
    numbers = np.arange(x)
    shuffle(g, numbers)
    return numbers


@known("generator choice")
def choice(g, a, size=None, replace=True, p=None, axis=0, shuffle=True):
    """Items of an array along an axis, or integers up to a number; p: how likely each is."""
    if isinstance(a, np.ndarray):
        at = chosen(g, a.shape[axis], size, replace, p, shuffle)
        if a.ndim == 1:
            return a[at]
        return np.take(a, at, axis)
    return chosen(g, int(a), size, replace, p, shuffle)


def chosen(g, count, size, replace, p, shuffled):
    if count < 1:
        raise ValueError("a must be a positive integer unless no samples are taken")
    if p is None:
        if replace:
            return integers(g, 0, count, size)
        if size is None:
            return sample(g, count, 1, shuffled)[0]
        out = np.empty(size, np.int64)
        expect_enough(count, out.size)
        out.reshape(-1)[:] = sample(g, count, out.size, shuffled)
        return out
    weights = np.asarray(p).astype(np.float64)
    expect_likelihoods(weights, count)
    if replace:
        steps = np.cumsum(weights)
        steps /= steps[-1]
        return np.searchsorted(steps, random(g, size), "right")
    if size is None:
        return sample_weighted(g, weights, 1)[0]
    out = np.empty(size, np.int64)
    expect_enough(count, out.size)
    out.reshape(-1)[:] = sample_weighted(g, weights, out.size)
    return out


def expect_enough(count, size):
    if size > count:
        raise ValueError("Cannot take a larger sample than population when replace is False")


def expect_likelihoods(p, count):
    if p.shape[0] != count:
        raise ValueError("a and p must have same size")
    if np.any(np.isnan(p)):
        raise ValueError("Probabilities contain NaN")
    if np.any(p < 0):
        raise ValueError("Probabilities are not non-negative")
    if abs(np.sum(p) - 1.0) > 1.4901161193847656e-08:
        raise ValueError("Probabilities do not sum to 1.")


def sample_weighted(g, weights, size):
    """Different indices of those likelihoods; those that come twice are drawn again."""
    if np.count_nonzero(weights > 0) < size:
        raise ValueError("Fewer non-zero entries in p than size")
    found = np.empty(size, np.int64)
    taken = np.zeros(weights.shape[0], np.bool_)
    n = 0
    while n < size:
        x = random(g, size - n)
        for k in range(n):
            weights[found[k]] = 0.0
        steps = np.cumsum(weights)
        steps /= steps[-1]
        for k in np.searchsorted(steps, x, "right"):
            if not taken[k]:
                taken[k] = True
                found[n] = k
                n += 1
    return found


def sample(g, count, size, shuffled):
    """Different integers below count: the end of a row that is shuffled there where many are wanted
    of many, else by Floyd's method.
    """
    if count > 10000 and size > count // (50 if shuffled else 20):
        numbers = np.arange(count)
        for i in range(count - 1, max(count - size, 1) - 1, -1):
            j = np.int64(below(g, U64(i)))
            numbers[i], numbers[j] = numbers[j], numbers[i]
        return numbers[count - size :].copy()
    found = np.empty(size, np.int64)
    taken = set()
    for j in range(count - size, count):
        v = int(below(g, U64(j)))
        if v in taken:
            v = j
        taken.add(v)
        found[j - count + size] = v
    if shuffled:
        for i in range(size - 1, 0, -1):
            j = np.int64(below(g, U64(i)))
            found[i], found[j] = found[j], found[i]
    return found
