"""Kernels of convolutions of float32 as products of matrices, by a GPU's tensor cores.

The matrix of what each weight meets is not made: blocks gather their tiles of it from the image
(implicit GEMM). Tensor cores take factors of 11 bits (TF32). Where float32 is asked for, each
number is the sum of two of those, and three products make one: what is left out is below 2**-24 of
the product (Markidis et al., "NVIDIA Tensor Core Programmability, Performance and Precision", 2018;
Ootomo and Yokota, "Recovering single precision accuracy from Tensor Cores", 2022). On a CPU, where
tests run the same grids, each thread makes its part of a warp's product by itself.

Of operands with infinities, results may be NaN where float32 gives an infinity; float32 beyond
3.4e38, the last 2**-12 of its range, counts as infinite.

Sizes in the order (image height and width, result's, taps', stride, padding, dilation).
"""

import numpy as np

from .. import cuda
from ..cuda._names import mma_tf32, on_gpu
from ._convolution import THREADS, kept, of_tap, settled, taps_within
from ._device import INT, add, array
from .few_channels import FEW_THREADS, make_few, make_few_gradients
from .staged_convolution import make_factors, make_staged

F32, I32, U32 = np.float32, np.int32, np.uint32
BLOCKS, MORE_BLOCKS = 2, 3  # that a multiprocessor is to have room for
DEPTH = 16  # of a tile: how many products are added for each result before the next tile
DEEPEST = 1024  # products for a result where the number of channels is no multiple of DEPTH
SUMS = 64  # of partial sums, by one thread


def at_group(line, group):
    """Where a tile has a group of four numbers of a line: in an order that depends on the line, so
    that neither the groups that are stored together nor those read together meet in a bank of the
    memory.
    """
    return line * I32(DEPTH) + (group ^ (line // I32(2) % I32(4))) * I32(4)


def make_products(rows, columns, exact):
    """A thread's share of the products of two tiles of `rows` and `columns` lines: a warp's part is
    `rows` x `columns`, in blocks of 16 x 8.
    """
    m, n = rows // 16, columns // 8
    parts = DEPTH // 8
    # Loops over tuples are unrolled, so that local arrays are registers.
    all_m, all_n, all_parts = (tuple(range(k)) for k in (m, n, parts))
    four = (0, 1, 2, 3)

    def on_gpu_only(left, right, first, second, sums):
        group, own = cuda.laneid // I32(4), cuda.laneid % I32(4)
        # Indices of 64 bits, so that neighbours are seen to be such and are read together. Of its
        # four numbers of a line a thread takes two as columns of one product, two of the next.
        at_left = np.int64(at_group(first + group, own))
        at_right = np.int64(at_group(second + group, own))
        big = cuda.local.array(4 * m * parts, F32)
        small = cuda.local.array(4 * m * parts, F32)
        b0, b1 = cuda.local.array(parts, F32), cuda.local.array(parts, F32)
        s0, s1 = cuda.local.array(parts, F32), cuda.local.array(parts, F32)
        for k in all_parts:
            for i in all_m:
                for q in four:
                    # PTX's order: rows, then rows 8 further down; then the other column of a pair.
                    x = left[at_left + ((16 * i + q % 2 * 8) * DEPTH + 2 * k + q // 2)]
                    o = 4 * (m * k + i) + q
                    big[o] = kept(x)
                    if exact:
                        small[o] = kept(x - big[o])
        for j in all_n:
            for k in all_parts:
                y0 = right[at_right + (8 * j * DEPTH + 2 * k)]
                y1 = right[at_right + (8 * j * DEPTH + 2 * k + 1)]
                b0[k], b1[k] = kept(y0), kept(y1)
                if exact:
                    s0[k], s1[k] = kept(y0 - b0[k]), kept(y1 - b1[k])
            for i in all_m:
                c0, c1, c2, c3 = F32(0), F32(0), F32(0), F32(0)
                if exact:
                    for k in all_parts:
                        o = 4 * (m * k + i)
                        c0, c1, c2, c3 = mma_tf32(
                            small[o], small[o + 1], small[o + 2], small[o + 3],
                            b0[k], b1[k], c0, c1, c2, c3,
                        )  # fmt: skip
                        c0, c1, c2, c3 = mma_tf32(
                            big[o], big[o + 1], big[o + 2], big[o + 3],
                            s0[k], s1[k], c0, c1, c2, c3,
                        )  # fmt: skip
                for k in all_parts:
                    o = 4 * (m * k + i)
                    c0, c1, c2, c3 = mma_tf32(
                        big[o], big[o + 1], big[o + 2], big[o + 3], b0[k], b1[k], c0, c1, c2, c3
                    )
                o = 4 * (i * n + j)
                sums[o] += c0
                sums[o + 1] += c1
                sums[o + 2] += c2
                sums[o + 3] += c3

    def multiply(left, right, first, second, sums):
        """`sums` grows by the products of lines of `left` from `first` on, and of `right` from
        `second` on. Tensor cores cut off sums, so that each tile begins its own.
        """
        if on_gpu():
            on_gpu_only(left, right, first, second, sums)
        else:
            group, pair = cuda.laneid // I32(4), cuda.laneid % I32(4) * I32(2)
            for o in range(4 * m * n):
                i, j = I32(o) // I32(4 * n), I32(o) // I32(4) % I32(n)
                row = first + I32(16) * i + I32(o % 4 // 2 * 8) + group
                column = second + I32(8) * j + pair + I32(o % 2)
                total = F32(0)
                for k in range(DEPTH):
                    g, q = I32(k) // I32(4), I32(k) % I32(4)
                    total += left[at_group(row, g) + q] * right[at_group(column, g) + q]
                sums[o] += total

    return multiply


def make_weights():
    """Weights in the order (tap, line, column), of lines and columns that lie anywhere."""

    def convolve_weights(out, given, lines, columns, taps, line, column, backwards):
        i = cuda.grid(1)
        if i < taps * lines * columns:
            c, m, t = i % columns, i // columns % lines, i // (columns * lines)
            out[i] = given[m * line + c * column + (taps - 1 - t if backwards != 0 else t)]

    return convolve_weights


def make_images(lines, pixels, exact, flat=False):
    """Results of `lines` channels and `pixels` positions a block; flat: of any number of channels,
    else of a multiple of DEPTH.
    """
    across = 2 if lines == 64 else 1  # warps along the lines
    rows, columns = lines // across, pixels // (4 // across)
    sums_each, each = rows * columns // 32, pixels * DEPTH // THREADS
    weights_each = lines * DEPTH // THREADS
    all_rows, all_blocks, two = tuple(range(rows // 16)), tuple(range(columns // 8)), (0, 1)
    all_sums, all_each, all_weights = (tuple(range(k)) for k in (sums_each, each, weights_each))
    all_groups, weights_groups = tuple(range(each // 4)), tuple(range(weights_each // 4))
    four, entries = (0, 1, 2, 3), DEEPEST if flat else 1
    multiply = make_products(rows, columns, exact)

    def convolve_images(
        out, image, weights, images, channels, results, h, w, oh, ow, kh, kw, sh, sw, ph, pw, dh, dw
    ):
        """`weights`: as convolve_weights has them, of results and channels; flat: as they are."""
        left = cuda.shared.array(2 * lines * DEPTH, F32)
        right = cuda.shared.array(2 * pixels * DEPTH, F32)
        offsets, bits = cuda.shared.array(entries, I32), cuda.shared.array(entries, U32)
        t = cuda.threadIdx.x
        warp = t // I32(32)
        of_line = warp % I32(across) * I32(rows)
        of_pixel = warp // I32(across) * I32(columns)
        channels, results, positions = I32(channels), I32(results), I32(oh * ow)
        plane, wide, taps = I32(h * w), I32(w), I32(kh * kw)
        first_line = cuda.blockIdx.y * I32(lines)
        first = cuda.blockIdx.x * I32(pixels)
        # The position whose column of the right tile this thread gathers, and from which channel.
        mine, of_group = t % I32(pixels), t // I32(pixels) * I32(each // 4)
        part = of_group * I32(4)
        at = first + mine
        n, rest = at // positions, at % positions
        y = rest // I32(ow) * I32(sh) - I32(ph)
        x = rest % I32(ow) * I32(sw) - I32(pw)
        inside = U32(0)
        if at < I32(images) * positions:
            inside = taps_within(y, x, I32(h), I32(w), I32(kh), I32(kw), I32(dh), I32(dw))
        depth = taps * channels
        base = np.int64(n) * (channels * plane) + y * wide + x
        # The line of the left tile, and from which channel.
        line, from_group = t // I32(THREADS // lines), t % I32(THREADS // lines)
        from_group *= I32(weights_each // 4)
        from_channel = from_group * I32(4)
        # Lines beyond the last one are its copies, which nobody stores.
        known = min(first_line + line, results - I32(1))
        if flat:
            of_weights = known * depth
            for k in range(t, depth, THREADS):
                c, tap = I32(k) // taps, I32(k) % taps
                offsets[k] = of_tap(tap, wide, I32(kw), I32(dh), I32(dw)) + c * plane
                bits[k] = U32(1) << U32(tap)
            cuda.syncthreads()
        else:
            base += part * plane
            groups = channels // I32(DEPTH)  # so that they are seen to be aligned

        sums = cuda.local.array(sums_each, F32)
        for i in all_sums:
            sums[i] = F32(0)
        gathered = cuda.local.array(each, F32)
        read = cuda.local.array(weights_each, F32)
        steps = (depth + I32(DEPTH - 1)) // I32(DEPTH)
        tap, channel, r, q = I32(0), I32(0), I32(0), I32(0)
        for step in range(steps + 1):
            if step < steps:
                if flat:
                    for j in all_each:
                        k = I32(step * DEPTH + j) + part
                        there = k < depth and inside & bits[k] != U32(0)
                        v = image[base + offsets[k] if there else 0]
                        gathered[j] = v if there else F32(0)
                    for j in all_weights:
                        k = I32(step * DEPTH + j) + from_channel
                        v = weights[of_weights + k if k < depth else 0]
                        read[j] = v if k < depth else F32(0)
                else:
                    if (inside >> U32(tap)) & U32(1) != U32(0):
                        source = base + r * I32(dh) * wide + q * I32(dw) + channel * plane
                        for j in all_each:
                            gathered[j] = image[source + I32(j) * plane]
                    else:
                        for j in all_each:
                            gathered[j] = F32(0)
                    source = (tap * results + known) * groups + channel // I32(DEPTH)
                    source = np.int64(source) * DEPTH + from_channel
                    for j in all_weights:
                        read[j] = weights[source + j]
                    channel += I32(DEPTH)
                    if channel == channels:
                        channel = I32(0)
                        tap += I32(1)
                        q += I32(1)
                        if q == I32(kw):
                            q = I32(0)
                            r += I32(1)
            if step > 0:
                b = (step - 1) % 2
                multiply(left, right, I32(b * lines) + of_line, I32(b * pixels) + of_pixel, sums)
            if step < steps:
                b = step % 2
                for j in all_groups:
                    to = np.int64(at_group(I32(b * pixels) + mine, of_group + I32(j)))
                    for f in four:
                        right[to + f] = settled(gathered[4 * j + f])
                for j in weights_groups:
                    to = np.int64(at_group(I32(b * lines) + line, from_group + I32(j)))
                    for f in four:
                        left[to + f] = settled(read[4 * j + f])
            cuda.syncthreads()

        group, pair = cuda.laneid // I32(4), cuda.laneid % I32(4) * I32(2)
        for j in all_blocks:
            for e in two:
                at = first + of_pixel + I32(8 * j + e) + pair
                if at < I32(images) * positions:
                    n, rest = at // positions, at % positions
                    to = np.int64(n) * (results * positions) + rest
                    for i in all_rows:
                        for half in two:
                            m = first_line + of_line + I32(16 * i + 8 * half) + group
                            if m < results:
                                out[to + m * positions] = sums[
                                    4 * (i * (columns // 8) + j) + 2 * half + e
                                ]

    return convolve_images


def make_gradients(lines, columns, exact):
    """Derivatives by weights, of `lines` results and `columns` pairs of a tap and a channel a
    block, summed over a part of the positions.
    """
    rows, of_warp = lines // 2, columns // 2
    sums_each = rows * of_warp // 32
    left_each, right_each = lines * DEPTH // THREADS, columns * DEPTH // THREADS
    all_rows, all_blocks, two = tuple(range(rows // 16)), tuple(range(of_warp // 8)), (0, 1)
    all_sums, all_left, all_right = (tuple(range(k)) for k in (sums_each, left_each, right_each))
    multiply = make_products(rows, of_warp, exact)

    def convolve_gradients(
        out, image, weights, images, channels, results, h, w, oh, ow, kh, kw, sh, sw, ph, pw, dh,
        dw, each,
    ):  # fmt: skip
        """`weights`: the derivatives by the results; `each`: positions a block; `out`: of each part
        results x (tap, channel).
        """
        left = cuda.shared.array(2 * lines * DEPTH, F32)
        right = cuda.shared.array(2 * columns * DEPTH, F32)
        t = cuda.threadIdx.x
        warp = t // I32(32)
        of_line, of_column = warp % I32(2) * I32(rows), warp // I32(2) * I32(of_warp)
        channels, results, positions = I32(channels), I32(results), I32(oh * ow)
        plane, wide, taps = I32(h * w), I32(w), I32(kh * kw)
        width = taps * channels
        total = I32(images) * positions
        first_line = cuda.blockIdx.z * I32(lines)
        first_column = cuda.blockIdx.y * I32(columns)
        begin = cuda.blockIdx.x * I32(each)
        end = min(begin + I32(each), total)
        mine, line = t % I32(DEPTH), t // I32(DEPTH)
        apart = I32(THREADS // DEPTH)  # lines and columns of a thread
        # Where a thread's columns begin, and their taps; those beyond the last have none.
        offsets = cuda.local.array(right_each, I32)
        bits = cuda.local.array(right_each, U32)
        for j in all_right:
            c = first_column + line + I32(j) * apart
            tap, channel = c // channels, c % channels
            offsets[j] = of_tap(tap, wide, I32(kw), I32(dh), I32(dw)) + channel * plane
            bits[j] = U32(1) << U32(tap) if c < width else U32(0)

        sums = cuda.local.array(sums_each, F32)
        for i in all_sums:
            sums[i] = F32(0)
        seen = cuda.local.array(left_each, F32)
        gathered = cuda.local.array(right_each, F32)
        steps = (end - begin + I32(DEPTH - 1)) // I32(DEPTH)
        padded = ph != 0 or pw != 0
        at = begin + mine
        n, oy, ox = at // positions, at % positions // I32(ow), at % I32(ow)
        for step in range(steps + 1):
            if step < steps:
                y, x = oy * I32(sh) - I32(ph), ox * I32(sw) - I32(pw)
                inside = U32(0)
                if at < end:
                    inside = U32(0xFFFFFFFF)
                    if padded:
                        inside = taps_within(
                            y, x, I32(h), I32(w), I32(kh), I32(kw), I32(dh), I32(dw)
                        )
                base = np.int64(n) * (channels * plane) + y * wide + x
                for j in all_right:
                    there = inside & bits[j] != U32(0)
                    v = image[base + offsets[j] if there else 0]
                    gathered[j] = v if there else F32(0)
                base = np.int64(n) * (results * positions) + oy * I32(ow) + ox
                for j in all_left:
                    m = first_line + line + I32(j) * apart
                    there = at < end and m < results
                    v = weights[base + m * positions if there else 0]
                    seen[j] = v if there else F32(0)
                at += I32(DEPTH)
                ox += I32(DEPTH)
                while ox >= I32(ow):
                    ox -= I32(ow)
                    oy += I32(1)
                while oy >= I32(oh):
                    oy -= I32(oh)
                    n += I32(1)
            if step > 0:
                b = (step - 1) % 2
                multiply(left, right, I32(b * lines) + of_line, I32(b * columns) + of_column, sums)
            if step < steps:
                b = step % 2
                for j in all_right:
                    to = I32(b * columns) + line + I32(j) * apart
                    right[at_group(to, mine // I32(4)) + mine % I32(4)] = settled(gathered[j])
                for j in all_left:
                    to = I32(b * lines) + line + I32(j) * apart
                    left[at_group(to, mine // I32(4)) + mine % I32(4)] = settled(seen[j])
            cuda.syncthreads()

        group, pair = cuda.laneid // I32(4), cuda.laneid % I32(4) * I32(2)
        part = np.int64(cuda.blockIdx.x) * (results * width)
        for i in all_rows:
            for half in two:
                m = first_line + of_line + I32(16 * i + 8 * half) + group
                if m < results:
                    for j in all_blocks:
                        for e in two:
                            c = first_column + of_column + I32(8 * j + e) + pair
                            if c < width:
                                out[part + m * width + c] = sums[
                                    4 * (i * (of_warp // 8) + j) + 2 * half + e
                                ]

    return convolve_gradients


def make_sum():
    """The sum of the parts, in their order, in the order of weights."""

    def convolve_sum(out, parts, count, results, channels, taps):
        i = cuda.grid(1)
        size = results * taps * channels
        if i < size:
            total = F32(0)
            for p in range(count):
                total += parts[p * size + i]
            c, t, m = i % channels, i // channels % taps, i // (channels * taps)
            out[(m * channels + c) * taps + t] = total

    return convolve_sum


# Lines and columns of the tiles of make_images and make_gradients.
IMAGES = ((64, 128), (64, 64), (32, 128))
GRADIENTS = ((64, 96), (32, 96), (32, 32))


def load_convolve(dtype, kernel=""):
    """The kernel of one name of gpu_convolution.cpp."""
    data = array("float32")
    kind, *sizes = kernel.split("_")
    if kind == "few":
        which, size, *padded = sizes
        images = which == "images"
        make = make_few(int(size)) if images else make_few_gradients(int(size), bool(padded))
        add("convolve_" + kernel, dtype, make, [data, data, data, *[INT] * (15 if images else 16)],
            threads=FEW_THREADS, max_threads=FEW_THREADS, min_blocks=BLOCKS)  # fmt: skip
        return
    exact = sizes[-1:] != ["tf32"]
    lines, columns = [int(n) for n in sizes[:2]] or (0, 0)
    if kind == "weights":
        made, numbers = make_weights(), 6
        arrays = 2
    elif kind == "factors":
        made, numbers = make_factors(), 7
        arrays = 2
    elif kind == "sum":
        made, numbers = make_sum(), 4
        arrays = 2
    elif kind == "gradients":
        made, numbers = make_gradients(lines, columns, exact), 16
        arrays = 3
    elif kind == "staged":
        made, numbers = make_staged(lines, columns, exact), 13
        arrays = 3
    else:  # the weights of convolve_images are a copy, which is aligned
        made, numbers = make_images(lines, columns, exact, kind == "flat"), 15
        arrays = 3
    types = [data, data, array("float32", aligned=True)][:arrays]
    more = kind == "gradients" or (kind == "staged" and not exact)
    blocks = MORE_BLOCKS if more else BLOCKS
    add("convolve_" + kernel, dtype, made, [*types, *[INT] * numbers], threads=THREADS,
        max_threads=THREADS, min_blocks=blocks)  # fmt: skip
