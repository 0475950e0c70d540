"""The kernels of searchsorted and interp: a thread an element, by halving."""

import numpy as np

from .. import cuda
from ..functions.searching import value_at
from ._device import INT, add, array
from ._words import words_of

THREADS = 256


def make_search(words):
    key = words.key

    def search(edges, x, out, count, n, right):
        """out[i]: before which of the sorted edges x[i] belongs; right: after equal ones."""
        for i in range(cuda.grid(1), n, cuda.gridsize(1)):
            k = key(x[i])
            low, above = 0, count
            while low < above:
                middle = (low + above) >> 1
                e = key(edges[middle])
                if e < k or (right and e == k):
                    low = middle + 1
                else:
                    above = middle
            out[i] = low

    return search


def load_search(dtype):
    words = words_of(dtype)
    x = array(np.dtype(words.word))
    add("search", dtype, make_search(words), [x, x, array("int64"), INT, INT, INT])


def interp(x, xp, fp, ends, out, points, n):
    """out[i] = the value at x[i]; see functions/searching.py."""
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        out[i] = value_at(x[i], xp, fp, points, ends[0], ends[1])


def load_interp(dtype):
    x = array(dtype)
    add("interp", dtype, interp, [x, x, x, x, x, INT, INT])
