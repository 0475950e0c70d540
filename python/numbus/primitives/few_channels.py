"""Convolutions whose results are sums of few products: of one channel, or of the three of a
picture. They move more bytes than tensor cores save operations, and are plain sums of float32.

Sizes in the order of convolution.py; `size`: the products of a result, channels times taps.
"""

import numpy as np

from .. import cuda
from ._convolution import of_tap, taps_within

F32, I32, U32 = np.float32, np.int32, np.uint32
ALL = 0xFFFFFFFF
FEW_THREADS = 256  # of a block
RESULTS = 16  # of a position, by one thread
LINES = 4  # results of a block of derivatives by weights, whose sums are registers
WARPS = FEW_THREADS // 32
WARPS_IN_ORDER = tuple(range(WARPS))


def of_product(k, taps, plane, wide, kw, dh, dw):
    """How far the k-th number of a position lies from its first one, and the bit of its tap."""
    c, tap = k // taps, k % taps
    return c * plane + of_tap(tap, wide, kw, dh, dw), U32(1) << U32(tap)


def make_few(size):
    """Results of RESULTS channels at FEW_THREADS positions a block."""
    products = tuple(range(size))
    apart = (size + 3) // 4 * 4  # so that four weights are read at a time

    def convolve_few(
        out, image, weights, images, channels, results, h, w, oh, ow, kh, kw, sh, sw, ph, pw, dh, dw
    ):
        held = cuda.shared.array(RESULTS * apart, F32)
        offsets, bits = cuda.shared.array(size, I32), cuda.shared.array(size, U32)
        t = cuda.threadIdx.x
        channels, results, positions = I32(channels), I32(results), I32(oh * ow)
        plane, wide = I32(h * w), I32(w)
        first = cuda.blockIdx.y * I32(RESULTS)
        for i in range(t, RESULTS * apart, FEW_THREADS):
            m, k = min(first + I32(i) // I32(apart), results - I32(1)), I32(i) % I32(apart)
            held[i] = weights[m * I32(size) + k] if k < I32(size) else F32(0)
        if t < I32(size):
            offsets[t], bits[t] = of_product(
                t, I32(kh * kw), plane, wide, I32(kw), I32(dh), I32(dw)
            )
        cuda.syncthreads()
        at = cuda.blockIdx.x * I32(FEW_THREADS) + t
        if at < I32(images) * positions:
            n, rest = at // positions, at % positions
            y = rest // I32(ow) * I32(sh) - I32(ph)
            x = rest % I32(ow) * I32(sw) - I32(pw)
            inside = U32(ALL)
            if ph != 0 or pw != 0:
                inside = taps_within(y, x, I32(h), I32(w), I32(kh), I32(kw), I32(dh), I32(dw))
            base = np.int64(n) * (channels * plane) + y * wide + x
            seen = cuda.local.array(size, F32)
            for k in products:
                there = inside & bits[k] != U32(0)
                v = image[base + offsets[k] if there else 0]
                seen[k] = v if there else F32(0)
            to = (np.int64(n) * results + first) * positions + rest
            for m in range(min(I32(RESULTS), results - first)):
                total = F32(0)
                for k in products:
                    total = cuda.fma(held[np.int64(m) * apart + k], seen[k], total)
                out[to + np.int64(m) * positions] = total

    return convolve_few


def make_few_gradients(size, padded):
    """Derivatives by weights of LINES results a block, summed over a part of the positions."""
    products, of_lines, two = tuple(range(size)), tuple(range(LINES)), (0, 1)
    all_sums, halves = tuple(range(LINES * size)), tuple(range(2 * size))

    def convolve_few_gradients(
        out, image, weights, images, channels, results, h, w, oh, ow, kh, kw, sh, sw, ph, pw, dh,
        dw, each,
    ):  # fmt: skip
        """`weights`, `each` and `out` as in convolution.py."""
        of_warps = cuda.shared.array(WARPS * LINES * size, F32)
        all_offsets, all_bits = cuda.shared.array(size, I32), cuda.shared.array(size, U32)
        t = cuda.threadIdx.x
        channels, results, positions = I32(channels), I32(results), I32(oh * ow)
        plane, wide, taps = I32(h * w), I32(w), I32(kh * kw)
        first = cuda.blockIdx.z * I32(LINES)
        begin = cuda.blockIdx.x * I32(each)
        end = min(begin + I32(each), I32(images) * positions)
        if t < I32(size):
            all_offsets[t], all_bits[t] = of_product(
                t, taps, plane, wide, I32(kw), I32(dh), I32(dw)
            )
        cuda.syncthreads()
        offsets, bits = cuda.local.array(size, I32), cuda.local.array(size, U32)
        for k in products:
            offsets[k], bits[k] = all_offsets[k], all_bits[k]
        sums = cuda.local.array(LINES * size, F32)
        for i in all_sums:
            sums[i] = F32(0)
        at = begin + t
        n, oy, ox = at // positions, at % positions // I32(ow), at % I32(ow)
        rows, more = I32(FEW_THREADS) // I32(ow), I32(FEW_THREADS) % I32(ow)
        # Of two positions, so that more numbers are on their way; one beyond the end counts zero.
        seen, gathered = cuda.local.array(2 * LINES, F32), cuda.local.array(2 * size, F32)
        while at < end:
            for e in two:
                there = at < end
                to = np.int64(n if there else I32(0)) * (results * positions) + oy * I32(ow) + ox
                for j in of_lines:
                    m = min(first + I32(j), results - I32(1))
                    v = weights[to + m * positions]
                    seen[LINES * e + j] = v if there else F32(0)
                y, x = oy * I32(sh) - I32(ph), ox * I32(sw) - I32(pw)
                base = np.int64(n if there else I32(0)) * (channels * plane) + y * wide + x
                if padded:
                    inside = taps_within(y, x, I32(h), I32(w), I32(kh), I32(kw), I32(dh), I32(dw))
                    for k in products:
                        within = inside & bits[k] != U32(0)
                        v = image[base + offsets[k] if within else 0]
                        gathered[size * e + k] = v if there and within else F32(0)
                else:
                    for k in products:
                        v = image[base + offsets[k]]
                        gathered[size * e + k] = v if there else F32(0)
                at += I32(FEW_THREADS)
                ox += more
                oy += rows
                if ox >= I32(ow):
                    ox -= I32(ow)
                    oy += I32(1)
                while oy >= I32(oh):
                    oy -= I32(oh)
                    n += I32(1)
            for e in two:
                for j in of_lines:
                    for k in products:
                        i = j * size + k
                        sums[i] = cuda.fma(seen[LINES * e + j], gathered[size * e + k], sums[i])

        # Halves of a warp exchange their sums: each has those of two lines then, and of one.
        pairs, one = cuda.local.array(2 * size, F32), cuda.local.array(size, F32)
        upper = cuda.laneid & I32(16) != I32(0)
        for i in halves:
            a, b = sums[i], sums[2 * size + i]
            other = cuda.shfl_xor_sync(ALL, cuda.selp(upper, a, b), 16)
            pairs[i] = cuda.selp(upper, b, a) + other
        upper = cuda.laneid & I32(8) != I32(0)
        for k in products:
            a, b = pairs[k], pairs[size + k]
            other = cuda.shfl_xor_sync(ALL, cuda.selp(upper, a, b), 8)
            one[k] = cuda.selp(upper, b, a) + other
        for distance in (4, 2, 1):
            for k in products:
                one[k] += cuda.shfl_xor_sync(ALL, one[k], distance)
        if cuda.laneid % I32(8) == I32(0):
            line = (t // I32(32) * I32(LINES) + cuda.laneid // I32(8)) * I32(size)
            for k in products:
                of_warps[line + I32(k)] = one[k]
        cuda.syncthreads()
        m = first + t // I32(size)
        if t < I32(LINES * size) and m < results:
            total = F32(0)
            for warp in WARPS_IN_ORDER:
                total += of_warps[I32(warp * LINES * size) + t]
            c, tap = t % I32(size) // taps, t % I32(size) % taps
            part = np.int64(cuda.blockIdx.x) * (results * I32(size))
            out[part + m * I32(size) + tap * channels + c] = total

    return convolve_few_gradients
