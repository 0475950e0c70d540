"""Kernels that count elements by bin: bincount, and histograms with NumPy's rules at the edges.

Each block counts its part of the elements in shared memory, several copies where bins are few, and
adds its counts to the result at the end. Where the bins do not fit, it counts in the result itself.
Counts are integers: their order does not matter.
"""

import numpy as np

from .. import cuda
from . import sort
from ._device import INT, add, array

THREADS = 256
AHEAD = 8
U32 = np.uint32
EACH = tuple(range(AHEAD))


def make_bincount(word):
    def bincount(x, out, n, bins, copies, chunk):
        """out[i] += how often i is in x; copies 0: the counts are not in shared memory."""
        counts = cuda.shared.array(0, U32)
        held = cuda.local.array(AHEAD, word)
        t = cuda.threadIdx.x
        begin = cuda.blockIdx.x * chunk
        end = min(begin + chunk, n)
        if copies == 0:
            for k in range(begin + t, end, THREADS):
                i = np.int64(x[k])
                if np.uint64(i) < np.uint64(bins):
                    cuda.atomic.add(out, i, 1)
        else:
            for i in range(t, copies * bins, THREADS):
                counts[i] = U32(0)
            cuda.syncthreads()
            own = U32(t // 32 % copies * bins)
            for first in range(begin, end, AHEAD * THREADS):
                if first + AHEAD * THREADS <= end:
                    for k in EACH:
                        held[k] = x[first + t + k * THREADS]
                    for k in EACH:
                        i = np.int64(held[k])
                        if np.uint64(i) < np.uint64(bins):
                            cuda.atomic.add(counts, own + U32(i), 1)
                else:
                    for k in range(first + t, end, THREADS):
                        i = np.int64(x[k])
                        if np.uint64(i) < np.uint64(bins):
                            cuda.atomic.add(counts, own + U32(i), 1)
            cuda.syncthreads()
            for i in range(t, bins, THREADS):
                total = U32(0)
                for c in range(copies):
                    total += counts[c * bins + i]
                if total != U32(0):
                    cuda.atomic.add(out, i, np.int64(total))

    return bincount


def make_histogram(number):
    def bin_of(x, edges, bins, low, scale, uniform):
        """The bin of a number that lies between the first and the last edge."""
        if uniform:
            i = min(U32((x - low) * scale), U32(bins - 1))
            if x < edges[i]:
                i -= U32(1)
            elif i != U32(bins - 1) and x >= edges[i + U32(1)]:
                i += U32(1)
            return i
        # The last edge but the very last that is not above x.
        i, above = U32(0), U32(bins)
        while above - i > U32(1):
            middle = (i + above) >> U32(1)
            if edges[middle] <= x:
                i = middle
            else:
                above = middle
        return i

    def histogram(x, edges, out, n, bins, copies, chunk, uniform):
        """out[i] += how many of x lie in bin i; copies 0: nothing is in shared memory."""
        counts = cuda.shared.array(0, U32)
        near = cuda.shared.array(0, np.float64)
        held = cuda.local.array(AHEAD, number)
        t = cuda.threadIdx.x
        begin = cuda.blockIdx.x * chunk
        end = min(begin + chunk, n)
        low, high = edges[0], edges[bins]
        scale = bins / (high - low) if uniform else 0.0
        if copies == 0:
            for k in range(begin + t, end, THREADS):
                v = np.float64(x[k])
                if v >= low and v <= high:
                    cuda.atomic.add(out, bin_of(v, edges, bins, low, scale, uniform), 1)
        else:
            after = 2 * (bins + 1)  # words of the edges
            for i in range(t, bins + 1, THREADS):
                near[i] = edges[i]
            for i in range(t, copies * bins, THREADS):
                counts[after + i] = U32(0)
            cuda.syncthreads()
            own = U32(after + t // 32 % copies * bins)
            for first in range(begin, end, AHEAD * THREADS):
                if first + AHEAD * THREADS <= end:
                    for k in EACH:
                        held[k] = x[first + t + k * THREADS]
                    for k in EACH:
                        v = np.float64(held[k])
                        if v >= low and v <= high:
                            i = bin_of(v, near, bins, low, scale, uniform)
                            cuda.atomic.add(counts, own + i, 1)
                else:
                    for k in range(first + t, end, THREADS):
                        v = np.float64(x[k])
                        if v >= low and v <= high:
                            i = bin_of(v, near, bins, low, scale, uniform)
                            cuda.atomic.add(counts, own + i, 1)
            cuda.syncthreads()
            for i in range(t, bins, THREADS):
                total = U32(0)
                for c in range(copies):
                    total += counts[after + c * bins + i]
                if total != U32(0):
                    cuda.atomic.add(out, i, np.int64(total))

    return histogram


def make_sums():
    def weighted_sums(x, at, weights, out, n):
        """out[b]: the sum of the weights of bin b; at: indices of x by bin, in their order in each.

        A block a bin. Its k-th weight is added by thread k % 256, and these sums by a tree.
        """
        sums = cuda.shared.array(THREADS, np.float64)
        t = cuda.threadIdx.x
        b = cuda.blockIdx.x
        low, above = 0, n
        for _ in range(64):
            if low < above:
                middle = (low + above) >> 1
                if np.int64(x[at[middle]]) < b:
                    low = middle + 1
                else:
                    above = middle
        first, above = low, n
        for _ in range(64):
            if low < above:
                middle = (low + above) >> 1
                if np.int64(x[at[middle]]) <= b:
                    low = middle + 1
                else:
                    above = middle
        total = 0.0
        for k in range(first + t, low, THREADS):
            total += weights[at[k]]
        sums[t] = total
        cuda.syncthreads()
        for half in (128, 64, 32, 16, 8, 4, 2, 1):
            if t < half:
                sums[t] += sums[t + half]
            cuda.syncthreads()
        if t == 0:
            out[b] = sums[0]

    return weighted_sums


def load_weighted_bincount(dtype):
    """With the passes of argsort for the dtype."""
    sort.load_argsort(dtype)
    real, i64 = array("float64"), array("int64")
    add("weighted_sums", dtype, make_sums(), [array(dtype), i64, real, real, INT])


def load_bincount(dtype):
    x = array(dtype)
    arguments = [x, array("int64"), *[INT] * 4]
    add("bincount", dtype, make_bincount(np.dtype(dtype).type), arguments)


def load_histogram(dtype):
    arguments = [array(dtype), array("float64"), array("int64"), *[INT] * 5]
    add("histogram", dtype, make_histogram(np.dtype(dtype).type), arguments)
