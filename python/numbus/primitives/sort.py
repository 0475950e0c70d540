"""Kernels of sorts: radix passes of eight bits over long lines, a network for short ones.

A pass is three launches: radix_count counts the digits of each block's part of a line, radix_scan
makes of these where each block's elements of a digit go, radix_scatter (or radix_pairs, for keys
with their indices) puts them there, in their order. A block walks over its part by tiles. It ranks
a tile in shared memory, so that elements of one digit lie side by side and go out in runs: each
warp counts its digits, the block sums these up, and lanes with equal digits find one another by
votes.
"""

import numpy as np

from .. import _core, cuda
from ._device import INT, add, array
from ._words import words_of

THREADS = 256  # as many as there are digits: the core relies on it
WARPS = THREADS // 32
ALL = 0xFFFFFFFF
U32 = np.uint32
SHORT = 2048  # elements of a block of short lines: the longest of them
# Elements that a thread reads before it looks at them. On a CPU, where only tests run these
# kernels, less is compiled in less time.
AHEAD = 4 if _core.is_default_gpu() else 1


def items_of(dtype):
    """Elements of a thread in a tile of radix_scatter: what shared memory has room for."""
    if AHEAD == 1:
        return 3
    return 12 if np.dtype(dtype).itemsize == 8 else 20


def pair_items_of(dtype):
    """Elements of a thread in a tile of radix_pairs."""
    if AHEAD == 1:
        return 2
    return 8 if np.dtype(dtype).itemsize == 8 else 12


def exclusive(value, sums, t):
    """The sum of the values of the block's threads before this one; `sums`: WARPS words."""
    total = value
    for distance in (1, 2, 4, 8, 16):
        other = cuda.shfl_up_sync(ALL, total, distance)
        if cuda.laneid >= distance:
            total += other
    if cuda.laneid == 31:
        sums[t // 32] = total
    cuda.syncthreads()
    before = U32(0)
    for w in range(WARPS):
        if w < t // 32:
            before += sums[w]
    cuda.syncthreads()
    return before + total - value


def digit_offsets(counts, sums, t, running):
    """Of what the warps have counted of digit t: where each one's elements go in the tile.

    Returns what has to be added to an index in the tile to get the one in the line, and where the
    digit's next elements go there.
    """
    total = U32(0)
    for w in range(WARPS):
        c = counts[w * 256 + t]
        counts[w * 256 + t] = total
        total += c
    start = exclusive(total, sums, t)
    for w in range(WARPS):
        counts[w * 256 + t] += start
    return running - start, running + total


def make_scan():
    def radix_scan(table, totals, blocks, rows):
        """Sums up each row of the table, a warp a row: (line, digit) by block."""
        t = cuda.threadIdx.x
        lane = cuda.laneid
        row = cuda.blockIdx.x * WARPS + t // 32
        carried = U32(0)
        if row < rows:
            for first in range(0, blocks, 32):
                b = first + lane
                value = table[row * blocks + b] if b < blocks else U32(0)
                total = value
                for distance in (1, 2, 4, 8, 16):
                    other = cuda.shfl_up_sync(ALL, total, distance)
                    if lane >= distance:
                        total += other
                if b < blocks:
                    table[row * blocks + b] = carried + total - value
                carried += cuda.shfl_sync(ALL, total, 31)
            if lane == 0:
                totals[row] = carried

    return radix_scan


def make_count(words):
    word, digit, mapped, key = words.word, words.digit, words.mapped, words.key
    ahead = 8
    copies, each = 4, tuple(range(ahead))

    def radix_count(x, table, n, chunk, blocks, shift, mode, descending):
        """Counts the digits of block b's part of a line; mode: see load_mode in gpu_sort.cpp."""
        counts = cuda.shared.array(copies * 256, U32)
        held = cuda.local.array(ahead, word)
        t = cuda.threadIdx.x
        for c in range(copies):
            counts[c * 256 + t] = U32(0)
        cuda.syncthreads()
        b = cuda.blockIdx.x % blocks
        line = cuda.blockIdx.x // blocks
        flip = ~word(0) if descending else word(0)
        own = U32(t // 64 * 256)
        begin = b * chunk
        end = min(begin + chunk, n)
        for first in range(begin, end, ahead * THREADS):
            at = line * n + first + t
            if first + ahead * THREADS <= end:
                for i in each:
                    held[i] = x[at + i * THREADS]
                if mode == 1:
                    for i in each:
                        held[i] = mapped(held[i]) ^ flip
                elif mode == 2:
                    for i in each:
                        held[i] = key(held[i]) ^ flip
                for i in each:
                    cuda.atomic.add(counts, own + digit(held[i], shift), 1)
            else:
                for i in range(first + t, end, THREADS):
                    w = x[line * n + i]
                    if mode == 1:
                        w = mapped(w) ^ flip
                    elif mode == 2:
                        w = key(w) ^ flip
                    cuda.atomic.add(counts, own + digit(w, shift), 1)
        cuda.syncthreads()
        total = U32(0)
        for c in range(copies):
            total += counts[c * 256 + t]
        table[(line * 256 + t) * blocks + b] = total

    return radix_count


def make_scatter(words, items, pairs):
    """radix_scatter, or with `pairs` radix_pairs: words and, with each, an index."""
    word, digit, mapped, unmapped = words.word, words.digit, words.mapped, words.unmapped
    ordered = words.key if pairs else mapped
    each = tuple(range(AHEAD))
    tile, groups, step = THREADS * items, items // AHEAD, 32 * AHEAD

    def take(keys, x, at, left, load, flip):
        """Words of the tile: this thread's next ones. What is not there is put last."""
        if left >= step:
            for k in each:
                keys[k] = x[at + k * 32]
            if load:
                for k in each:
                    keys[k] = ordered(keys[k]) ^ flip
        else:
            for k in each:
                w = ~word(0)
                if k * 32 < left:
                    w = x[at + k * 32]
                    if load:
                        w = ordered(w) ^ flip
                keys[k] = w

    def radix_scatter(
        x, x_at, out, out_at, result, table, totals, n, chunk, blocks, shift, load, store,
        descending,
    ):  # fmt: skip
        """Puts block b's part of a line in the order of the digit.

        load, store: whether x holds elements and not yet words, and whether out is to hold these.
        Pairs: with `load` the indices are 0, 1, … and x_at is not read; with `store` they go to
        `result`, as int64, and the words nowhere.
        """
        counts = cuda.shared.array(WARPS * 256, U32)
        placed = cuda.shared.array(tile, word)
        placed_at = cuda.shared.array(tile if pairs else 1, U32)
        offsets = cuda.shared.array(256, U32)
        sums = cuda.shared.array(WARPS, U32)
        keys = cuda.local.array(AHEAD, word)
        t = cuda.threadIdx.x
        own = U32(t // 32 * 256)
        before = U32(cuda.lanemask_lt())
        b = cuda.blockIdx.x % blocks
        line = cuda.blockIdx.x // blocks * n
        row = cuda.blockIdx.x // blocks * 256 + t
        flip = ~word(0) if descending else word(0)
        total = totals[row]
        running = exclusive(total, sums, t)
        if blocks > 1:
            running += table[row * blocks + b]
        begin = b * chunk
        end = min(begin + chunk, n)
        if cuda.syncthreads_or(total == U32(n)):
            # All have one digit.
            for i in range(begin + t, end, THREADS):
                w = ordered(x[line + i]) ^ flip if load else x[line + i]
                if pairs:
                    k = U32(i) if load else x_at[line + i]
                    if store:
                        result[line + i] = k
                    else:
                        out[line + i] = w
                        out_at[line + i] = k
                else:
                    out[line + i] = unmapped(w ^ flip) if store else w
        else:
            mine = t // 32 * (32 * items) + cuda.laneid
            for first in range(begin, end, tile):
                there = min(tile, end - first)
                at = first + mine
                for w in range(WARPS):
                    counts[w * 256 + t] = U32(0)
                cuda.syncthreads()
                for g in range(groups):
                    take(keys, x, line + at + g * step, there - mine - g * step, load, flip)
                    for k in each:
                        cuda.atomic.add(counts, own + digit(keys[k], shift), 1)
                cuda.syncthreads()
                offset, running = digit_offsets(counts, sums, t, running)
                offsets[t] = offset
                cuda.syncthreads()
                # The tile is read once more, from the nearest cache: registers for all of it would
                # leave room for few warps.
                for g in range(groups):
                    take(keys, x, line + at + g * step, there - mine - g * step, load, flip)
                    for k in each:
                        d = digit(keys[k], shift)
                        same = U32(cuda.match_any_sync(ALL, d, 8))
                        first_one = counts[own + d]
                        rank = cuda.popc(same & before)
                        cuda.syncwarp()
                        if rank == 0:
                            counts[own + d] = first_one + U32(cuda.popc(same))
                        cuda.syncwarp()
                        place = first_one + U32(rank)
                        placed[place] = keys[k]
                        if pairs:
                            i = at + g * step + k * 32
                            if load:
                                placed_at[place] = U32(i)
                            elif i < end:
                                placed_at[place] = x_at[line + i]
                cuda.syncthreads()
                if store:
                    for i in range(t, there, THREADS):
                        w = placed[i]
                        to = U32(i) + offsets[digit(w, shift)]
                        if pairs:
                            result[line + to] = placed_at[i]
                        else:
                            out[line + to] = unmapped(w ^ flip)
                else:
                    for i in range(t, there, THREADS):
                        w = placed[i]
                        to = U32(i) + offsets[digit(w, shift)]
                        out[line + to] = w
                        if pairs:
                            out_at[line + to] = placed_at[i]
                cuda.syncthreads()

    return radix_scatter


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
    load_passes("radix_pairs", real, pair_items_of(real), True)
    add("complex_words", dtype, make_complex_words(words), [x, u32, x, u32, *[INT] * 5])
    add("complex_take", dtype, make_complex_take(), [x, i64, x, INT, INT])


def load_scan():
    table = array("uint32")
    return add("radix_scan", "uint32", make_scan(), [table, table, INT, INT])


def load_passes(name, dtype, items, pairs):
    words = words_of(dtype)
    x, table = array(np.dtype(words.word)), array("uint32")
    load_scan()
    add("radix_count", dtype, make_count(words), [x, table, *[INT] * 6])
    arguments = [x, table, x, table, array("int64"), table, table, *[INT] * 7]
    add(name, dtype, make_scatter(words, items, pairs), arguments, tile=THREADS * items)
    short = "argsort_short" if pairs else "sort_short"
    arguments = [x, x, array("int64"), *[INT] * 4]
    add(short, dtype, make_short(words, pairs), arguments, tile=SHORT)


def load_sort(dtype):
    if np.dtype(dtype).kind == "c":
        load_complex(dtype)
        return
    load_passes("radix_scatter", dtype, items_of(dtype), False)


def load_argsort(dtype):
    if np.dtype(dtype).kind == "c":
        load_complex(dtype)
        return
    load_passes("radix_pairs", dtype, pair_items_of(dtype), True)
