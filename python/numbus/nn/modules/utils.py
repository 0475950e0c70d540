"""Numbers that stand for one of each dimension, as modules of programs ask for them."""

import collections.abc


def _ntuple(n, name="parse"):
    """A function that makes a tuple of n numbers of one, and of an iterable a tuple."""

    def parse(x):
        return tuple(x) if isinstance(x, collections.abc.Iterable) else (x,) * n

    parse.__name__ = parse.__qualname__ = name
    return parse


_single, _pair = _ntuple(1, "_single"), _ntuple(2, "_pair")
_triple, _quadruple = _ntuple(3, "_triple"), _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(t, n):
    """The elements from the last to the first, each n times."""
    return tuple(x for x in reversed(t) for _ in range(n))
