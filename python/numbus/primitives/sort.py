"""Kernels of sorts: radix passes of eight bits over long lines, a network for short ones.

radix_count reads the elements once and counts the digits of all passes; radix_starts computes from
the counts where each digit begins in the line. Each pass is then one launch of radix_pass
(radix_pairs, for keys with their indices), which reads and writes each element once. A block takes
the next tile by a ticket and ranks it: each warp counts its digits, and lanes with equal digits find
one another by votes. In shared memory elements of one digit lie side by side, so that they go out
in runs.

Where the runs go depends on the tiles before. Each tile publishes for each digit how many elements
it has, and later how many there are up to its end. A tile adds up what it reads, backwards, until
it reads such a sum (decoupled look-back: Merrill and Garland 2016, Adinets and Merrill 2022). A
tile waits only for tiles of smaller tickets, which have begun, so that the waiting ends in whatever
order blocks run. One word says both the number and its kind, so that no fence is needed.
"""

import numpy as np

from .. import _core, cuda
from ._device import INT, add, array
from ._words import words_of

THREADS = 256  # of all kernels but the passes
DIGITS = 256
ALL = 0xFFFFFFFF
U32, I64 = np.uint32, np.int64
SHORT = 2048  # elements of a block of short lines: the longest of them
# On a CPU, where only tests run these kernels, less is compiled in less time.
SMALL = not _core.is_default_gpu()
# Elements that a thread of radix_count reads before it looks at them.
AHEAD = 2 if SMALL else 8
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


def make_pass(words, threads, items, pairs):
    """radix_pass, or with `pairs` radix_pairs: words and, with each, an index."""
    word, digit, mapped, unmapped = words.word, words.digit, words.mapped, words.unmapped
    ordered = words.key if pairs else mapped
    size = np.dtype(word).itemsize
    warps, tile, of_warp = threads // 32, threads * items, 32 * items
    # What a tile publishes of a digit: 1 and how many elements it has, or up_to and how many there
    # are up to its end. Zero is nothing yet.
    up_to = U32(tile + 2)
    each, each_warp, each_back = tuple(range(items)), tuple(range(warps)), tuple(range(BACK))
    # Shared memory, in words of 32 bits: what each warp counts of each digit, what leads from an
    # index in the tile to one in the line, sums, the ticket, the elements, their indices.
    offsets = warps * DIGITS
    sums = offsets + DIGITS
    begin = sums + 16
    word_base = begin * 4 // size
    index_base = begin + tile * size // 4

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
        lower = U32(cuda.lanemask_lt())
        flip = ~word(0) if descending else word(0)
        for i in range(t, warps * DIGITS, threads):
            shared[i] = U32(0)
        if t == 0:
            shared[sums + 8] = cuda.atomic.add(tickets, which, 1)
        cuda.syncthreads()
        ticket = shared[sums + 8]
        row = ticket // U32(tiles)
        first = I64(ticket - row * U32(tiles)) * tile
        line = I64(row) * n
        row = row * U32(passes) + U32(which)
        there = min(I64(tile), n - first)
        mine = t // 32 * of_warp
        here = line + first + mine + cuda.laneid
        left = there - mine - cuda.laneid
        if there == tile:
            for k in each:
                keys[k] = x[here + k * 32]
            if load:
                for k in each:
                    keys[k] = ordered(keys[k]) ^ flip
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
                for k in each:
                    slot = own + digit(keys[k], shift)
                    same = U32(cuda.match_any_sync(ALL, digit(keys[k], shift), 8))
                    before = shared[slot]
                    rank = U32(cuda.popc(same & lower))
                    cuda.syncwarp()
                    if rank == U32(0):
                        shared[slot] = before + U32(cuda.popc(same))
                    cuda.syncwarp()
                    ranks[k] = before + rank
            cuda.syncthreads()
            total = U32(0)
            at_digit = I64(ticket) * DIGITS + t
            if t < DIGITS:
                for w in each_warp:
                    total += shared[w * DIGITS + t]
                if t == DIGITS - 1:
                    # Without what is not there, of the warp that has the end.
                    total -= U32(-there % of_warp)
                cuda.atomic.exch(status, at_digit, total + (U32(1) if first else up_to))
            start = scan_digits(total, shared[sums : sums + 8], t)
            if t < DIGITS:
                next_one = start
                for w in each_warp:
                    c = shared[w * DIGITS + t]
                    shared[w * DIGITS + t] = next_one
                    next_one += c
            cuda.syncthreads()
            if mine < there:
                for k in each:
                    ranks[k] += shared[own + digit(keys[k], shift)]
                for k in each:
                    staged[word_base + ranks[k]] = keys[k]
                if pairs:
                    if load:
                        for k in each:
                            shared[index_base + ranks[k]] = U32(here + k * 32 - line)
                    elif there == tile:
                        held = cuda.local.array(items, U32)
                        for k in each:
                            held[k] = x_at[here + k * 32]
                        for k in each:
                            shared[index_base + ranks[k]] = held[k]
                    else:
                        for k in each:
                            if k * 32 < left:
                                shared[index_base + ranks[k]] = x_at[here + k * 32]
            if t < DIGITS:
                before = U32(0)
                if first:
                    # Several at a time, so that their reads wait together. Where fewer are before
                    # this one, the line's first tile is read in their stead; it ends the search.
                    found = cuda.local.array(BACK, U32)
                    look = at_digit - DIGITS
                    lowest = at_digit - first // tile * DIGITS
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

    return radix_pass, 4 * begin + tile * (size + 4 * pairs)


def make_short(words, pairs):
    """sort_short, or with `pairs` argsort_short: Batcher's bitonic network in shared memory."""
    word, unmapped = words.word, words.unmapped
    ordered = words.key if pairs else words.mapped

    def after(a, i, b, j):
        """Whether the word a at i comes after b at j."""
        if pairs:
            return a > b or (a == b and i > j)
        return a > b

    def sort_short(x, out, result, n, total, levels, descending):
        """A block sorts several lines, each with room for 2**levels elements.

        out, or result: the elements, or their indices. What is not there comes last.
        """
        keys = cuda.shared.array(SHORT, word)
        at = cuda.shared.array(SHORT if pairs else 1, U32)
        t = cuda.threadIdx.x
        flip = ~word(0) if descending else word(0)
        inside = (1 << levels) - 1
        first = cuda.blockIdx.x * (SHORT >> levels)  # line
        for e in range(t, SHORT, THREADS):
            i = (first + (e >> levels)) * n + (e & inside)
            w = ~word(0)
            if (e & inside) < n and i < total:
                w = ordered(x[i]) ^ flip
            keys[e] = w
            if pairs:
                at[e] = U32(e & inside)
        cuda.syncthreads()
        for merge in range(levels):
            for step in range(merge, -1, -1):
                apart = U32(1) << U32(step)
                for e in range(t, SHORT // 2, THREADS):
                    # The lower one of a pair; pairs of every second run are put in reverse order.
                    low = (U32(e) << U32(1)) - (U32(e) & (apart - U32(1)))
                    high = low + apart
                    back = ((low & U32(inside)) >> U32(merge + 1)) & U32(1)
                    a, b = keys[low], keys[high]
                    i, j = U32(0), U32(0)
                    if pairs:
                        i, j = at[low], at[high]
                    if after(b, j, a, i) if back != U32(0) else after(a, i, b, j):
                        keys[low] = b
                        keys[high] = a
                        if pairs:
                            at[low] = j
                            at[high] = i
                cuda.syncthreads()
        for e in range(t, SHORT, THREADS):
            i = (first + (e >> levels)) * n + (e & inside)
            if (e & inside) < n and i < total:
                if pairs:
                    result[i] = at[e]
                else:
                    out[i] = unmapped(keys[e] ^ flip)

    return sort_short


def make_complex_words(words):
    word, key = words.word, words.key
    bits = 8 * np.dtype(word).itemsize
    infinity = word(int(np.array(np.inf, f"float{bits}").view(word)))
    magnitude = word(2 ** (bits - 1) - 1)

    def complex_words(x, x_at, out, out_at, n, total, part, first_pass, descending):
        """Words of one part of the complex numbers at x, in the order of the indices x_at.

        part 0, 1: the real or imaginary part; 2: where a NaN puts the number, the highest digit.
        first_pass: x_at is not read, and out_at becomes 0, 1, … in each line.
        """
        i = cuda.grid(1)
        if i < total:
            k = i
            if first_pass:
                out_at[i] = U32(i % n)
            else:
                k = i - i % n + x_at[i]
            if part < 2:
                w = key(x[2 * k + part])
            else:
                w = word(0)
                if (x[2 * k] & magnitude) > infinity:
                    w = word(2)
                elif (x[2 * k + 1] & magnitude) > infinity:
                    w = word(1)
            out[i] = ~w if descending else w

    return complex_words


def make_complex_take():
    def complex_take(x, at, out, n, total):
        """The complex numbers of each line in the order of their indices."""
        i = cuda.grid(1)
        if i < total:
            k = i - i % n + at[i]
            out[2 * i] = x[2 * k]
            out[2 * i + 1] = x[2 * k + 1]

    return complex_take


def load_complex(dtype):
    """For complex sorts: by imaginary part, real part and NaN, with the real type's kernels."""
    real = "float32" if dtype == "complex64" else "float64"
    words = words_of(real)
    x, u32, i64 = array(np.dtype(words.word)), array("uint32"), array("int64")
    load_passes("radix_pairs", real, True)
    add("complex_words", dtype, make_complex_words(words), [x, u32, x, u32, *[INT] * 5])
    add("complex_take", dtype, make_complex_take(), [x, i64, x, INT, INT])


def load_passes(name, dtype, pairs):
    words = words_of(dtype)
    x, u32, i64 = array(np.dtype(words.word)), array("uint32"), array("int64")
    add("radix_count", dtype, make_count(words), [x, u32, *[INT] * 6], tile=AHEAD * THREADS)
    add("radix_starts", "uint32", make_starts(), [u32, INT, INT])
    threads, items = shape_of(dtype, pairs)
    kernel, shared = make_pass(words, threads, items, pairs)
    arguments = [x, u32, x, u32, i64, u32, u32, u32, u32, *[INT] * 9]
    add(name, dtype, kernel, arguments, threads * items, threads, shared,
        max_threads=threads, min_blocks=2)  # fmt: skip
    short = "argsort_short" if pairs else "sort_short"
    add(short, dtype, make_short(words, pairs), [x, x, i64, *[INT] * 4], tile=SHORT)


def load_sort(dtype):
    if np.dtype(dtype).kind == "c":
        load_complex(dtype)
    else:
        load_passes("radix_pass", dtype, False)


def load_argsort(dtype):
    if np.dtype(dtype).kind == "c":
        load_complex(dtype)
    else:
        load_passes("radix_pairs", dtype, True)
