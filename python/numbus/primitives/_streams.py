"""The streams of NumPy's bit generators from any word on, for device kernels.

PCG64 (O'Neill 2014) is a sum of powers: n steps on, its state has grown by a factor that n alone
decides, times what one step adds to it. The factors for the threads of a block and for the digits
of a block's number stand in a table, so that each thread gets where it begins by few products.
Philox (Salmon and others 2011) enciphers a counter, from which any block of four words follows.
"""

import functools

import numpy as np

from .. import cuda
from ..core.streams import PCG64_FACTOR, pcg64_power

THREADS = 256
U32, U64 = np.uint32, np.uint64
LOW = U64(0xFFFFFFFF)
HALF = U64(32)


# PCG64. Numbers of 128 bits are pairs of words, the upper one first.


def _words(numbers):
    return [w for x in numbers for w in (x >> 64, x % (1 << 64))]


LESS_ONE = tuple(U64(w) for w in _words([PCG64_FACTOR - 1]))
STRIDE = tuple(U64(w) for w in _words(pcg64_power(THREADS)))
DIGITS = (1, 2, 3)  # of a block's number, to the base THREADS
PLACES = tuple(U64(8 * k) for k in range(len(DIGITS)))


@functools.cache
def pcg64_jumps(block):
    """Pairs of words, for k below 256: the sums of k steps, of k blocks of so many steps, of
    256 * k, and of 65536 * k of them.
    """
    units = [1, *[block << 8 * k for k in range(len(DIGITS))]]
    sums = [pcg64_power(unit * k)[1] for unit in units for k in range(THREADS)]
    return np.array(_words(sums), np.uint64)


def product(ah, al, bh, bl):
    return cuda.mul_high(al, bl) + ah * bl + al * bh, al * bl


def total(ah, al, bh, bl):
    low = al + bl
    return ah + bh + U64(low < al), low


def jumped(jumps, at, sh, sl, ih, il):
    """The state after the steps of an entry of the table; i: the increment."""
    ah, al = product(sh, sl, LESS_ONE[0], LESS_ONE[1])
    ah, al = total(ah, al, ih, il)
    ah, al = product(ah, al, jumps[2 * at], jumps[2 * at + 1])
    return total(sh, sl, ah, al)


def output(sh, sl):
    """The word of a state: both its words in one, turned by its upper six bits."""
    x, by = sh ^ sl, sh >> U64(58)
    return (x >> by) | (x << ((U64(64) - by) & U64(63)))


def at_block(jumps, block, sh, sl, ih, il):
    """The state at which a block begins, of that at which the first one does."""
    for k in DIGITS:
        digit = np.int64((U64(block) >> PLACES[k - 1]) & U64(255))
        if digit != 0:
            sh, sl = jumped(jumps, 256 * k + digit, sh, sl, ih, il)
    return sh, sl


# Philox.

ROUNDS = 10
M0, M1 = U64(0xD2E7470EE14C6C93), U64(0xCA5A826395121157)
W0, W1 = U64(0x9E3779B97F4A7C15), U64(0xBB67AE8584CAA73B)


def philox_block(c0, c1, c2, c3, k0, k1):
    """The four words of 64 bits of a counter."""
    for _ in range(ROUNDS):
        h0, l0 = cuda.mul_high(M0, c0), M0 * c0
        h1, l1 = cuda.mul_high(M1, c2), M1 * c2
        c0, c1, c2, c3 = h1 ^ c1 ^ k0, l1, h0 ^ c3 ^ k1, l0
        k0 += W0
        k1 += W1
    return c0, c1, c2, c3


def counted(c0, c1, c2, c3, by):
    """A counter of four words, the lowest first, so much later."""
    a0 = c0 + by
    a1 = c1 + U64(a0 < c0)
    a2 = c2 + U64(a1 < c1)
    a3 = c3 + U64(a2 < c2)
    return a0, a1, a2, a3


# Tiles of a stream in shared memory.

STATE = {"pcg64": 4, "philox": 6}  # words of a state


def make_fill(generator, each, step):
    """A function that has a block's threads write 256 * each words of the stream to `words`, from
    the tile's first one on; tiles begin `step` words apart.

    state: of PCG64 the state whose word is the first one of tile 0, and the increment, both the
    upper word first; of Philox the key, and the counter of that word, which begins a block.
    """
    if generator == "pcg64":
        jumps = pcg64_jumps(step)

        def fill(words, tile, state, t):
            begin = cuda.shared.array(2, U64)
            ih, il = state[2], state[3]
            if t == 0:
                begin[0], begin[1] = at_block(jumps, tile, state[0], state[1], ih, il)
            cuda.syncthreads()
            sh, sl = jumped(jumps, t, begin[0], begin[1], ih, il)
            ih, il = product(ih, il, STRIDE[2], STRIDE[3])
            for k in range(each):
                words[t + k * THREADS] = output(sh, sl)
                sh, sl = product(sh, sl, STRIDE[0], STRIDE[1])
                sh, sl = total(sh, sl, ih, il)

        return fill

    def fill(words, tile, state, t):
        for k in range(each // 4):
            at = t + k * THREADS
            c0, c1, c2, c3 = counted(
                state[2], state[3], state[4], state[5], U64(tile * (step // 4) + at)
            )
            w = philox_block(c0, c1, c2, c3, state[0], state[1])
            words[4 * at] = w[0]
            words[4 * at + 1] = w[1]
            words[4 * at + 2] = w[2]
            words[4 * at + 3] = w[3]

    return fill
