"""Dictionaries: searches, insertion, and what goes over all entries.

A table of slots says where each key's entry is (src/compile/runtime.h). Slots are looked at from
the one that the hash names on, up to an empty one.
"""

from .._library import (
    dict_grow,
    dict_hash,
    dict_mark,
    dict_mask,
    dict_new,
    dict_room,
    dict_same,
    dict_slot,
    known,
)


def search(d, key):
    """The number of the entry that has this key, or -1; its hash, and the slot where this ended."""
    h = dict_hash(key)
    mask = dict_mask(d)
    at = h & mask
    slot = dict_slot(d, at)
    while slot != 0:
        if (slot ^ h) >> 32 == 0:
            e = (slot & 0xFFFFFFFF) - 1
            if dict_mark(d, e) == h and dict_same(d, e, key):
                return e, h, at
        at = (at + 1) & mask
        slot = dict_slot(d, at)
    return -1, h, at


@known("dict find")
def find(d, key):
    """The number of the entry that has this key, or -1."""
    return search(d, key)[0]


@known("dict place")
def place(d, key):
    """The number of the entry that has this key; a new one has no value yet."""
    e, h, at = search(d, key)
    if e >= 0:
        return e
    if dict_room(d) == 0:
        dict_grow(d)
        mask = dict_mask(d)
        at = h & mask
        while dict_slot(d, at) != 0:
            at = (at + 1) & mask
    return dict_new(d, key, h, at)


@known("dict update")
def update(d, other):
    """All entries of another one."""
    for k, v in other.items():
        d[k] = v


@known("set update")
def set_update(s, other):
    """All items of another one."""
    for x in other:
        s.add(x)


@known("set keep")
def set_keep(s, other):
    """None but the items of another one."""
    for x in [y for y in s]:
        if x not in other:
            s.discard(x)


@known("set drop")
def set_drop(s, other):
    """Without the items of another one, which may be the same."""
    for x in [y for y in other]:
        s.discard(x)


@known("set flip")
def set_flip(s, other):
    """The items that only one of both has."""
    for x in [y for y in other]:
        if x in s:
            s.discard(x)
        else:
            s.add(x)


@known("set within")
def set_within(s, other):
    """Whether all items are another one's."""
    if len(s) > len(other):
        return False
    for x in s:
        if x not in other:
            return False
    return True


@known("dict equal")
def equal(a, b):
    """Whether both have the same keys, and equal values at each."""
    if len(a) != len(b):
        return False
    for k, v in a.items():
        if k not in b:
            return False
        if b[k] != v:
            return False
    return True
