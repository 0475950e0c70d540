"""Kernels of sorts: radix passes over long lines (_radix.py), a network for short ones."""

import numpy as np

from .. import cuda
from ._device import INT, add, array
from ._radix import (
    AHEAD,
    FILLED,
    SMALL,
    THREADS,
    U32,
    make_count,
    make_fill,
    make_line,
    make_pass,
    make_starts,
    shape_of,
)
from ._words import words_of

SHORT = 256 if SMALL else 2048  # elements of a block of short lines: the longest of them


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
    short = "argsort_short" if pairs else "sort_short"
    add(short, dtype, make_short(words, pairs), [x, x, i64, *[INT] * 4], tile=SHORT)
    threads, items = shape_of(dtype, pairs)
    options = {"tile": threads * items, "threads": threads, "max_threads": threads, "min_blocks": 2}
    kernel, shared = make_line(words, threads, items, pairs)
    line = "radix_line_pairs" if pairs else "radix_line"
    add(line, dtype, kernel, [x, x, i64, *[INT] * 3], shared=shared, **options)
    if words.word == np.uint8 and not pairs:
        add("radix_fill", dtype, make_fill(words), [u32, x, INT, INT, INT], tile=FILLED)
        return
    kernel, shared = make_pass(words, threads, items, pairs)
    arguments = [x, u32, x, u32, i64, u32, u32, u32, u32, *[INT] * 9]
    add(name, dtype, kernel, arguments, shared=shared, **options)


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
