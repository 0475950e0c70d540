"""Kernels that keep the elements where a mask holds, in their order, or the indices of these.

Each byte of the mask is read once. A block takes the next tile by a ticket. Of each 32 elements a
lane has a word that says which of them are kept. The block publishes how many it keeps, and learns
how many the tiles before it keep from what these have published, 32 of them at a time, back to one
that knows how many are kept up to its end (as the passes of _radix.py do). Then lane k of a warp
takes element k of each 32.
"""

import numpy as np

from .. import cuda
from ._device import INT, add, array
from ._words import WORDS

THREADS = 128
WARPS = THREADS // 32
ROW = 1024  # elements of which a warp's lanes have a word each
ROWS = 2  # of a warp, in a tile
TILE = WARPS * ROWS * ROW
AHEAD = 8  # elements that a thread reads before it writes the first one
ALL = 0xFFFFFFFF
U32, U64, I64 = np.uint32, np.uint64, np.int64
EACH, EACH_ROW = tuple(range(AHEAD)), tuple(range(ROWS))
UP_TO = I64(TILE + 2)
# Of the bytes of a word all bits but the highest, the lowest bit, and what brings these together.
LOW_BITS, LOWEST = U64(0x7F7F7F7F7F7F7F7F), U64(0x0101010101010101)
GATHER = U64(0x0102040810204080)


def not_zero(w):
    """A bit for each byte of a word that is not zero."""
    high = ((w & LOW_BITS) + LOW_BITS) | w
    return U32((((high >> U64(7)) & LOWEST) * GATHER) >> U64(56))


def votes_of(mask, wide, row, n, aligned):
    """Which of the lane's 32 elements of a row are kept; wide: the mask as words, if aligned."""
    lane = cuda.laneid
    bits = U32(0)
    if aligned and row + ROW <= n:
        at = (row >> 3) + lane * 4
        for k in range(4):
            bits |= not_zero(wide[at + k]) << U32(8 * k)
    else:
        for k in range(32):
            i = row + k * 32 + lane
            keep = False
            if i < n:
                keep = mask[i] != 0
            votes = U32(cuda.ballot_sync(ALL, keep))
            if lane == k:
                bits = votes
    return bits


def kept_before(status, tile, up_to):
    """How many elements the tiles before this one keep: for a whole warp.

    What a tile publishes: how many it keeps, and 1, or from `up_to` on how many are kept up to its
    end.
    """
    lane = cuda.laneid
    before = I64(0)
    last = I64(tile) - 1
    while last >= 0:
        # The tile before the first one keeps nothing.
        word = up_to
        if last >= lane:
            word = cuda.atomic.load(status, last - lane)
        sums = U32(cuda.ballot_sync(ALL, word >= up_to))
        wanted = sums ^ (sums - U32(1)) if sums != U32(0) else U32(ALL)
        there = U32(cuda.ballot_sync(ALL, word != 0))
        if (there & wanted) == wanted:
            mine = I64(0)
            if (wanted >> U32(lane)) & U32(1):
                mine = word - (up_to if word >= up_to else I64(1))
            for distance in (16, 8, 4, 2, 1):
                mine += cuda.shfl_xor_sync(ALL, mine, distance)
            before += mine
            last = I64(-1) if sums != U32(0) else last - 32
    return before


def make_compact(word, parts, indices):
    each_part = tuple(range(parts))

    def mask_compact(values, mask, wide, out, kept, status, tickets, n, aligned):
        """out: values where the mask holds, or their indices; kept[0]: how many there are.

        status, tickets: zeros; a word for each tile, and one.
        """
        sums = cuda.shared.array(WARPS, U32)
        shared = cuda.shared.array(2, I64)
        bits = cuda.local.array(ROWS, U32)
        starts = cuda.local.array(ROWS, U32)
        votes = cuda.local.array(AHEAD, U32)
        held = cuda.local.array(AHEAD * parts, word)
        t = cuda.threadIdx.x
        lane = cuda.laneid
        lower = U32(cuda.lanemask_lt())
        own = U32(1) << U32(lane)
        if t == 0:
            shared[0] = I64(cuda.atomic.add(tickets, 0, 1))
        cuda.syncthreads()
        ticket = shared[0]
        first = ticket * TILE + t // 32 * (ROWS * ROW)
        for r in EACH_ROW:
            bits[r] = votes_of(mask, wide, first + r * ROW, n, aligned)
        count = U32(0)
        for r in EACH_ROW:
            keeps = U32(cuda.popc(bits[r]))
            total = keeps
            for distance in (1, 2, 4, 8, 16):
                other = cuda.shfl_up_sync(ALL, total, distance)
                if lane >= distance:
                    total += other
            starts[r] = count + total - keeps
            count += cuda.shfl_sync(ALL, total, 31)
        if lane == 0:
            sums[t // 32] = count
        cuda.syncthreads()
        if t < 32:
            total = U32(0)
            for w in range(WARPS):
                total += sums[w]
            if t == 0 and ticket > 0:
                cuda.atomic.exch(status, ticket, I64(total) + 1)
            before = kept_before(status, ticket, UP_TO)
            if t == 0:
                cuda.atomic.exch(status, ticket, before + I64(total) + UP_TO)
                shared[1] = before
                if (ticket + 1) * TILE >= n:
                    kept[0] = before + I64(total)
        cuda.syncthreads()
        to = shared[1]
        for w in range(WARPS):
            if w < t // 32:
                to += I64(sums[w])
        for r in EACH_ROW:
            for g in range(0, 32, AHEAD):
                i = first + r * ROW + g * 32 + lane
                # All that is read comes before what is written: so that none waits for the other.
                for k in EACH:
                    votes[k] = cuda.shfl_sync(ALL, bits[r], g + k)
                if not indices:
                    for k in EACH:
                        if votes[k] & own:
                            for part in each_part:
                                held[k * parts + part] = values[(i + k * 32) * parts + part]
                for k in EACH:
                    at = to + I64(cuda.shfl_sync(ALL, starts[r], g + k))
                    if votes[k] & own:
                        at += cuda.popc(votes[k] & lower)
                        if indices:
                            out[at] = i + k * 32
                        else:
                            for part in each_part:
                                out[at * parts + part] = held[k * parts + part]

    return mask_compact


def load(name, dtype, word, parts, indices):
    mask, tickets, count = array("uint8"), array("uint32"), array("int64")
    x = array(np.dtype(word))
    out = count if indices else x
    arguments = [x, mask, array("uint64"), out, count, count, tickets, INT, INT]
    kernel = make_compact(word, parts, indices)
    add(name, dtype, kernel, arguments, tile=TILE, threads=THREADS, max_threads=THREADS)


def load_compact(dtype):
    """For all types of an element's size: known by the unsigned type, or complex128."""
    size = np.dtype(dtype).itemsize
    if size == 16:
        load("mask_compact", "complex128", np.uint64, 2, False)
    else:
        load("mask_compact", np.dtype(WORDS[size]), WORDS[size], 1, False)


def load_flatnonzero(dtype="int64"):
    """`dtype`: of the indices."""
    load("mask_indices", dtype, np.uint8, 1, True)
