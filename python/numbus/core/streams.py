"""NumPy's bit generators as streams of words: where one stands, how a routine draws from there on a
device, and the state that this leaves, which is NumPy's.

Bits of a stream come as words of 64, and as halves of them, the lower one first; of a half that was
not drawn yet the generator keeps a note, which the next draw of halves takes, whatever else has
been drawn in between. So the word that the note is of counts as the one before the next here.
"""

import functools
import math

import numpy as np
import numpy.random as numpy_random

from .. import _core

_MODULUS = 1 << 128
PCG64_FACTOR = (2549297995355413924 << 64) + 4865540595714422341
_LOW = (1 << 64) - 1
# Of samples.py: units before a tile that it decodes, too, and that a number takes at most.
_MARGIN, _MOST = 64, 33
# Units of the stream for a number, a little more than on average.
_UNITS = {"normal": 1.0235, "exponential": 1.0355}
MOST = 1 << 35  # numbers, which is less than a routine counts up to


@functools.lru_cache(64)
def pcg64_power(steps):
    """The state after so many steps, which may be negative, is the state times the first number,
    and the increment times the second one, modulo 2**128.
    """
    power = pow(PCG64_FACTOR, steps % _MODULUS, _MODULUS * (PCG64_FACTOR - 1))
    return power % _MODULUS, (power - 1) // (PCG64_FACTOR - 1) % _MODULUS


def _split(x):
    return [x >> 64, x & _LOW]


class _Pcg64:
    name = "pcg64"
    first = 1  # the number of the next word, counted from a tile that has the one before

    def __init__(self, state):
        self.all = state
        self.state, self.increment = state["state"]["state"], state["state"]["inc"]

    def after(self, steps):
        factor, steps_sum = pcg64_power(steps)
        return (self.state * factor + self.increment * steps_sum) % _MODULUS

    def uniform(self, n, dtype):
        given = [*_split(self.after(1)), *_split(self.increment)]
        return _core.draw("pcg64", [*given, self.all["has_uint32"], self.all["uinteger"]], n, dtype)

    def words(self, margin):
        return [*_split(self.after(-margin)), *_split(self.increment)]

    def word(self, k):
        """The k-th of the words that are drawn next, from 1."""
        high, low = _split(self.after(k))
        x, by = high ^ low, high >> 58
        return (x >> by | x << 64 - by) & _LOW

    def leave(self, drawn):
        self.all["state"]["state"] = self.after(drawn)


class _Philox:
    name = "philox"

    def __init__(self, state):
        self.all = state
        self.key = state["state"]["key"]
        counter = state["state"]["counter"].tolist()
        self.at = 4 * sum([word << 64 * k for k, word in enumerate(counter)])
        self.at += state["buffer_pos"]
        self.first = (self.at - 1) % 4 + 1

    def block(self, counter):
        """The words of a counter. NumPy counts up before it makes a block."""
        before = np.array(self.counter_words(counter - 1), np.uint64)
        return numpy_random.Philox(key=self.key, counter=before).random_raw(4)

    def agrees(self):
        """Whether what is left of a block is the stream's: users may have set anything."""
        used = self.all["buffer_pos"]
        there = self.all["buffer"][used:]
        return used == 4 or bool((self.block(self.at // 4)[used:] == there).all())

    @staticmethod
    def counter_words(counter):
        return [counter >> 64 * k & _LOW for k in range(4)]

    def uniform(self, n, dtype):
        """By blocks; what is left of the last one comes first."""
        left = self.all["buffer"][self.all["buffer_pos"] :]
        if dtype.itemsize == 4:
            left = left.view(np.uint32)
            if self.all["has_uint32"]:
                left = np.concatenate([np.array([self.all["uinteger"]], left.dtype), left])
            head = (left >> 8) * np.float32(2**-24)
        else:
            head = (left >> 11) * 2.0**-53
        head = head[:n]
        begin = self.counter_words(-(-self.at // 4))
        made = _core.draw("philox", [*self.key.tolist(), *begin], n - len(head), dtype)
        if not len(head):
            return made
        parts = [_core.from_numpy(head.astype(dtype)), made]
        return _core.concatenate(parts, 0, False, None, "same_kind", None)

    def words(self, margin):
        return [*self.key.tolist(), *self.counter_words((self.at - 1) // 4 - margin // 4)]

    def word(self, k):
        at = self.at + k - 1
        return int(self.block(at // 4)[at % 4])

    def leave(self, drawn):
        if not drawn:
            return
        block, used = divmod(self.at + drawn - 1, 4)
        self.all["state"]["counter"] = np.array(self.counter_words(block), np.uint64)
        self.all["buffer"] = self.block(block)
        self.all["buffer_pos"] = used + 1


def stream_of(bits):
    """Where a bit generator stands; None for those that routines have no stream of."""
    if type(bits) is numpy_random.PCG64:
        return _Pcg64(bits.state)
    if type(bits) is numpy_random.Philox:
        made = _Philox(bits.state)
        return made if made.agrees() else None
    return None


def _leave(bits, stream, end, unit):
    """Has the generator go on after a unit of so many bits, counted from the word before the next
    one's block, or tile.
    """
    if unit == 64:
        stream.leave(end - stream.first)
    else:
        halves = -(-end * unit // 32)
        drawn = (halves - 1) // 2 - stream.first + 1
        if drawn:
            stream.all["uinteger"] = stream.word(drawn) >> 32
        stream.all["has_uint32"] = halves % 2
        stream.leave(drawn)
    bits.state = stream.all


def _begin(stream, unit):
    """The next unit of so many bits; of parts of a half, the first one of the next half."""
    if unit == 64:
        return stream.first
    return (2 * stream.first - stream.all["has_uint32"]) * (32 // unit)


def uniform(bits, n, dtype):
    """n numbers of [0, 1) as Generator(bits).random(n, dtype) gives, or None as `sample`."""
    with bits.lock:
        stream = stream_of(bits)
        if stream is None or n > MOST:
            return None
        made = stream.uniform(n, dtype)
        unit = 8 * dtype.itemsize
        _leave(bits, stream, _begin(stream, unit) + n, unit)
        return made


def _decided(bits, kind, unit, dtype, tail):
    """How many units NumPy takes for the number at a unit, and whether they give one.

    tail: a number follows in any case. Else two units give one, or NumPy goes on after them.
    """
    drawn, counted = type(bits)(0), type(bits)(0)
    for copy in (drawn, counted):
        copy.state = bits.state
        _leave(copy, stream_of(copy), unit, 8 * dtype.itemsize)
    getattr(numpy_random.Generator(drawn), f"standard_{kind}")(dtype=dtype)
    after, one = str(drawn.state), numpy_random.Generator(counted)
    taken = 0
    while str(counted.state) != after and taken <= _MOST:
        one.random(dtype=dtype)
        taken += 1
    if tail:
        return (taken, 1) if taken <= _MOST else None
    return 2, int(taken == 2)


def sample(bits, kind, n, dtype, unit, numbers_per_unit=None, given=(0, 0, 0)):
    """n numbers of a kind of src/routines/gpu_random.h, of units of so many bits of the stream.

    None where they have to be drawn on the host, from the state that is left as it was.

    numbers_per_unit: of integers, the share that is not drawn again; given: their offset, their
    bound and the threshold.
    """
    if kind in _UNITS:
        margin, most = _MARGIN * unit // 64, n * _UNITS[kind] + 4 * math.sqrt(n)
    else:
        share, margin = numbers_per_unit, 0
        most = (n + 8 * math.sqrt(n * (1 - share))) / share
    with bits.lock:
        stream = stream_of(bits)
        if stream is None or n > MOST:
            return None
        state = stream.words(margin)
        begin = _begin(stream, unit)
        state += [begin, stream.first - 1, stream.all["uinteger"] << 32, *given]
        units = begin + int(most) + 256
        made, report = _core.sample(f"{stream.name}_sample", kind, state, n, units, dtype)
        end, doubt = np.asarray(report).tolist()
        if doubt > 0:
            decided = _decided(bits, kind, doubt // 2 - 1, dtype, doubt % 2)
            if decided is None:
                return None
            state[-3:] = [doubt // 2, *decided]
            made, report = _core.sample(f"{stream.name}_sample", kind, state, n, units, dtype)
            end, doubt = np.asarray(report).tolist()
        if end == 0 or doubt:
            return None
        _leave(bits, stream, end, unit)
        return made
