"""Folds by an operation of the table: segments of lines, one thread or one block a segment."""

import numpy as np

from .. import cuda
from ._device import INT, add, array

THREADS = 256
HALVES = (128, 64, 32, 16, 8, 4, 2, 1)


def make_segments(apply, word):
    def segments(x, bounds, out, n, inner, segments, count):
        """out[o, s, i]: elements x[o, begin : end, i] of segment s, one after the other."""
        for p in range(cuda.grid(1), count, cuda.gridsize(1)):
            i = p % inner
            s = p // inner % segments
            line = p // inner // segments * n
            at = (line + bounds[s]) * inner + i
            end = (line + bounds[segments + s]) * inner
            state = x[at]
            at += inner
            while at < end:
                state = word(apply(state, x[at]))
                at += inner
            out[p] = state

    return segments


def make_blocks(apply, word):
    def blocks(x, bounds, out, n, inner, segments, count):
        """The same by a block a segment: thread t folds elements t, t + 256, …, then a tree."""
        states = cuda.shared.array(THREADS, word)
        t = cuda.threadIdx.x
        for p in range(cuda.blockIdx.x, count, cuda.gridDim.x):
            i = p % inner
            s = p // inner % segments
            line = p // inner // segments * n
            begin, end = bounds[s], bounds[segments + s]
            k = begin + t
            if k < end:
                state = x[(line + k) * inner + i]
                k += THREADS
                while k < end:
                    state = word(apply(state, x[(line + k) * inner + i]))
                    k += THREADS
                states[t] = state
            cuda.syncthreads()
            for half in HALVES:
                if t < half and begin + t + half < end:
                    states[t] = word(apply(states[t], states[t + half]))
                cuda.syncthreads()
            if t == 0:
                out[p] = states[0]
            cuda.syncthreads()

    return blocks


def load_reduceat(dtype, op):
    apply, word = getattr(np, op), np.dtype(dtype).type
    arguments = [array(dtype), array("int64"), array(dtype), *[INT] * 4]
    add(f"reduceat.{op}", dtype, make_segments(apply, word), arguments)
    add(f"reduceat_blocks.{op}", dtype, make_blocks(apply, word), arguments)
