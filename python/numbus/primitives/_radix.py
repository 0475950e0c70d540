"""Kernels of radix sorts: passes of eight bits over lines.

radix_count reads the elements once and counts the digits of all passes; radix_starts computes from
the counts where each digit begins in the line. Each pass is then one launch of radix_pass
(radix_pairs, for keys with their indices), which reads and writes each element once. A block takes
the next tile by a ticket and ranks it: each warp counts its digits, and lanes with equal digits
find one another by votes. In shared memory elements of one digit lie side by side, so that they go
out in runs.

Where the runs go depends on the tiles before. Each tile publishes for each digit how many elements
it has, and later how many there are up to its end. A tile adds up what it reads, backwards, until
it reads such a sum (decoupled look-back: Merrill and Garland 2016, Adinets and Merrill 2022). A
tile waits only for tiles of smaller tickets, which have begun, so that the waiting ends in whatever
order blocks run. One word says both the number and its kind, so that no fence is needed.

Lines that are one tile are sorted by one launch: radix_line does all passes in shared memory. Words
of one digit need no passes: radix_fill writes what the counts say.
"""

import numpy as np

from .. import _core, cuda

THREADS = 256  # of all kernels but the passes
DIGITS = 256
ALL = 0xFFFFFFFF
U32, I64 = np.uint32, np.int64
# On a CPU, where only tests run these kernels, less is compiled in less time.
SMALL = _core.get_device() != "auto" and not _core.is_default_gpu()
# Elements that a thread of radix_count reads before it looks at them.
AHEAD = 2 if SMALL else 8
FILLED = 64 * THREADS  # elements of a block of radix_fill
# Tiles that a look-back reads at a time.
BACK = 2 if SMALL else 4


def shape_of(dtype, pairs):
    """The threads of a block of a pass, and the elements of each.

    Two blocks run on a multiprocessor at a time. Measured on an NVIDIA H200.
    """
    if SMALL:
        return 256, 2 if pairs else 3
    if np.dtype(dtype).itemsize == 8:
        return (512, 10) if pairs else (512, 12)
    return (384, 20) if pairs else (512, 16)


def scan_digits(value, sums, t):
    """The sum of the values of the threads before this one, of the first 256; sums: 8 words."""
    total = value
    for distance in (1, 2, 4, 8, 16):
        other = cuda.shfl_up_sync(ALL, total, distance)
        if cuda.laneid >= distance:
            total += other
    if t < DIGITS and cuda.laneid == 31:
        sums[t // 32] = total
    cuda.syncthreads()
    before = U32(0)
    for w in range(DIGITS // 32):
        if w < t // 32:
            before += sums[w]
    return before + total - value


def make_count(words):
    word, digit, mapped, key = words.word, words.digit, words.mapped, words.key
    size = np.dtype(word).itemsize
    # Lanes count in several copies, side by side, so that few meet in a bank or at a digit.
    copies = 4 if size == 8 else 8
    each, each_pass = tuple(range(AHEAD)), tuple(range(size))

    def radix_count(x, bins, n, chunk, blocks, passes, mode, descending):
        """Counts the digits of block b's part of a line; mode: see load_mode in gpu_sort.cpp."""
        counts = cuda.shared.array(size * DIGITS * copies, U32)
        held = cuda.local.array(AHEAD, word)
        t = cuda.threadIdx.x
        for i in range(t, passes * DIGITS * copies, THREADS):
            counts[i] = U32(0)
        cuda.syncthreads()
        b = cuda.blockIdx.x % blocks
        line = cuda.blockIdx.x // blocks
        flip = ~word(0) if descending else word(0)
        own = U32(t % copies)
        begin = b * chunk
        end = min(begin + chunk, n)
        for first in range(begin, end, AHEAD * THREADS):
            at = line * n + first + t
            if first + AHEAD * THREADS <= end:
                for i in each:
                    held[i] = x[at + i * THREADS]
                if mode == 1:
                    for i in each:
                        held[i] = mapped(held[i]) ^ flip
                elif mode == 2:
                    for i in each:
                        held[i] = key(held[i]) ^ flip
                for p in each_pass:
                    if p < passes:
                        for i in each:
                            d = (U32(p * DIGITS) + digit(held[i], p * 8)) * U32(copies) + own
                            cuda.atomic.add(counts, d, 1)
            else:
                for i in range(first + t, end, THREADS):
                    w = x[line * n + i]
                    if mode == 1:
                        w = mapped(w) ^ flip
                    elif mode == 2:
                        w = key(w) ^ flip
                    for p in each_pass:
                        if p < passes:
                            d = (U32(p * DIGITS) + digit(w, p * 8)) * U32(copies) + own
                            cuda.atomic.add(counts, d, 1)
        cuda.syncthreads()
        for i in range(t, passes * DIGITS, THREADS):
            total = U32(0)
            for c in range(copies):
                total += counts[i * copies + c]
            if total != U32(0):
                cuda.atomic.add(bins, line * passes * DIGITS + i, total)

    return radix_count


def make_starts():
    def radix_starts(bins, rows, n):
        """Of a row of digits' counts where each begins in the line; a block a row.

        After the rows stands for each whether one digit is that of all elements.
        """
        sums = cuda.shared.array(DIGITS // 32, U32)
        t = cuda.threadIdx.x
        row = cuda.blockIdx.x
        count = bins[row * DIGITS + t]
        bins[row * DIGITS + t] = scan_digits(count, sums, t)
        alone = cuda.syncthreads_or(count == U32(n))
        if t == 0:
            bins[rows * DIGITS + row] = U32(alone != 0)

    return radix_starts


def make_fill(words):
    word, unmapped = words.word, words.unmapped

    def radix_fill(bins, out, n, blocks, descending):
        """Writes block b's part of a line of words that are one digit; bins: where each begins."""
        begins = cuda.shared.array(DIGITS + 1, U32)
        t = cuda.threadIdx.x
        b = cuda.blockIdx.x % blocks
        line = cuda.blockIdx.x // blocks
        flip = ~word(0) if descending else word(0)
        begins[t] = bins[line * DIGITS + t]
        if t == 0:
            begins[DIGITS] = U32(n)
        cuda.syncthreads()
        i = b * FILLED + t
        end = min(n, (b + 1) * FILLED)
        # The last digit that begins no later.
        d = 0
        for step in (128, 64, 32, 16, 8, 4, 2, 1):
            if begins[d + step] <= U32(i):
                d += step
        while i < end:
            while begins[d + 1] <= U32(i):
                d += 1
            out[line * n + i] = unmapped(word(d) ^ flip)
            i += THREADS

    return radix_fill


class Tiles:
    """What kernels share that rank a tile in shared memory.

    Offsets into that memory, in words of 32 bits: what each warp counts of each digit, from 0 on;
    offsets: what leads from an index in the tile to one in the line; sums, ticket; of the elements
    (word_base, in words of their size) and their indices. bytes: of all of it.
    """

    def __init__(self, words, threads, items, pairs):
        size = np.dtype(words.word).itemsize
        warps, digit = threads // 32, words.digit
        each, each_warp = tuple(range(items)), tuple(range(warps))
        self.offsets = warps * DIGITS
        self.sums = sums = self.offsets + DIGITS
        self.ticket = sums + DIGITS // 32
        begin = sums + 16
        self.word_base = begin * 4 // size
        self.index_base = begin + threads * items * size // 4
        self.bytes = 4 * begin + threads * items * (size + 4 * pairs)

        def clear(shared, t):
            for i in range(t, warps * DIGITS, threads):
                shared[i] = U32(0)

        def rank(keys, ranks, shared, own, shift, used):
            """Of the first `used` words of each thread: how many before it have its digit in the
            warp, which counts them."""
            lower = U32(cuda.lanemask_lt())
            for k in each:
                if k < used:
                    d = digit(keys[k], shift)
                    same = U32(cuda.match_any_sync(ALL, d, 8))
                    before = shared[own + d]
                    mine = U32(cuda.popc(same & lower))
                    cuda.syncwarp()
                    if mine == U32(0):
                        shared[own + d] = before + U32(cuda.popc(same))
                    cuda.syncwarp()
                    ranks[k] = before + mine

        def count(shared, t):
            """How many of digit t the warps have counted."""
            total = U32(0)
            if t < DIGITS:
                for w in each_warp:
                    total += shared[w * DIGITS + t]
            return total

        def starts(shared, total, t):
            """Makes of the counts where each warp's elements go; where digit t's begin."""
            start = scan_digits(total, shared[sums : sums + DIGITS // 32], t)
            if t < DIGITS:
                next_one = start
                for w in each_warp:
                    c = shared[w * DIGITS + t]
                    shared[w * DIGITS + t] = next_one
                    next_one += c
            cuda.syncthreads()
            return start

        def finish(keys, ranks, shared, own, shift, used):
            """Makes of the ranks in the warp those in the tile."""
            for k in each:
                if k < used:
                    ranks[k] += shared[own + digit(keys[k], shift)]

        self.clear, self.rank, self.count = clear, rank, count
        self.starts, self.finish = starts, finish


def make_pass(words, threads, items, pairs):
    """radix_pass, or with `pairs` radix_pairs: words and, with each, an index."""
    word, digit, mapped, unmapped = words.word, words.digit, words.mapped, words.unmapped
    ordered = words.key if pairs else mapped
    tiles_of = Tiles(words, threads, items, pairs)
    word_base, index_base = tiles_of.word_base, tiles_of.index_base
    offsets, ticket_at = tiles_of.offsets, tiles_of.ticket
    clear, rank, count = tiles_of.clear, tiles_of.rank, tiles_of.count
    starts, finish = tiles_of.starts, tiles_of.finish
    tile, of_warp = threads * items, 32 * items
    # What a tile publishes of a digit: 1 and how many elements it has, or up_to and how many there
    # are up to its end. Zero is nothing yet.
    up_to = U32(tile + 2)
    each, each_back = tuple(range(items)), tuple(range(BACK))

    def before_tile(status, at_digit, tiles_before):
        """How many elements of the digit the tiles before this one have."""
        before = U32(0)
        if tiles_before > 0:
            # Several at a time, so that their reads wait together. Where fewer are before this
            # one, the line's first tile is read in their stead; it ends the search.
            found = cuda.local.array(BACK, U32)
            look = at_digit - DIGITS
            lowest = at_digit - tiles_before * DIGITS
            looks = True
            while looks:
                for k in each_back:
                    found[k] = cuda.atomic.load(status, max(look - k * DIGITS, lowest))
                published = True
                for k in each_back:
                    published = published and looks and found[k] != U32(0)
                    if published:
                        looks = found[k] < up_to
                        before += found[k] - (U32(1) if looks else up_to)
                        look -= DIGITS
        return before

    def radix_pass(
        x, x_at, out, out_at, result, bins, status, cleared, tickets, n, tiles, rows, passes,
        which, shift, load, store, descending,
    ):  # fmt: skip
        """Puts the next tile's elements where its digits' lie in the line.

        load, store: whether x holds elements and not yet words, and whether out is to hold these.
        Pairs: with `load` the indices are 0, 1, … and x_at is not read; with `store` they go to
        `result`, as int64, and the words nowhere.
        """
        shared = cuda.shared.array(0, U32)
        staged = cuda.shared.array(0, word)
        keys = cuda.local.array(items, word)
        ranks = cuda.local.array(items, U32)
        t = cuda.threadIdx.x
        own = U32(t // 32 * DIGITS)
        flip = ~word(0) if descending else word(0)
        clear(shared, t)
        if t == 0:
            shared[ticket_at] = cuda.atomic.add(tickets, which, 1)
        cuda.syncthreads()
        ticket = shared[ticket_at]
        row = ticket // U32(tiles)
        tiles_before = I64(ticket - row * U32(tiles))
        line = I64(row) * n
        row = row * U32(passes) + U32(which)
        first = tiles_before * tile
        there = min(I64(tile), n - first)
        mine = t // 32 * of_warp
        here = line + first + mine + cuda.laneid
        left = there - mine - cuda.laneid
        if there == tile:
            if load:
                for k in each:
                    keys[k] = ordered(x[here + k * 32]) ^ flip
            else:
                for k in each:
                    keys[k] = x[here + k * 32]
        else:
            # What is not there is put last.
            for k in each:
                w = ~word(0)
                if k * 32 < left:
                    w = x[here + k * 32]
                    if load:
                        w = ordered(w) ^ flip
                keys[k] = w
        if t < DIGITS:
            cleared[I64(ticket) * DIGITS + t] = U32(0)
        if bins[rows * DIGITS + row] != U32(0):
            # All elements of the line have one digit.
            for k in each:
                if k * 32 < left:
                    w = keys[k]
                    if pairs:
                        at = U32(here + k * 32 - line)
                        if not load:
                            at = x_at[here + k * 32]
                        if store:
                            result[here + k * 32] = at
                        else:
                            out[here + k * 32] = w
                            out_at[here + k * 32] = at
                    else:
                        out[here + k * 32] = unmapped(w ^ flip) if store else w
        else:
            if mine < there:
                rank(keys, ranks, shared, own, shift, items)
            cuda.syncthreads()
            total = count(shared, t)
            at_digit = I64(ticket) * DIGITS + t
            if t < DIGITS:
                if t == DIGITS - 1:
                    # Without what is not there, of the warp that has the end.
                    total -= U32(-there % of_warp)
                cuda.atomic.exch(status, at_digit, total + (U32(1) if tiles_before > 0 else up_to))
            start = starts(shared, total, t)
            if mine < there:
                finish(keys, ranks, shared, own, shift, items)
                for k in each:
                    staged[word_base + ranks[k]] = keys[k]
                if pairs:
                    if load:
                        for k in each:
                            shared[index_base + ranks[k]] = U32(here + k * 32 - line)
                    elif there == tile:
                        indices = cuda.local.array(items, U32)
                        for k in each:
                            indices[k] = x_at[here + k * 32]
                        for k in each:
                            shared[index_base + ranks[k]] = indices[k]
                    else:
                        for k in each:
                            if k * 32 < left:
                                shared[index_base + ranks[k]] = x_at[here + k * 32]
            if t < DIGITS:
                before = before_tile(status, at_digit, tiles_before)
                if tiles_before > 0:
                    cuda.atomic.exch(status, at_digit, before + total + up_to)
                shared[offsets + t] = bins[I64(row) * DIGITS + t] + before - start
            cuda.syncthreads()
            if there == tile:
                for k in each:
                    keys[k] = staged[word_base + t + k * threads]
                for k in each:
                    ranks[k] = shared[offsets + digit(keys[k], shift)] + U32(t + k * threads)
                if not pairs:
                    if store:
                        for k in each:
                            keys[k] = unmapped(keys[k] ^ flip)
                    for k in each:
                        out[line + ranks[k]] = keys[k]
                else:
                    if store:
                        for k in each:
                            result[line + ranks[k]] = shared[index_base + t + k * threads]
                    else:
                        for k in each:
                            out[line + ranks[k]] = keys[k]
                        for k in each:
                            out_at[line + ranks[k]] = shared[index_base + t + k * threads]
            else:
                for i in range(t, there, threads):
                    w = staged[word_base + i]
                    to = shared[offsets + digit(w, shift)] + U32(i)
                    if not pairs:
                        out[line + to] = unmapped(w ^ flip) if store else w
                    elif store:
                        result[line + to] = shared[index_base + i]
                    else:
                        out[line + to] = w
                        out_at[line + to] = shared[index_base + i]

    return radix_pass, tiles_of.bytes


def make_line(words, threads, items, pairs):
    """radix_line, or with `pairs` radix_line_pairs: all passes over a line that is one tile."""
    word, mapped, unmapped = words.word, words.mapped, words.unmapped
    ordered = words.key if pairs else mapped
    tiles_of = Tiles(words, threads, items, pairs)
    word_base, index_base = tiles_of.word_base, tiles_of.index_base
    clear, rank, count = tiles_of.clear, tiles_of.rank, tiles_of.count
    starts, finish = tiles_of.starts, tiles_of.finish
    each = tuple(range(items))

    def radix_line(x, out, result, n, passes, descending):
        """A block sorts a line. out, or result: the elements, or their indices."""
        shared = cuda.shared.array(0, U32)
        staged = cuda.shared.array(0, word)
        keys = cuda.local.array(items, word)
        ranks = cuda.local.array(items, U32)
        indices = cuda.local.array(items if pairs else 1, U32)
        t = cuda.threadIdx.x
        own = U32(t // 32 * DIGITS)
        flip = ~word(0) if descending else word(0)
        used = (n + (threads - 1)) // threads
        mine = t // 32 * 32 * used + cuda.laneid
        here = cuda.blockIdx.x * n + mine
        for k in each:
            # What is not there is put last.
            w = ~word(0)
            if k < used and mine + k * 32 < n:
                w = ordered(x[here + k * 32]) ^ flip
            keys[k] = w
            if pairs:
                indices[k] = U32(mine + k * 32)
        for which in range(passes):
            shift = which * 8
            clear(shared, t)
            cuda.syncthreads()
            rank(keys, ranks, shared, own, shift, used)
            cuda.syncthreads()
            total = count(shared, t)
            there = total
            if t == DIGITS - 1:
                there -= U32(used * threads - n)
            # Nothing moves where all have one digit.
            if not cuda.syncthreads_or(t < DIGITS and there == U32(n)):
                starts(shared, total, t)
                finish(keys, ranks, shared, own, shift, used)
                for k in each:
                    if k < used:
                        staged[word_base + ranks[k]] = keys[k]
                        if pairs:
                            shared[index_base + ranks[k]] = indices[k]
                cuda.syncthreads()
                for k in each:
                    if k < used:
                        keys[k] = staged[word_base + mine + k * 32]
                        if pairs:
                            indices[k] = shared[index_base + mine + k * 32]
        for k in each:
            if k < used and mine + k * 32 < n:
                if pairs:
                    result[here + k * 32] = indices[k]
                else:
                    out[here + k * 32] = unmapped(keys[k] ^ flip)

    return radix_line, tiles_of.bytes
