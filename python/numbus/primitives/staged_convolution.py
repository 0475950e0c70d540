"""Convolutions whose blocks keep the part of the image that all their taps meet in shared memory.

Of a stage it is eight channels of the pixels from the first to the last that the block's positions
meet, in the order of the image with its padding: there, a tap is one offset for all positions,
where the stride is one. Each number is split once, as it is stored. Numbers of operands, of a
product and of float32 are as in convolution.py.
"""

import numpy as np

from .. import cuda
from ..cuda._names import mma_tf32, on_gpu
from ._convolution import THREADS, kept, lower, settled

F32, I32 = np.float32, np.int32
CHANNELS = 8  # of a stage
SPAN = 368  # pixels of a stage, at most
LINES = 32  # of a warp
ROW = 3  # taps that are unrolled for TF32; a stage's are filled up to a multiple
MOST_TAPS = 33


def make_factors():
    """Weights in the order in which warps read them: (8 channels, tap, 16 lines, lane, numbers).

    A lane's numbers are four of a factor of `mma`, and where `parts` is two, what they lack to
    float32; lines are filled up to a multiple of 32.
    """

    def convolve_factors(out, given, lines, channels, taps, line, channel, backwards, parts):
        i = cuda.grid(1)
        blocks = (lines + LINES - 1) // LINES * 2
        filled = taps if parts == 2 else (taps + ROW - 1) // ROW * ROW
        if i < filled * blocks * 16 * channels:
            q, lane, b = i % 4, i // 4 % 32, i // 128 % blocks
            t, c = i // (128 * blocks) % filled, i // (128 * blocks * filled)
            m, k = b * 16 + q % 2 * 8 + lane // 4, c * 8 + q // 2 * 4 + lane % 4
            v = F32(0)
            if m < lines and t < taps:
                v = settled(given[m * line + k * channel + (taps - 1 - t if backwards else t)])
            to = i // 4 * 4 * parts + q
            out[to] = kept(v)
            if parts == 2:
                out[to + 4] = lower(v - kept(v))

    return convolve_factors


def make_stage(parts, apart, loads):
    """Two functions: a thread's numbers of a stage, read from the image and stored in the patch."""
    all_loads = tuple(range(loads))
    all_channels, all_own = tuple(range(CHANNELS)), (0, 1, 2, 3)

    def read(gathered, image, base, sources, plane):
        for i in all_loads:
            if sources[i] >= 0:
                for c in all_channels:
                    gathered[CHANNELS * i + c] = image[base + sources[i] + I32(c) * plane]
            else:
                for c in all_channels:
                    gathered[CHANNELS * i + c] = F32(0)

    def store(patch, at, gathered, size):
        """Lane `own` of a factor has channels own and own + 4."""
        for i in all_loads:
            e = cuda.threadIdx.x + I32(i * THREADS)
            if e < size:
                for own in all_own:
                    to = np.int64(at + I32(own * apart) + e) * (2 * parts)
                    v = settled(gathered[CHANNELS * i + own])
                    w = settled(gathered[CHANNELS * i + own + 4])
                    a, b = kept(v), kept(w)
                    if parts == 2:
                        c, d = lower(v - a), lower(w - b)
                        patch[to] = a
                        patch[to + 1] = b
                        patch[to + 2] = c
                        patch[to + 3] = d
                    else:
                        patch[to] = a
                        patch[to + 1] = b

    return read, store


def make_staged(lines, pixels, exact):
    """Results of `lines` channels and `pixels` positions a block, of a stride of one."""
    parts = 2 if exact else 1
    apart = SPAN + (2 if exact else 4)  # pixels of an own channel: no two share a bank
    across = lines // LINES
    columns = pixels // (4 // across)  # of a warp
    m, n, loads = LINES // 16, columns // 8, -(-SPAN // THREADS)
    all_m, all_n, all_loads = tuple(range(m)), tuple(range(n)), tuple(range(loads))
    all_sums, all_read = tuple(range(4 * m * n)), tuple(range(4 * parts))
    two, three, four, all_sums_of_pair = (0, 1), (0, 1, 2), (0, 1, 2, 3), tuple(range(8 * m))
    buffer, each = 4 * apart, 2 * parts  # pixels of four lanes, numbers of each
    # Taps that are unrolled, and those whose weights are on their way.
    row, ahead = (1, 1) if exact else (ROW, 2)
    size_of_factor = 4 * parts * m
    all_row, all_ahead = tuple(range(row)), tuple(range(ahead))
    all_numbers = tuple(range(size_of_factor))
    pairs = tuple(range(0, n, 2))
    read, store = make_stage(parts, apart, loads)

    def read_factor(factors, slot, weights, product):
        for i in all_m:
            # Multiples of four that are seen to be such, so that four numbers are read at once.
            at = (product * (32 * m) + (cuda.laneid + I32(32 * i))) * (4 * parts)
            for f in all_read:
                factors[slot * size_of_factor + 4 * parts * i + f] = weights[at + f]

    def by_tensor_cores(sums, factors, slot, patch, columns_at, shift):
        f = slot * size_of_factor
        if exact:
            # Tensor cores cut off sums, so that each product begins its own. Those of two columns
            # are done at a time, so that one does not wait for the other.
            c = cuda.local.array(8 * m, F32)
            b = cuda.local.array(8, F32)
            for j in pairs:
                for e in two:
                    at = columns_at[j + e] + shift
                    for k in four:
                        b[4 * e + k] = patch[at + k]
                for k in all_sums_of_pair:
                    c[k] = F32(0)
                # What the weights lack, what the image lacks, and the largest product last.
                for step in three:
                    lack, missing = (4 if step == 0 else 0), (2 if step == 1 else 0)
                    for e in two:
                        for i in all_m:
                            o, s, g = f + 8 * i + lack, 4 * (m * e + i), 4 * e + missing
                            c[s], c[s + 1], c[s + 2], c[s + 3] = mma_tf32(
                                factors[o], factors[o + 1], factors[o + 2], factors[o + 3],
                                b[g], b[g + 1], c[s], c[s + 1], c[s + 2], c[s + 3],
                            )  # fmt: skip
                for e in two:
                    for i in all_m:
                        for k in four:
                            sums[4 * (i * n + j + e) + k] += c[4 * (m * e + i) + k]
        else:
            for j in all_n:
                at = columns_at[j] + shift
                b0, b1 = patch[at], patch[at + 1]
                for i in all_m:
                    o, s = f + 4 * i, 4 * (i * n + j)
                    sums[s], sums[s + 1], sums[s + 2], sums[s + 3] = mma_tf32(
                        factors[o], factors[o + 1], factors[o + 2], factors[o + 3], b0, b1,
                        sums[s], sums[s + 1], sums[s + 2], sums[s + 3],
                    )  # fmt: skip

    def by_threads(sums, weights, product, patch, where, of_pixel, shift):
        """What tensor cores would do for this thread, on a CPU."""
        group, pair = cuda.laneid // I32(4), cuda.laneid % I32(4) * I32(2)
        for o in range(4 * m * n):
            block, column = I32(o) // I32(4 * n), I32(o) // I32(4) % I32(n)
            half, e = I32(o) % I32(4) // I32(2), I32(o) % I32(2)
            a = product * (32 * 4 * m * parts)
            a += (block * I32(32) + group * I32(4)) * I32(4 * parts) + half
            at = where[of_pixel + I32(8) * column + pair + e] * each + shift
            total = F32(0)
            for k in range(CHANNELS):
                f, b = a + k % 4 * 4 * parts + k // 4 * 2, at + k % 4 * apart * each + k // 4
                v, w = weights[f], patch[b]
                if exact:
                    v, w = v + weights[f + 4], w + patch[b + 2]
                total += v * w
            sums[o] += total

    def convolve_staged(
        out, image, weights, images, channels, results, h, w, oh, ow, kh, kw, ph, pw, dh, dw
    ):
        """`weights`: as convolve_factors has them."""
        patch = cuda.shared.array(2 * buffer * each, F32)
        where, to = cuda.shared.array(pixels, I32), cuda.shared.array(pixels, I32)
        shifts = cuda.shared.array(MOST_TAPS, I32)
        t, lane = cuda.threadIdx.x, cuda.laneid
        warp, group, own = t // I32(32), lane // I32(4), lane % I32(4)
        of_line = cuda.blockIdx.y * I32(lines) + warp % I32(across) * I32(LINES)
        of_pixel = warp // I32(across) * I32(columns)
        channels, results, positions = I32(channels), I32(results), I32(oh * ow)
        plane = I32(h * w)
        # The image with its padding: what it has for a position and a tap lies at a sum of two.
        wide = I32(ow) + I32(kw - 1) * I32(dw)
        padded = wide * (I32(oh) + I32(kh - 1) * I32(dh))
        first = cuda.blockIdx.x * I32(pixels)
        image_0, rest = first // positions, first % positions
        begin = rest // I32(ow) * wide + rest % I32(ow)
        if t < I32(MOST_TAPS):
            # Taps beyond the last one are that one again, with weights of zero.
            tap = min(t, I32(kh * kw) - I32(1))
            shifts[t] = tap // I32(kw) * I32(dh) * wide + tap % I32(kw) * I32(dw)
        for p in range(t, pixels, THREADS):
            at = min(first + I32(p), I32(images) * positions - I32(1))
            k, rest = at // positions - image_0, at % positions
            where[p] = k * padded + rest // I32(ow) * wide + rest % I32(ow) - begin
            to[p] = k * (results * positions) + rest if at == first + I32(p) else I32(-1)
        cuda.syncthreads()
        size = where[pixels - 1] + I32(kh - 1) * I32(dh) * wide + I32(kw - 1) * I32(dw) + I32(1)
        sources = cuda.local.array(loads, I32)
        for i in all_loads:
            e = t + I32(i * THREADS)
            at = begin + e
            k, rest = at // padded, at % padded
            y, x = rest // wide - I32(ph), rest % wide - I32(pw)
            there = e < size and image_0 + k < I32(images)
            there = there and y >= 0 and y < I32(h) and x >= 0 and x < I32(w)
            sources[i] = k * (channels * plane) + y * I32(w) + x if there else I32(-1)

        columns_at = cuda.local.array(n, np.int64)
        for j in all_n:
            columns_at[j] = np.int64(where[of_pixel + I32(8 * j) + group] + own * I32(apart)) * each
        sums = cuda.local.array(4 * m * n, F32)
        for i in all_sums:
            sums[i] = F32(0)
        gathered = cuda.local.array(loads * CHANNELS, F32)
        factors = cuda.local.array(row * size_of_factor, F32)
        now = cuda.local.array(size_of_factor, F32)
        stages = channels // I32(CHANNELS)
        base = np.int64(image_0) * (channels * plane)
        # Lines beyond the last ones are those again, which nobody stores.
        known = (results + I32(LINES - 1)) // I32(LINES)
        product = np.int64(min(of_line // I32(LINES), known - I32(1)))
        taps = I32(kh * kw)
        for u in all_ahead:
            read_factor(factors, u, weights, product + u * known)
        for stage in range(stages + 1):
            if stage < stages:
                read(gathered, image, base, sources, plane)
                base += CHANNELS * plane
            if stage > 0:
                at = (stage - 1) % 2 * buffer
                for first_tap in range(I32(0), taps, I32(row)):
                    for u in all_row:
                        shift = (at + shifts[first_tap + I32(u)]) * each
                        later = product + (u + ahead) * known
                        if not on_gpu():
                            product_u = product + u * known
                            by_threads(sums, weights, product_u, patch, where, of_pixel, shift)
                        elif row == 1:
                            for f in all_numbers:
                                now[f] = factors[f]
                            read_factor(factors, 0, weights, later)
                            by_tensor_cores(sums, now, 0, patch, columns_at, shift)
                        else:
                            read_factor(factors, (u + ahead) % row, weights, later)
                            by_tensor_cores(sums, factors, u, patch, columns_at, shift)
                    product += row * known
            if stage < stages:
                store(patch, I32(stage % 2) * I32(buffer), gathered, size)
            cuda.syncthreads()

        pair = own * I32(2)
        base = np.int64(image_0) * (results * positions)
        for j in all_n:
            for e in two:
                at = to[of_pixel + I32(8 * j + e) + pair]
                if at >= 0:
                    for i in all_m:
                        for half in two:
                            k = of_line + I32(16 * i + 8 * half) + group
                            if k < results:
                                v = sums[4 * (i * n + j) + 2 * half + e]
                                out[base + at + k * positions] = v

    return convolve_staged
