"""Routines of the core's table by name, on arrays: plan nodes with declared reads and writes."""

from .. import _core

MOST_RANKS = 4  # that one partition takes; the table of routines has as many attributes


def sort(a, axis, stable=False, descending=False):
    """The elements along `axis` in order, NaN last; in the axis order and dtype of `a`.

    Unless `stable`, -0.0 comes before 0.0 and NaN loses its sign.
    """
    return _core.along_lines("sort", a, axis, False, [stable, descending])


def argsort(a, axis, descending=False):
    """The indices that sort along `axis`, int64. Equal elements keep their order."""
    return _core.along_lines("argsort", a, axis, True, [descending])


def partition(a, ranks, axis):
    """The elements along `axis` with those of the given ranks where sorting puts them.

    ranks: distinct ints in [0, extent of the axis).
    """
    if len(ranks) > MOST_RANKS:
        return sort(a, axis)
    return _core.along_lines("partition", a, axis, False, _padded(ranks))


def argpartition(a, ranks, axis):
    """The indices that partition() would put where, int64."""
    if len(ranks) > MOST_RANKS:
        return argsort(a, axis)
    return _core.along_lines("argpartition", a, axis, True, _padded(ranks))


def _padded(ranks):
    return [*ranks, *[-1] * (MOST_RANKS - len(ranks))]
