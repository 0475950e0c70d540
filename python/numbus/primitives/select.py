"""Kernels that find the elements at given ranks of a line without sorting it.

From the highest digit of eleven bits on: select_count counts, for each rank, the digits of the
elements that agree with what is known of the element wanted; select_choose finds its digit. A line
is read once for each digit: twice for 16 bits, three times for 32, six times for 64.
"""

import numpy as np

from .. import cuda
from ._device import INT, add, array
from ._words import words_of

THREADS = 256
WARPS = THREADS // 32
BITS = 11
BINS = 1 << BITS
RANKS = 4  # at a time, as src/routines/gpu_select.cpp has it
AHEAD = 8
ALL = 0xFFFFFFFF
U32 = np.uint32
EACH, EACH_RANK = tuple(range(AHEAD)), tuple(range(RANKS))


def make_count(words):
    word, mapped = words.word, words.mapped
    bits = 8 * np.dtype(word).itemsize
    low = word(min(BINS - 1, 2**bits - 1))  # the bits of a digit
    inside = word(BITS - 1)

    def select_count(x, known, owner, counts, n, chunk, blocks, shift, ranks):
        """counts[line, rank, digit] for the ranks that have no other with the same `known`."""
        near = cuda.shared.array(RANKS * BINS, U32)
        held = cuda.local.array(AHEAD, word)
        wanted = cuda.local.array(RANKS, word)
        t = cuda.threadIdx.x
        line = cuda.blockIdx.x // blocks
        b = cuda.blockIdx.x % blocks
        begin = b * chunk
        end = min(begin + chunk, n)
        for i in range(t, ranks * BINS, THREADS):
            near[i] = U32(0)
        cuda.syncthreads()
        at = word(shift)
        # Of the digits above this one; the highest has none.
        above = ~((word(2) << (at + inside)) - word(1)) if shift + BITS < bits else word(0)
        for r in EACH_RANK:
            # Where another rank counts the same there is nothing that agrees.
            wanted[r] = ~word(0)
            if r < ranks:
                if owner[line * ranks + r] == U32(r):
                    wanted[r] = known[line * ranks + r]
        for first in range(begin, end, AHEAD * THREADS):
            for k in EACH:
                i = first + t + k * THREADS
                held[k] = mapped(x[line * n + i]) if i < end else word(0)
            for k in EACH:
                if first + t + k * THREADS < end:
                    d = U32((held[k] >> at) & low)
                    agrees = held[k] & above
                    for r in EACH_RANK:
                        if agrees == wanted[r]:
                            cuda.atomic.add(near, U32(r * BINS) + d, 1)
        cuda.syncthreads()
        for i in range(t, ranks * BINS, THREADS):
            c = near[i]
            if c != U32(0):
                cuda.atomic.add(counts, line * (ranks * BINS) + i, c)

    return select_count


def make_choose(words):
    word, unmapped = words.word, words.unmapped

    def select_choose(
        counts,
        given,
        wanted,
        known,
        owner,
        next_known,
        next_owner,
        out,
        shift,
        ranks,
        stride,
        first_digit,
        last_digit,
    ):
        """A block a line, a warp a rank: the digit in which the rank lies, by what is before it.

        given: the ranks. wanted: the rank among the elements that agree with `known`, for the next
        digit. out: has `stride` elements a line.
        """
        found = cuda.shared.array(RANKS, word)
        t = cuda.threadIdx.x
        lane = cuda.laneid
        line = cuda.blockIdx.x
        r = t // 32
        if r < ranks:
            at = line * ranks + r
            row = (line * ranks + owner[at]) * BINS
            want = U32(given[r]) if first_digit else wanted[at]
            # Each lane's digits, then which lane, then which of its digits.
            mine = U32(0)
            for k in range(BINS // 32):
                mine += counts[row + lane * (BINS // 32) + k]
            before = mine
            for distance in (1, 2, 4, 8, 16):
                other = cuda.shfl_up_sync(ALL, before, distance)
                if lane >= distance:
                    before += other
            before -= mine
            if before <= want and want < before + mine:
                d = lane * (BINS // 32)
                here = counts[row + d]
                while want >= before + here:
                    before += here
                    d += 1
                    here = counts[row + d]
                wanted[at] = want - before
                k = known[at] | (word(d) << word(shift))
                found[r] = k
                next_known[at] = k
                if last_digit:
                    out[line * stride + r] = unmapped(k)
        cuda.syncthreads()
        if t < ranks:
            first = t
            for r in range(ranks - 1, -1, -1):
                if found[r] == found[t]:
                    first = r
            next_owner[line * ranks + t] = U32(first)

    return select_choose


def load_select(dtype):
    words = words_of(dtype)
    x, u32, i64 = array(np.dtype(words.word)), array("uint32"), array("int64")
    add("select_count", dtype, make_count(words), [x, x, u32, u32, *[INT] * 5])
    add("select_choose", dtype, make_choose(words), [u32, i64, u32, x, u32, x, u32, x, *[INT] * 5])
