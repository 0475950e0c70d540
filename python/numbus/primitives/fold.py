"""Folds by an operation of the table: segments of lines, a thread or a block each; values of equal
sorted keys, a thread for each element.
"""

import numpy as np

from .. import cuda
from ._device import INT, add, array

THREADS = 256
HALVES = (128, 64, 32, 16, 8, 4, 2, 1)
PIECE = 512  # sorted values, at multiples of which a thread's share of equal keys ends


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


def make_runs(apply, word, loop, binary):
    def runs(keys, order, old, values, out, last, points, inner):
        """out[row of the last of equal keys]: the element folded with the values of all of them."""
        count = points * inner
        for p in range(cuda.grid(1), count, cuda.gridsize(1)):
            k, i = p // inner, p % inner
            key = keys[k]
            if k == 0 or keys[k - 1] != key:
                state = old[order[k] * inner + i]
                at = order[k]
                more = True
                while more:
                    at = order[k]
                    if binary:
                        state = word(apply(loop(state), values[at * inner + i]))
                    else:
                        state = word(apply(loop(state)))
                    k += 1
                    more = k < points and keys[k] == key
                    if i == 0:
                        last[at] = not more
                out[at * inner + i] = state

    return runs


def make_pieces(apply, word):
    def pieces(keys, order, values, folded, ends, last, points, inner):
        """folded[k]: the values of a piece that begins at k; ends[k]: the last of its keys."""
        count = points * inner
        for p in range(cuda.grid(1), count, cuda.gridsize(1)):
            k, i = p // inner, p % inner
            key = keys[k]
            if k % PIECE == 0 or keys[k - 1] != key:
                end = min((k // PIECE + 1) * PIECE, points)
                state = values[order[k] * inner + i]
                j = k + 1
                while j < end and keys[j] == key:
                    state = word(apply(state, values[order[j] * inner + i]))
                    j += 1
                folded[p] = state
                if i == 0:
                    ends[k] = j - 1
            if i == 0:
                last[order[k]] = k + 1 == points or keys[k + 1] != key

    return pieces


def make_joined(apply, word):
    def joined(keys, order, old, folded, ends, out, points, inner):
        """out[row of the last of equal keys]: the element folded with all pieces of its values."""
        count = points * inner
        for p in range(cuda.grid(1), count, cuda.gridsize(1)):
            k, i = p // inner, p % inner
            key = keys[k]
            if k == 0 or keys[k - 1] != key:
                state = old[order[k] * inner + i]
                end = k
                more = True
                while more:
                    state = word(apply(state, folded[k * inner + i]))
                    end = ends[k]
                    k = (k // PIECE + 1) * PIECE
                    more = k < points and keys[k] == key
                out[order[end] * inner + i] = state

    return joined


def load_fold_runs(dtype, op, loop=None):
    apply, word = getattr(np, op), np.dtype(dtype).type
    loop = loop or dtype
    binary = apply.nin == 2
    i64 = array("int64")
    arrays = [i64, i64, array(dtype), array(loop if binary else dtype), array(dtype), array("bool")]
    name = f"fold_runs.{op}" if loop == dtype else f"fold_runs.{op}.{loop}"
    add(name, dtype, make_runs(apply, word, np.dtype(loop).type, binary), [*arrays, INT, INT])
    if loop == dtype and binary:
        x, shape = array(dtype), [INT, INT]
        pieces, joined = make_pieces(apply, word), make_joined(apply, word)
        add(f"fold_pieces.{op}", dtype, pieces, [i64, i64, x, x, i64, array("bool"), *shape])
        add(f"fold_joined.{op}", dtype, joined, [i64, i64, x, x, i64, x, *shape])
