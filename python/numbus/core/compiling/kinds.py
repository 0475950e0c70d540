"""Kinds of guards, as bindings/steps.h has them, and of what they guard."""

from ... import _core

ITEM, ATTRIBUTE, CELL, ITEMS, GRADIENT, HOLDS, TRUTH, ABSENT = range(8)
ARRAYS = (_core.TensorBase, _core.ndarray, _core.generic)


def flat(container):
    """The items of a list, tuple or set, keys and values of a dict, as a tuple."""
    if isinstance(container, dict):
        return tuple([x for pair in dict.items(container) for x in pair])
    if isinstance(container, list):
        return tuple(list.__iter__(container))
    if isinstance(container, tuple):
        return tuple(tuple.__iter__(container))
    return tuple(container)
