"""Strings: str.maketrans and translate."""

from .._library import codes, cut, known, sort_of
from .strings import join

TEXT = 12  # sort_of, as in formats.py


def character(c):
    """The character that stands for another one in a table."""
    if sort_of(c) == TEXT:
        return c
    if c < 0 or c >= 0x110000:
        raise ValueError("character mapping must be in range(0x110000)")
    return chr(c)


def key_of(k):
    """The number of a character, or of a string of one."""
    if sort_of(k) == TEXT:
        if len(k) != 1:
            raise ValueError("string keys in translate table must be of length 1")
        return ord(k)
    return k


def paired(old, new):
    """The characters of two texts of one length."""
    x = codes(old)
    y = codes(new)
    if len(x) != len(y):
        raise ValueError("the first two maketrans arguments must have equal length")
    return x, y


@known("str maketrans")
def maketrans(old, new):
    """str.maketrans(old, new)"""
    x, y = paired(old, new)
    table = {}
    for k in range(len(x)):
        table[int(x[k])] = int(y[k])
    return table


@known("str maketrans without")
def maketrans_without(old, new, dropped):
    """str.maketrans(old, new, dropped)"""
    x, y = paired(old, new)
    table = {}
    for k in range(len(x)):
        table[int(x[k])] = int(y[k])
    for c in codes(dropped):
        table[int(c)] = None
    return table


@known("str maketrans dict")
def maketrans_dict(given):
    """str.maketrans(given)"""
    table = {}
    for k in given:
        table[key_of(k)] = given[k]
    return table


@known("str translate")
def translate(s, table):
    """s with what a table has in place of characters."""
    x = codes(s)
    parts = [cut(s, 0, 0)]
    start = 0
    for k in range(len(x)):
        c = int(x[k])
        if c in table:
            v = table[c]
            parts.append(cut(s, start, k))
            start = k + 1
            if v is not None:
                parts.append(character(v))
    parts.append(cut(s, start, len(x)))
    return join("", parts)
