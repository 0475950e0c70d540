"""repr(s) of strings, which errors name, too: with a table that takes no time to make."""

import numpy as np

from .._library import codes, cut, known


def _edges():
    """Where runs of characters beyond ASCII that repr() leaves as they are begin and end."""
    all_ = np.arange(0x110000, dtype="<u4")
    text = all_[(all_ < 0xD800) | (all_ >= 0xE000)].tobytes().decode("utf-32-le")
    shown = np.frombuffer(repr(text).encode("utf-32-le"), "<u4")
    kept = np.zeros(len(all_) + 1, np.int8)
    kept[shown[shown >= 127]] = 1
    return (np.flatnonzero(np.diff(kept)) + 1).astype(np.uint32)


EDGES = _edges()


def printable(c):
    """Whether repr() leaves a character as it is."""
    if c < 127:
        return c >= 32
    low = 0
    high = len(EDGES)
    while low < high:
        middle = (low + high) // 2
        if EDGES[middle] <= c:
            low = middle + 1
        else:
            high = middle
    return low % 2 == 1


@known("str repr")
def representation(s):
    """repr(s)"""
    x = codes(s)
    single = False
    double = False
    for c in x:
        single = single or c == 39
        double = double or c == 34
    quote = 34 if single and not double else 39
    digits = codes("0123456789abcdef")
    out = np.empty(10 * len(x) + 2, np.uint32)
    out[0] = quote
    at = 1
    for c in x:
        n = int(c)
        letter = 116 if n == 9 else 110 if n == 10 else 114 if n == 13 else 0
        if n == quote or n == 92:
            letter = n
        if letter != 0:
            out[at] = 92
            out[at + 1] = letter
            at += 2
        elif printable(n):
            out[at] = n
            at += 1
        else:
            many = 2 if n < 0x100 else 4 if n < 0x10000 else 8
            out[at] = 92
            out[at + 1] = 120 if many == 2 else 117 if many == 4 else 85
            for k in range(many):
                out[at + 2 + k] = digits[n >> (4 * (many - 1 - k)) & 15]
            at += 2 + many
    out[at] = quote
    return cut(out, 0, at + 1)
