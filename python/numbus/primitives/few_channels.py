"""Convolutions whose results are sums of few products: of one channel, or of the three of a
picture. They move more bytes than tensor cores save operations, and are plain sums of float32.

Sizes in the order of convolution.py; `size`: the products of a result, channels times taps.
"""

import numpy as np

from .. import cuda

F32, I32, U32 = np.float32, np.int32, np.uint32
ALL = 0xFFFFFFFF
FEW_THREADS = 256  # of a block
RESULTS = 16  # of a position, by one thread
DISTANCES = (16, 8, 4, 2, 1)
WARPS = FEW_THREADS // 32


def lines_of_gradients(size):
    """Channels of the result a block of `convolve_few_gradients` has: their sums are registers."""
    return 4 if size <= 16 else 2


def of_product(k, taps, plane, wide, kw, dh, dw):
    """How far the k-th number of a position lies from its first one, and the bit of its tap."""
    c, tap = k // taps, k % taps
    return c * plane + tap // kw * dh * wide + tap % kw * dw, U32(1) << U32(tap)


def taps_within(y, x, h, w, kh, kw, dh, dw):
    """A bit for each tap whose element lies in the image, of an upper left one at (y, x)."""
    rows, inside = U32(0), U32(0)
    for q in range(kw):
        if x + I32(q) * dw >= 0 and x + I32(q) * dw < w:
            rows |= U32(1) << U32(q)
    for r in range(kh):
        if y + I32(r) * dh >= 0 and y + I32(r) * dh < h:
            inside |= rows << U32(r * kw)
    return inside


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


def make_few_gradients(size):
    """Derivatives by weights of some results a block, summed over a part of the positions."""
    lines = lines_of_gradients(size)
    products, of_lines = tuple(range(size)), tuple(range(lines))
    all_sums = tuple(range(lines * size))

    def convolve_few_gradients(
        out, image, weights, images, channels, results, h, w, oh, ow, kh, kw, sh, sw, ph, pw, dh,
        dw, each,
    ):  # fmt: skip
        """`weights`, `each` and `out` as in convolution.py."""
        of_warps = cuda.shared.array(WARPS * lines * size, F32)
        t = cuda.threadIdx.x
        channels, results, positions = I32(channels), I32(results), I32(oh * ow)
        plane, wide, taps = I32(h * w), I32(w), I32(kh * kw)
        first = cuda.blockIdx.z * I32(lines)
        begin = cuda.blockIdx.x * I32(each)
        end = min(begin + I32(each), I32(images) * positions)
        all_offsets, all_bits = cuda.shared.array(size, I32), cuda.shared.array(size, U32)
        if t < I32(size):
            all_offsets[t], all_bits[t] = of_product(
                t, taps, plane, wide, I32(kw), I32(dh), I32(dw)
            )
        cuda.syncthreads()
        offsets, bits = cuda.local.array(size, I32), cuda.local.array(size, U32)
        for k in products:
            offsets[k], bits[k] = all_offsets[k], all_bits[k]
        sums = cuda.local.array(lines * size, F32)
        for i in all_sums:
            sums[i] = F32(0)
        padded = ph != 0 or pw != 0
        at = begin + t
        n, oy, ox = at // positions, at % positions // I32(ow), at % I32(ow)
        rows, more = I32(FEW_THREADS) // I32(ow), I32(FEW_THREADS) % I32(ow)
        seen = cuda.local.array(lines, F32)
        while at < end:
            source = np.int64(n) * (results * positions) + oy * I32(ow) + ox
            for j in of_lines:
                m = min(first + I32(j), results - I32(1))
                seen[j] = weights[source + m * positions]
            y, x = oy * I32(sh) - I32(ph), ox * I32(sw) - I32(pw)
            inside = U32(ALL)
            if padded:
                inside = taps_within(y, x, I32(h), I32(w), I32(kh), I32(kw), I32(dh), I32(dw))
            base = np.int64(n) * (channels * plane) + y * wide + x
            for k in products:
                there = inside & bits[k] != U32(0)
                v = image[base + offsets[k] if there else 0]
                v = v if there else F32(0)
                for j in of_lines:
                    sums[j * size + k] = cuda.fma(seen[j], v, sums[j * size + k])
            at += I32(FEW_THREADS)
            ox += more
            oy += rows
            if ox >= I32(ow):
                ox -= I32(ow)
                oy += I32(1)
            while oy >= I32(oh):
                oy -= I32(oh)
                n += I32(1)

        for i in all_sums:
            total = sums[i]
            for distance in DISTANCES:
                total += cuda.shfl_xor_sync(ALL, total, distance)
            if cuda.laneid == I32(0):
                of_warps[t // I32(32) * I32(lines * size) + I32(i)] = total
        cuda.syncthreads()
        if t < I32(lines * size) and first + t // I32(size) < results:
            total = F32(0)
            for warp in range(WARPS):
                total += of_warps[I32(warp * lines * size) + t]
            c, tap = t % I32(size) // taps, t % I32(size) % taps
            part = np.int64(cuda.blockIdx.x) * (results * I32(size))
            m = first + t // I32(size)
            out[part + m * I32(size) + tap * channels + c] = total

    return convolve_few_gradients
