"""Elements as unsigned words whose order is that of the elements: what radix sorts look at."""

import functools

import numpy as np

WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


class Words:
    """The words of a dtype, with the functions for kernels that make them.

    word: the unsigned type of the same width.
    mapped(w): the position in the order; NaN loses its sign and comes last, -0.0 just before 0.0.
    unmapped(w): back.
    key(w): like mapped, but equal elements have equal words: all NaN, and -0.0 and 0.0.
    digit(w, shift): its eight bits from `shift` on, as uint32.
    """

    def __init__(self, word, mapped, unmapped, key, digit):
        self.word, self.mapped, self.unmapped = word, mapped, unmapped
        self.key, self.digit = key, digit


def _same(w):
    return w


@functools.cache
def words_of(dtype):
    """The Words of a real dtype."""
    dtype = np.dtype(dtype)
    word = WORDS[dtype.itemsize]
    bits = 8 * dtype.itemsize
    sign = word(1 << (bits - 1))
    ones = word((1 << bits) - 1)
    if bits == 64:

        def digit(w, shift):
            return np.uint32((w >> np.uint64(shift & 63)) & np.uint64(255))

    else:

        def digit(w, shift):
            return (np.uint32(w) >> np.uint32(shift & 31)) & np.uint32(255)

    if dtype.kind in "bu":
        return Words(word, _same, _same, _same, digit)
    if dtype.kind == "i":

        def signed(w):
            return w ^ sign

        return Words(word, signed, signed, signed, digit)

    magnitude = word((1 << (bits - 1)) - 1)
    infinity = word(int(np.array(np.inf, dtype).view(word)))
    zero = word(0)

    def ordered(w):
        return w ^ (ones if (w & sign) != zero else sign)

    def mapped(w):
        return ordered(w & magnitude if (w & magnitude) > infinity else w)

    def unmapped(w):
        return w ^ (sign if (w & sign) != zero else ones)

    def key(w):
        k = ordered(zero if w == sign else w)
        return ones if (w & magnitude) > infinity else k

    return Words(word, mapped, unmapped, key, digit)
