"""Kernels that keep the elements where a mask holds, in their order, or the indices of these.

Each warp has a part of the elements. mask_count counts what a block and its warps keep,
mask_compact begins where the blocks and warps before end: a thread whose element is kept learns its
place from the votes of its warp.
"""

import numpy as np

from .. import cuda
from ._device import INT, add, array
from ._words import WORDS

THREADS = 256
WARPS = THREADS // 32
AHEAD = 8
ALL = 0xFFFFFFFF
U32 = np.uint32
EACH = tuple(range(AHEAD))


def make_count():
    def mask_count(mask, counts, n, chunk):
        """counts[b * 8 + w]: how many the warp w of block b keeps; chunk: elements of a warp."""
        t = cuda.threadIdx.x
        warp = cuda.blockIdx.x * WARPS + t // 32
        begin = warp * chunk
        end = min(begin + chunk, n)
        kept = U32(0)
        for first in range(begin, end, 32 * AHEAD):
            if first + 32 * AHEAD <= end:
                for k in EACH:
                    if mask[first + cuda.laneid + k * 32] != 0:
                        kept += U32(1)
            else:
                for i in range(first + cuda.laneid, end, 32):
                    if mask[i] != 0:
                        kept += U32(1)
        for distance in (16, 8, 4, 2, 1):
            kept += cuda.shfl_xor_sync(ALL, kept, distance)
        if cuda.laneid == 0:
            counts[warp] = kept

    return mask_count


def make_compact(word, parts, indices):
    each_part = tuple(range(parts))

    def mask_compact(values, mask, counts, out, kept, n, chunk):
        """out: values where the mask holds, or their indices; kept[0]: how many there are."""
        sums = cuda.shared.array(WARPS, np.int64)
        keeps = cuda.local.array(AHEAD, np.uint8)
        held = cuda.local.array(AHEAD * parts, word)
        t = cuda.threadIdx.x
        lane = cuda.laneid
        lower = U32(cuda.lanemask_lt())
        # What the warps of the blocks before keep: this thread's share, the warp's, the block's.
        before = np.int64(0)
        for i in range(t, cuda.blockIdx.x * WARPS, THREADS):
            before += np.int64(counts[i])
        for distance in (16, 8, 4, 2, 1):
            before += cuda.shfl_xor_sync(ALL, before, distance)
        if lane == 0:
            sums[t // 32] = before
        cuda.syncthreads()
        to = np.int64(0)
        for w in range(WARPS):
            to += sums[w]
        warp = cuda.blockIdx.x * WARPS + t // 32
        for w in range(cuda.blockIdx.x * WARPS, warp):
            to += np.int64(counts[w])
        begin = warp * chunk
        end = min(begin + chunk, n)
        for first in range(begin, end, 32 * AHEAD):
            if first + 32 * AHEAD <= end:
                # All that is read comes before what is written: so that none waits for the other.
                for k in EACH:
                    keeps[k] = mask[first + lane + k * 32]
                if not indices:
                    for k in EACH:
                        if keeps[k] != 0:
                            for part in each_part:
                                at = (first + lane + k * 32) * parts + part
                                held[k * parts + part] = values[at]
                for k in EACH:
                    votes = cuda.ballot_sync(ALL, keeps[k] != 0)
                    if keeps[k] != 0:
                        at = to + cuda.popc(votes & lower)
                        if indices:
                            out[at] = first + lane + k * 32
                        else:
                            for part in each_part:
                                out[at * parts + part] = held[k * parts + part]
                    to += cuda.popc(votes)
            else:
                for base in range(first, end, 32):
                    i = base + lane
                    keep = False
                    if i < end:
                        keep = mask[i] != 0
                    votes = cuda.ballot_sync(ALL, keep)
                    if keep:
                        at = to + cuda.popc(votes & lower)
                        if indices:
                            out[at] = i
                        else:
                            for part in each_part:
                                out[at * parts + part] = values[i * parts + part]
                    to += cuda.popc(votes)
        if cuda.blockIdx.x == cuda.gridDim.x - 1 and t == THREADS - 1:
            kept[0] = to

    return mask_compact


def load(name, dtype, word, parts, indices):
    mask, counts, count = array("uint8"), array("uint32"), array("int64")
    add("mask_count", "uint8", make_count(), [mask, counts, INT, INT])
    x = array(np.dtype(word))
    kernel = make_compact(word, parts, indices)
    out = count if indices else x
    add(name, dtype, kernel, [x, mask, counts, out, count, INT, INT])


def load_compact(dtype):
    """For all types of an element's size: known by the unsigned type, or complex128."""
    size = np.dtype(dtype).itemsize
    if size == 16:
        load("mask_compact", "complex128", np.uint64, 2, False)
    else:
        load("mask_compact", np.dtype(WORDS[size]), WORDS[size], 1, False)


def load_flatnonzero():
    load("mask_indices", "int64", np.uint8, 1, True)
